//! Four elements in one access, of sixteen bytes or, where they are halves, of eight. The spelling
//! is what cuda-oxide 29396b7f needs: a 16-byte struct is read lane by lane, a `u128` in one piece
//! (256 `ld.shared.b32` against 64 `ld.shared.v2.b64` in one kernel).

use mage_einsum::dtype::Dtype;
use proc_macro2::TokenStream;
use quote::quote;

/// The bytes at `address`, a `u128` or a `u64`.
pub fn bits(dtype: Dtype, address: &TokenStream) -> TokenStream {
    let owner = owner(dtype);
    quote!(#owner::read(#address))
}

/// The four elements of such bytes, an array.
pub fn elements(dtype: Dtype, bits: &TokenStream) -> TokenStream {
    let owner = owner(dtype);
    quote!(#owner::elements(#bits))
}

/// Writes an array of four elements to `address`.
pub fn write(dtype: Dtype, address: &TokenStream, elements: &TokenStream) -> TokenStream {
    let owner = owner(dtype);
    quote!(#owner::write(#address, #elements);)
}

/// The type that the calls belong to.
fn owner(dtype: Dtype) -> TokenStream {
    match dtype {
        Dtype::F16 | Dtype::BF16 => quote!(Half),
        Dtype::F32 | Dtype::F64 => quote!(Quad),
    }
}

/// The type that the calls on f32 belong to, with those of its functions that are used.
pub fn definition(reads: bool, writes: bool) -> TokenStream {
    if !reads && !writes {
        return TokenStream::new();
    }
    let read = reads.then(|| {
        quote! {
            /// One `u128`, because the compiler would read the lanes of a struct one by one.
            #[inline(always)]
            unsafe fn read(from: *const f32) -> u128 {
                unsafe { *(from as *const u128) }
            }

            /// The four elements. The shifts have the type of what they shift, because the
            /// compiler folds no others.
            #[inline(always)]
            fn elements(bits: u128) -> [f32; 4] {
                [
                    f32::from_bits(bits as u32),
                    f32::from_bits((bits >> 32_u128) as u32),
                    f32::from_bits((bits >> 64_u128) as u32),
                    f32::from_bits((bits >> 96_u128) as u32),
                ]
            }
        }
    });
    let write = writes.then(|| {
        quote! {
            /// As one `u128` as well, so that a staged value is the same in memory and registers.
            #[inline(always)]
            unsafe fn write(to: *mut f32, elements: [f32; 4]) {
                let [first, second, third, fourth] = elements;
                let bits = first.to_bits() as u128
                    | (second.to_bits() as u128) << 32
                    | (third.to_bits() as u128) << 64
                    | (fourth.to_bits() as u128) << 96;
                unsafe { *(to as *mut u128) = bits }
            }
        }
    });
    quote! {
        /// Four elements that move in one 16-byte access.
        struct Quad;

        impl Quad { #read #write }
    }
}
