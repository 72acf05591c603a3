//! `Indices` and `RowPointers`: the index operands of `launch`, in device memory and checked.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::oxide;
use super::value::Names;
use crate::kernel::{Buffer, BufferId, HostPred, HostStep, IndexUse, Module};

/// The structs that the module's launch takes.
pub fn definitions(module: &Module) -> TokenStream {
    let has = |is_one: fn(IndexUse) -> bool| {
        module.buffers.iter().filter_map(|buffer| buffer.index).any(is_one)
    };
    let indices = has(|index| matches!(index, IndexUse::Below(_))).then(indices);
    let pointers = has(|index| matches!(index, IndexUse::Pointers { .. }));
    let pointers = pointers.then(|| row_pointers(asks_for_longest(&module.host)));
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

/// Whether some choice of the host depends on the length of the longest row.
fn asks_for_longest(steps: &[HostStep]) -> bool {
    fn in_pred(pred: &HostPred) -> bool {
        match pred {
            HostPred::All(all) => all.iter().any(in_pred),
            other => matches!(other, HostPred::RowsAtMost(..)),
        }
    }
    steps.iter().any(|step| match step {
        HostStep::Select(arms) => {
            arms.iter().any(|arm| in_pred(&arm.eligible) || asks_for_longest(&arm.steps))
        }
        HostStep::Unless(_, steps) => asks_for_longest(steps),
        HostStep::Require { .. }
        | HostStep::ReturnIf(_)
        | HostStep::Let { .. }
        | HostStep::Launch { .. } => false,
    })
}

fn row_pointers(asks_for_longest: bool) -> TokenStream {
    let [field, found, given] = match asks_for_longest {
        false => [quote!(), quote!(), quote!()],
        true => [
            quote!(longest: usize,),
            quote! {
                let rows = values.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
                let longest = rows.max().unwrap_or(0);
            },
            quote!(, longest),
        ],
    };
    let (buffer, stream) = (oxide::index_buffer(), oxide::stream());
    let copied = oxide::buffer_from_host(&quote!(stream), &quote!(values));
    quote! {
        /// Row pointers of a CSR matrix in device memory, known to begin at 0, never to fall, and
        /// to end at a bound.
        // A buffer says nothing of itself.
        #[allow(missing_debug_implementations)]
        pub struct RowPointers {
            buffer: #buffer,
            bound: usize,
            #field
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
                #found
                let buffer = #copied.map_err(LaunchError::Driver)?;
                Ok(RowPointers { buffer, bound #given })
            }
        }
    }
}

/// The type under which `launch` takes an index buffer.
pub fn parameter_type(buffer: &Buffer) -> TokenStream {
    match buffer.index {
        Some(IndexUse::Pointers { .. }) => quote!(&RowPointers),
        Some(IndexUse::Below(_)) | None => quote!(&Indices),
    }
}

/// The buffer of a handle.
pub fn buffer(handle: &Ident) -> TokenStream {
    quote!(#handle.buffer)
}

/// The elements of the longest row.
pub fn longest(names: &Names<'_>, buffer: BufferId) -> TokenStream {
    let handle = names.buffer(buffer);
    quote!(#handle.longest)
}

/// What the elements were found to be below, or where they end.
pub fn bound(names: &Names<'_>, buffer: BufferId) -> TokenStream {
    let handle = names.buffer(buffer);
    quote!(#handle.bound)
}
