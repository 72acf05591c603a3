//! A kernel as a host function: unroll requests go, and its shared arrays are poisoned on entry.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Block, Expr, Ident, Item, ItemFn, Meta, Stmt, Type, parse_quote};

pub(crate) fn expand(mut function: ItemFn) -> syn::Result<TokenStream> {
    let mut rewrite = Rewrite { mistakes: None };
    rewrite.visit_item_fn_mut(&mut function);
    if let Some(mistakes) = rewrite.mistakes {
        return Err(mistakes);
    }
    function.sig.ident = entry(&function.sig.ident);
    // Two kernels of one name are one symbol twice, here as on the device: the linker refuses them.
    Ok(quote! {
        #[unsafe(no_mangle)]
        #function
    })
}

/// The name under which a kernel's function is found.
pub(crate) fn entry(kernel: &Ident) -> Ident {
    format_ident!("cuda_oxide_kernel_standin_{kernel}")
}

struct Rewrite {
    mistakes: Option<syn::Error>,
}

impl Rewrite {
    fn refuse(&mut self, mistake: syn::Error) {
        match &mut self.mistakes {
            Some(mistakes) => mistakes.combine(mistake),
            None => self.mistakes = Some(mistake),
        }
    }

    fn take_unroll(&mut self, attributes: &mut Vec<Attribute>) -> bool {
        let is_unroll = |attribute: &Attribute| attribute.path().is_ident("unroll");
        for attribute in attributes.iter().filter(|attribute| is_unroll(attribute)) {
            let fits = match &attribute.meta {
                Meta::Path(_) => true,
                Meta::List(list) => list
                    .parse_args::<syn::LitInt>()
                    .and_then(|factor| factor.base10_parse::<u32>())
                    .is_ok_and(|factor| factor >= 2),
                Meta::NameValue(_) => false,
            };
            if !fits {
                let message = "unroll expects no argument or one factor of at least 2";
                self.refuse(syn::Error::new_spanned(attribute, message));
            }
        }
        let n_before = attributes.len();
        attributes.retain(|attribute| !is_unroll(attribute));
        attributes.len() < n_before
    }
}

impl VisitMut for Rewrite {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::While(looped) = expr {
            self.take_unroll(&mut looped.attrs);
        }
        if let Expr::ForLoop(looped) = expr
            && self.take_unroll(&mut looped.attrs)
        {
            // cuda-oxide only warns, and leaves arrays in local memory.
            let message = "cuda-oxide unrolls counted `while` loops only";
            self.refuse(syn::Error::new_spanned(&looped.pat, message));
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        let entries: Vec<Stmt> = block.stmts.iter().filter_map(enter_shared).collect();
        block.stmts.splice(0..0, entries);
    }
}

/// The call that announces a shared array to its block. Items are visible in their whole block, so it can come first.
fn enter_shared(statement: &Stmt) -> Option<Stmt> {
    let Stmt::Item(Item::Static(shared)) = statement else {
        return None;
    };
    let Type::Path(path) = &*shared.ty else {
        return None;
    };
    let is_shared = path.path.segments.last()?.ident == "SharedArray";
    let name = &shared.ident;
    is_shared.then(|| {
        parse_quote! {
            // SAFETY: the static is this kernel's own, and kernels run one block at a time.
            #[allow(unused_unsafe)]
            unsafe { ::cuda_device::standin::enter_shared(&raw mut #name) };
        }
    })
}
