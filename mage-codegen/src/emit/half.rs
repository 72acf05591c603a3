//! Sixteen-bit elements: kernels see them as the bits in memory, `u16`, and widen them to f32 as
//! they are loaded. The type is called `Half` in the source, whichever of both it is.

use mage_einsum::dtype::Dtype;
use proc_macro2::TokenStream;
use quote::quote;

use super::oxide;

/// Which of the functions of `Half` a module's kernels call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uses {
    /// Loads.
    pub reads: bool,
    /// Stores.
    pub writes: bool,
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
    let widen = uses.reads.then(|| widen(dtype));
    let narrow = uses.writes.then(|| narrow(dtype));
    if widen.is_none() && narrow.is_none() {
        return TokenStream::new();
    }
    let about = format!(" The bits of an {dtype} in memory.");
    quote! {
        #[doc = #about]
        struct Half;

        impl Half { #widen #narrow }
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
