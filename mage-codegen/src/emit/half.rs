//! Sixteen-bit elements: kernels see them as the bits in memory, `u16`, and widen them to f32 as
//! they are loaded. The type is called `Half` in the source, whichever of both it is.

use mage_einsum::dtype::Dtype;
use proc_macro2::TokenStream;
use quote::quote;

use super::oxide;

/// Which of the functions of `Half` a module's kernels call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uses {
    /// Loads of one element.
    pub reads: bool,
    /// Loads of four.
    pub wide_reads: bool,
    /// Stores of one.
    pub writes: bool,
    /// Stores of four.
    pub wide_writes: bool,
}

/// The value of an element's bits.
pub fn widened(bits: &TokenStream) -> TokenStream {
    quote!(Half::widen(#bits))
}

/// The bits of the nearest value.
pub fn narrowed(value: &TokenStream) -> TokenStream {
    quote!(Half::narrow(#value))
}

/// The type `Half` for a module whose operands or output are of `dtype`.
pub fn definition(dtype: Dtype, uses: Uses) -> TokenStream {
    let widen = (uses.reads || uses.wide_reads).then(|| widen(dtype));
    let read = uses.wide_reads.then(read);
    let narrow = (uses.writes || uses.wide_writes).then(|| narrow(dtype));
    let write = uses.wide_writes.then(write);
    if widen.is_none() && narrow.is_none() {
        return TokenStream::new();
    }
    let about = format!(" The bits of an {dtype} in memory.");
    quote! {
        #[doc = #about]
        struct Half;

        impl Half { #widen #read #narrow #write }
    }
}

fn widen(dtype: Dtype) -> TokenStream {
    let value = oxide::widened(dtype, &quote!(bits));
    quote! {
        /// The value, exactly.
        #[inline(always)]
        fn widen(bits: u16) -> f32 { #value }
    }
}

fn narrow(dtype: Dtype) -> TokenStream {
    let bits = oxide::narrowed(dtype, &quote!(value));
    quote! {
        /// The nearest value's bits, of two the even one's.
        #[inline(always)]
        fn narrow(value: f32) -> u16 { #bits }
    }
}

fn read() -> TokenStream {
    quote! {
        /// Four elements in one 8-byte access.
        #[inline(always)]
        unsafe fn read(from: *const u16) -> u64 {
            unsafe { *(from as *const u64) }
        }

        /// Their values.
        #[inline(always)]
        fn elements(bits: u64) -> [f32; 4] {
            [
                Half::widen(bits as u16),
                Half::widen((bits >> 16_u64) as u16),
                Half::widen((bits >> 32_u64) as u16),
                Half::widen((bits >> 48_u64) as u16),
            ]
        }
    }
}

fn write() -> TokenStream {
    quote! {
        /// Four elements in one 8-byte access.
        #[inline(always)]
        unsafe fn write(to: *mut u16, elements: [f32; 4]) {
            let [first, second, third, fourth] = elements;
            let bits = Half::narrow(first) as u64
                | (Half::narrow(second) as u64) << 16
                | (Half::narrow(third) as u64) << 32
                | (Half::narrow(fourth) as u64) << 48;
            unsafe { *(to as *mut u64) = bits }
        }
    }
}
