//! `workspace_elems`: how long the workspace of `launch` must be, from the same expression that
//! the host's check has; and where in it a temporary begins.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::extents;
use super::value::{Names, checked, constant, value};
use crate::kernel::{BufferId, Module};

/// The function; nothing for a module without temporaries.
pub fn workspace(module: &Module) -> TokenStream {
    let Some(workspace) = &module.workspace else {
        return TokenStream::new();
    };
    let names = Names::new(module);
    let given = extents::are_given(module);
    let extents = names.argument();
    let argument = given.then(|| quote!(#extents: &Extents));
    let unpacked = given.then(|| extents::unpacked(&names, &workspace.elems.labels()));
    let elems = checked(&names, &workspace.elems);
    quote! {
        /// Elements that the workspace of `launch` must have, or more; `None` where they are more
        /// than a `usize` can say.
        pub fn workspace_elems(#argument) -> Option<usize> {
            #unpacked
            #elems
        }
    }
}

/// The need as `launch` compares it: more than any buffer has, where it cannot be said.
pub fn need(names: &Names<'_>) -> TokenStream {
    let extents = names.argument();
    let argument = extents::are_given(names.module).then(|| quote!(#extents));
    quote!(workspace_elems(#argument).unwrap_or(usize::MAX))
}

/// The device address of a buffer, a `u64`; that of a temporary lies in the workspace.
pub fn address(names: &Names<'_>, buffer: BufferId) -> TokenStream {
    let memory = names.address(names.module.memory_of(buffer));
    let Some(first) = names.module.first_elem(buffer) else {
        return memory;
    };
    match constant(names, first) {
        Some(0) => memory,
        Some(first) => {
            let first = Literal::u64_unsuffixed(first);
            quote!((#memory + 4 * #first))
        }
        None => {
            let first = value(names, first);
            quote!((#memory + 4 * #first as u64))
        }
    }
}
