//! `View`: an operand of `launch` whose strides the caller gives, and what the host asks of it.

use mage_einsum::index::Layout;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::oxide;
use super::value::Names;
use crate::kernel::{Buffer, BufferId, Module};

/// The struct and its functions; nothing for a module without strided buffers.
pub fn definition(module: &Module) -> TokenStream {
    let strided = module.buffers.iter().find(|buffer| buffer.layout == Layout::Strided);
    let Some(strided) = strided else {
        return TokenStream::new();
    };
    let buffer = oxide::buffer_in_view(strided.dtype);
    let functions = functions(strided);
    quote! {
        /// An operand of `launch`: a buffer, and where the operand's elements lie in it.
        // A buffer says nothing of itself.
        #[allow(missing_debug_implementations)]
        #[derive(Clone, Copy)]
        pub struct View<'a, const RANK: usize> {
            /// The elements, and maybe others; views may share a buffer.
            pub buffer: #buffer,
            /// The element of the buffer whose coordinates are all zero.
            pub first: usize,
            /// Elements from one coordinate to the next, one a dimension; any, zero and below too.
            pub strides: [isize; RANK],
        }

        impl<'a, const RANK: usize> View<'a, RANK> { #functions }
    }
}

fn functions(strided: &Buffer) -> TokenStream {
    let buffer = oxide::buffer_in_view(strided.dtype);
    let address = oxide::buffer_address(&quote!(self.buffer));
    let length = oxide::buffer_length(&quote!(self.buffer));
    let bytes = Literal::u64_unsuffixed(strided.dtype.size_bytes());
    quote! {
        /// The view of a whole buffer whose last dimension is the fastest.
        #[allow(dead_code)]
        pub fn row_major(buffer: #buffer, extents: [usize; RANK]) -> Self {
            let mut strides = [1_isize; RANK];
            for dim in (1..RANK).rev() {
                strides[dim - 1] = strides[dim].wrapping_mul(extents[dim] as isize);
            }
            View { buffer, first: 0, strides }
        }

        /// The device address of the element where the view begins; of no account where that is
        /// not in the buffer, because the view has no element then.
        fn address(&self) -> u64 {
            #address.wrapping_add((self.first as u64).wrapping_mul(#bytes))
        }

        /// The lowest and the highest element that is reached, where not both are in the buffer.
        fn beyond(&self, extents: [usize; RANK]) -> Option<(i128, i128)> {
            let (mut lowest, mut highest) = (self.first as i128, self.first as i128);
            for (extent, stride) in extents.into_iter().zip(self.strides) {
                let span = extent.checked_sub(1)? as i128 * stride as i128;
                if span < 0 {
                    lowest += span;
                } else {
                    highest += span;
                }
            }
            (lowest < 0 || highest >= #length as i128).then_some((lowest, highest))
        }
    }
}

/// The type under which `launch` takes a strided buffer.
pub fn parameter_type(buffer: &Buffer) -> TokenStream {
    let rank = Literal::usize_unsuffixed(buffer.dims.len());
    quote!(View<'_, #rank>)
}

/// Elements of the buffer behind a view.
pub fn length(view: &Ident) -> TokenStream {
    oxide::buffer_length(&quote!(#view.buffer))
}

/// The device address where a view begins, a `u64`.
pub fn address(view: &Ident) -> TokenStream {
    quote!(#view.address())
}

/// The lowest and the highest element that the view of a buffer reaches, an `Option`: `None`
/// where all of them are in the buffer.
pub fn beyond(names: &Names<'_>, buffer: BufferId) -> TokenStream {
    let view = names.buffer(buffer);
    let dims = names.module.buffers[buffer.0].dims.iter();
    let extents = dims.map(|label| names.extent(*label));
    quote!(#view.beyond([#(#extents),*]))
}

/// The element where a view begins.
pub fn first(view: &Ident) -> TokenStream {
    quote!(#view.first)
}

/// The stride of a dimension of a view.
pub fn stride(view: &Ident, dim: usize) -> TokenStream {
    let dim = Literal::usize_unsuffixed(dim);
    quote!(#view.strides[#dim])
}

/// The stride of a mode that stands in some dimensions of a view.
pub fn stride_sum(view: &Ident, dims: &[usize]) -> TokenStream {
    let mut strides = dims.iter().map(|dim| stride(view, *dim));
    let first = strides.next();
    quote!(#first #(.wrapping_add(#strides))*)
}
