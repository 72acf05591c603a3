//! Several elements in one access: four of sixteen bytes or, where they are halves, of eight, and two
//! of half as many. The spelling is what cuda-oxide 29396b7f needs: a 16-byte struct is read lane by
//! lane, a `u128` in one piece (256 `ld.shared.b32` against 64 `ld.shared.v2.b64` in one kernel).

use mage_einsum::dtype::Dtype;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::kernel::Width;

/// The bytes at `address`, an unsigned number.
pub fn bits(dtype: Dtype, width: Width, address: &TokenStream) -> TokenStream {
    let owner = owner(dtype, width);
    quote!(#owner::read(#address))
}

/// The elements of such bytes, an array.
pub fn elements(dtype: Dtype, width: Width, bits: &TokenStream) -> TokenStream {
    let owner = owner(dtype, width);
    quote!(#owner::elements(#bits))
}

/// Writes an array of elements to `address`.
pub fn write(
    dtype: Dtype,
    width: Width,
    address: &TokenStream,
    elements: &TokenStream,
) -> TokenStream {
    let owner = owner(dtype, width);
    quote!(#owner::write(#address, #elements);)
}

/// The type that the calls belong to.
fn owner(dtype: Dtype, width: Width) -> TokenStream {
    match (dtype, width) {
        (Dtype::F16 | Dtype::BF16, Width::Two) => quote!(HalfPair),
        (Dtype::F16 | Dtype::BF16, Width::One | Width::Four) => quote!(HalfQuad),
        (Dtype::F32 | Dtype::F64, Width::Two) => quote!(Pair),
        (Dtype::F32 | Dtype::F64, Width::One | Width::Four) => quote!(Quad),
    }
}

/// The type that the calls on elements of a type belong to, with those of its functions that are
/// used.
pub fn definition(dtype: Dtype, width: Width, reads: bool, writes: bool) -> TokenStream {
    if !reads && !writes {
        return TokenStream::new();
    }
    let owner = owner(dtype, width);
    let n_elems = width.elems();
    let elem_bits = dtype.size_bytes() as u32 * 8;
    let (element, bits) = match (dtype, n_elems * elem_bits) {
        (Dtype::F16 | Dtype::BF16, 32) => (quote!(u16), quote!(u32)),
        (Dtype::F16 | Dtype::BF16, _) => (quote!(u16), quote!(u64)),
        (_, 64) => (quote!(f32), quote!(u64)),
        (_, _) => (quote!(f32), quote!(u128)),
    };
    let unpacked = |bits: TokenStream| match dtype {
        Dtype::F16 | Dtype::BF16 => quote!(Half::widen(#bits as u16)),
        Dtype::F32 | Dtype::F64 => quote!(f32::from_bits(#bits as u32)),
    };
    let packed = |value: &TokenStream| match dtype {
        Dtype::F16 | Dtype::BF16 => quote!(Half::narrow(#value)),
        Dtype::F32 | Dtype::F64 => quote!(#value.to_bits()),
    };
    let n = Literal::u32_unsuffixed(n_elems);
    let count = if n_elems == 2 { "two" } else { "four" };
    let bytes = n_elems * elem_bits / 8;
    let read = reads.then(|| {
        let about = match bytes {
            16 => " One `u128`, because the compiler would read the lanes of a struct one by one.",
            _ => " All in one access.",
        };
        let values = (0..n_elems).map(|elem| match elem {
            0 => unpacked(quote!(bits)),
            _ => {
                let shift = format!("{}_{bits}", elem * elem_bits).parse::<Literal>();
                let shift = shift.unwrap_or_else(|_| Literal::u32_unsuffixed(elem * elem_bits));
                unpacked(quote!((bits >> #shift)))
            }
        });
        quote! {
            #[doc = #about]
            #[inline(always)]
            unsafe fn read(from: *const #element) -> #bits {
                unsafe { *(from as *const #bits) }
            }

            /// The elements. The shifts have the type of what they shift, because the compiler
            /// folds no others.
            #[inline(always)]
            fn elements(bits: #bits) -> [f32; #n] {
                [#(#values),*]
            }
        }
    });
    let write = writes.then(|| {
        let names = [quote!(first), quote!(second), quote!(third), quote!(fourth)];
        let names = &names[..n_elems as usize];
        let parts = names.iter().enumerate().map(|(elem, name)| {
            let packed = packed(name);
            let shift = Literal::u32_unsuffixed(elem as u32 * elem_bits);
            if elem == 0 { quote!(#packed as #bits) } else { quote!((#packed as #bits) << #shift) }
        });
        quote! {
            /// All in one access.
            #[inline(always)]
            unsafe fn write(to: *mut #element, elements: [f32; #n]) {
                let [#(#names),*] = elements;
                let bits = #(#parts)|*;
                unsafe { *(to as *mut #bits) = bits }
            }
        }
    });
    let about = format!(
        " {}{} elements that move in one {bytes}-byte access.",
        &count[..1].to_uppercase(),
        &count[1..]
    );
    quote! {
        #[doc = #about]
        struct #owner;

        impl #owner { #read #write }
    }
}
