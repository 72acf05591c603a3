//! `Indices` and `RowPointers`: the index operands of `launch`, in device memory and checked.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::oxide;
use super::value::Names;
use crate::kernel::{Buffer, BufferId, IndexUse, Module, parts_of_long_rows_source};

/// The structs that the module's launch takes.
pub fn definitions(module: &Module) -> TokenStream {
    let has = |is_one: fn(IndexUse) -> bool| {
        module.buffers.iter().filter_map(|buffer| buffer.index).any(is_one)
    };
    let indices = has(|index| matches!(index, IndexUse::Below(_))).then(indices);
    let pointers = has(|index| matches!(index, IndexUse::Pointers { .. }));
    let listed = module.buffers.iter().find_map(|buffer| match buffer.index? {
        IndexUse::Parts { pointers: _, part_elems } => Some(part_elems),
        IndexUse::Below(_) | IndexUse::Pointers { .. } => None,
    });
    let pointers = pointers.then(|| row_pointers(listed));
    quote!(#indices #pointers)
}

fn indices() -> TokenStream {
    let (buffer, stream) = (oxide::index_buffer(), oxide::stream());
    let copied = oxide::buffer_from_host(&quote!(stream), &quote!(values));
    quote! {
        /// Indices in device memory, each known to be below a bound.
        // A buffer says nothing of itself.
        #[allow(missing_debug_implementations)]
        pub struct Indices {
            buffer: #buffer,
            bound: usize,
        }

        impl Indices {
            /// Copies `values` to the device, when all of them are below `bound`.
            ///
            /// # Errors
            ///
            /// When one is not, or the driver refuses.
            pub fn new(
                stream: #stream,
                values: &[u32],
                bound: usize,
            ) -> Result<Indices, LaunchError> {
                if let Some(at) = values.iter().position(|value| *value as usize >= bound) {
                    let message = format!("index {} at {at} is not below {bound}", values[at]);
                    return Err(LaunchError::IndexOutOfRange(message));
                }
                let buffer = #copied.map_err(LaunchError::Driver)?;
                Ok(Indices { buffer, bound })
            }
        }
    }
}

/// `part_elems` is given where long rows are taken in parts.
fn row_pointers(part_elems: Option<u32>) -> TokenStream {
    let buffer = oxide::index_buffer();
    let [fields, listed, given, function] = match part_elems {
        None => [quote!(), quote!(), quote!(), quote!()],
        Some(part_elems) => {
            let part_elems = Literal::u32_unsuffixed(part_elems);
            let entries = quote!(parts.as_flattened());
            let copied = oxide::buffer_from_host(&quote!(stream), &entries);
            let function = parts_of_long_rows_source();
            [
                quote! {
                    parts: #buffer,
                    n_parts: usize,
                },
                quote! {
                    let parts = Self::parts_of_long_rows(values, #part_elems);
                    let n_parts = parts.len();
                    let parts = #copied.map_err(LaunchError::Driver)?;
                },
                quote!(, parts, n_parts),
                function,
            ]
        }
    };
    let stream = oxide::stream();
    let copied = oxide::buffer_from_host(&quote!(stream), &quote!(values));
    quote! {
        /// Row pointers of a CSR matrix in device memory, known to begin at 0, never to fall, and
        /// to end at a bound.
        // A buffer says nothing of itself.
        #[allow(missing_debug_implementations)]
        pub struct RowPointers {
            buffer: #buffer,
            bound: usize,
            #fields
        }

        impl RowPointers {
            /// Copies `values`, one more than there are rows, to the device, when they are row
            /// pointers that end at `bound`.
            ///
            /// # Errors
            ///
            /// When they are none, or the driver refuses.
            pub fn new(
                stream: #stream,
                values: &[u32],
                bound: usize,
            ) -> Result<RowPointers, LaunchError> {
                let refused = |message| Err(LaunchError::IndexOutOfRange(message));
                let (Some(first), Some(last)) = (values.first(), values.last()) else {
                    return refused("row pointers are empty, at least 1".to_string());
                };
                if *first != 0 {
                    return refused(format!("row pointers begin at {first}, not at 0"));
                }
                if let Some(at) = values.windows(2).position(|pair| pair[1] < pair[0]) {
                    let (before, after, at) = (values[at], values[at + 1], at + 1);
                    return refused(format!("row pointers fall from {before} to {after} at {at}"));
                }
                if *last as usize != bound {
                    return refused(format!("row pointers end at {last}, not at {bound}"));
                }
                #listed
                let buffer = #copied.map_err(LaunchError::Driver)?;
                Ok(RowPointers { buffer, bound #given })
            }

            #function
        }
    }
}

/// The type under which `launch` takes an index buffer.
pub fn parameter_type(buffer: &Buffer) -> TokenStream {
    match buffer.index {
        Some(IndexUse::Pointers { .. }) => quote!(&RowPointers),
        Some(IndexUse::Below(_) | IndexUse::Parts { .. }) | None => quote!(&Indices),
    }
}

/// The buffer of a handle that holds the operand, or what was listed of it.
pub fn buffer(names: &Names<'_>, buffer: BufferId) -> TokenStream {
    match names.module.buffers[buffer.0].index {
        Some(IndexUse::Parts { pointers, part_elems: _ }) => {
            let handle = names.buffer(pointers);
            quote!(#handle.parts)
        }
        Some(IndexUse::Below(_) | IndexUse::Pointers { .. }) | None => {
            let handle = names.buffer(buffer);
            quote!(#handle.buffer)
        }
    }
}

/// How many parts a list has.
pub fn n_listed(names: &Names<'_>, list: BufferId) -> TokenStream {
    match names.module.buffers[list.0].index {
        Some(IndexUse::Parts { pointers, part_elems: _ }) => {
            let handle = names.buffer(pointers);
            quote!(#handle.n_parts)
        }
        // The verifier lets no other buffer here.
        Some(IndexUse::Below(_) | IndexUse::Pointers { .. }) | None => quote!(0),
    }
}

/// What the elements were found to be below, or where they end.
pub fn bound(names: &Names<'_>, buffer: BufferId) -> TokenStream {
    let handle = names.buffer(buffer);
    quote!(#handle.bound)
}
