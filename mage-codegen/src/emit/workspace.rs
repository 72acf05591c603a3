//! `workspace_elems`: how long the workspace of `launch` should be, and how long it must be, from
//! the same expressions that the host's checks have; and where in it a temporary begins.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::device::unusual_case;
use super::extents;
use super::mention::in_expr;
use super::value::{Names, checked, constant, value, whole};
use super::wrap::wrap;
use crate::kernel::{BufferId, HostExpr, HostStep, Module, Workspace};

/// The functions; nothing for a module without a workspace.
pub fn workspace(module: &Module) -> TokenStream {
    let Some(workspace) = &module.workspace else {
        return TokenStream::new();
    };
    let (called, least_called) = (format_ident!("workspace_elems"), least_name());
    let words = match (workspace.is_required(), workspace.has_parts()) {
        (true, false) => "Elements that the workspace of `launch` must have, or more;",
        (true, true) => {
            "Elements of the workspace with which `launch` splits long sums over blocks. With fewer, \
             but at least [`least_workspace_elems`], it sums each in one block: right, but slower."
        }
        (false, true | false) => {
            "Elements of the workspace with which `launch` splits a long sum over blocks; 0 where \
             none is long. With fewer, even none, it sums in one block: right, but slower."
        }
    };
    let whole = function(module, &called, words, &workspace.elems);
    let least = (workspace.is_required() && workspace.has_parts()).then(|| {
        let words = "Elements that the workspace of `launch` must have for its temporaries;";
        function(module, &least_called, words, &workspace.least_elems)
    });
    quote!(#whole #least)
}

fn function(module: &Module, name: &Ident, words: &str, elems: &HostExpr) -> TokenStream {
    let mut names = Names::new(module);
    let named = named(&mut names, &module.host, elems);
    let given = extents::are_given(module);
    let extents = names.argument();
    let argument = given.then(|| quote!(#extents: &Extents));
    let allow = unusual_case(module).then(|| quote!(#[allow(non_snake_case)]));
    let unpacked = given.then(|| extents::unpacked(&names, &elems.labels()));
    let elems = checked(&names, elems);
    let none = "`None` where they are more than a `usize` can say.";
    let docs = wrap(&format!("{words} {none}"), "").into_iter().map(|line| format!(" {line}"));
    quote! {
        #(#[doc = #docs])*
        #allow
        pub fn #name(#argument) -> Option<usize> {
            #unpacked
            #named
            #elems
        }
    }
}

/// What `launch` has a name for whichever arm it takes, as far as the value depends on it.
fn named(names: &mut Names<'_>, steps: &[HostStep], elems: &HostExpr) -> TokenStream {
    let mut tokens = TokenStream::new();
    for step in steps {
        match step {
            HostStep::Let { name, value } if in_expr(elems, value) => {
                let shown = whole(names, value);
                let name = names.fresh(name);
                names.bind(value, name.clone());
                tokens.extend(quote!(let #name = #shown;));
            }
            HostStep::Unless(_, steps) => tokens.extend(named(names, steps, elems)),
            HostStep::Let { .. }
            | HostStep::Require { .. }
            | HostStep::ReturnIf(_)
            | HostStep::Select(_)
            | HostStep::Launch { .. } => {}
        }
    }
    tokens
}

fn least_name() -> Ident {
    format_ident!("least_workspace_elems")
}

/// The need as `launch` compares it: more than any buffer has, where it cannot be said.
pub fn need(names: &Names<'_>, elems: &HostExpr) -> TokenStream {
    if names.bound(elems).is_some() || constant(names, elems).is_some() {
        return value(names, elems);
    }
    let is_whole = |workspace: &Workspace| workspace.elems == *elems;
    let called = match &names.module.workspace {
        Some(workspace) if !is_whole(workspace) => least_name(),
        Some(_) | None => format_ident!("workspace_elems"),
    };
    let extents = names.argument();
    let argument = extents::are_given(names.module).then(|| quote!(#extents));
    quote!(#called(#argument).unwrap_or(usize::MAX))
}

/// The device address of a buffer, a `u64`; that of a temporary lies in the workspace.
pub fn address(names: &Names<'_>, buffer: BufferId) -> TokenStream {
    let memory = names.address(names.module.memory_of(buffer));
    let Some(first) = names.module.first_elem(buffer) else {
        return memory;
    };
    let elem_bytes = names.module.buffers[buffer.0].dtype.size_bytes();
    let elem_bytes = Literal::u64_unsuffixed(elem_bytes);
    match constant(names, first) {
        Some(0) => memory,
        Some(first) => {
            let first = Literal::u64_unsuffixed(first);
            quote!((#memory + #elem_bytes * #first))
        }
        None => {
            let first = value(names, first);
            quote!((#memory + #elem_bytes * #first as u64))
        }
    }
}
