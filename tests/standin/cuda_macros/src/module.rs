//! The host half of a `#[cuda_module]`: `LoadedModule`, its loaders, and a launch method per kernel.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::punctuated::Punctuated;
use syn::{Attribute, FnArg, Ident, Item, ItemFn, ItemMod, LitInt, Pat, Token, Type};

use crate::kernel::entry;

pub(crate) fn expand(module: ItemMod) -> syn::Result<TokenStream> {
    let ItemMod { attrs, vis, ident, .. } = &module;
    let Some((_, items)) = &module.content else {
        let message = "cuda_module requires an inline module so kernel signatures are visible";
        return Err(syn::Error::new_spanned(ident, message));
    };
    let methods: Vec<TokenStream> = items
        .iter()
        .filter_map(|item| match item {
            Item::Fn(function) if attribute(&function.attrs, "kernel").is_some() => Some(function),
            _ => None,
        })
        .map(launch_method)
        .collect::<syn::Result<_>>()?;
    if methods.is_empty() {
        let message = "cuda_module found no #[kernel] functions in this module";
        return Err(syn::Error::new_spanned(ident, message));
    }
    Ok(quote! {
        #(#attrs)*
        #vis mod #ident {
            #(#items)*

            /// The module's kernels in one context.
            #[derive(Clone, Debug)]
            pub struct LoadedModule {
                context: ::std::sync::Arc<::cuda_core::CudaContext>,
            }

            /// Loads the module's kernels into a context.
            pub fn load(
                ctx: &::std::sync::Arc<::cuda_core::CudaContext>,
            ) -> ::core::result::Result<LoadedModule, ::cuda_host::EmbeddedModuleError> {
                ::core::result::Result::Ok(LoadedModule { context: ctx.clone() })
            }

            impl LoadedModule {
                #(#methods)*
            }
        }
    })
}

fn launch_method(kernel: &ItemFn) -> syn::Result<TokenStream> {
    if let Some(contract) = attribute(&kernel.attrs, "launch_contract") {
        let message = "the stand-in has no prepared launches";
        return Err(syn::Error::new_spanned(contract, message));
    }
    let (vis, name) = (&kernel.vis, &kernel.sig.ident);
    let max_threads = max_threads(&kernel.attrs)?;
    let (names, types): (Vec<&Ident>, Vec<&Type>) = kernel
        .sig
        .inputs
        .iter()
        .map(parameter)
        .collect::<syn::Result<Vec<_>>>()?
        .into_iter()
        .unzip();
    // Named apart from any parameter, since these stand in one scope with them.
    let stream = Ident::new("__standin_stream", Span::call_site());
    let config = Ident::new("__standin_config", Span::call_site());
    let function = entry(name);
    Ok(quote! {
        /// Runs the kernel over the grid.
        ///
        /// # Safety
        ///
        /// The configuration and the arguments meet what the kernel documents.
        #[allow(clippy::too_many_arguments)]
        #vis unsafe fn #name(
            &self,
            #stream: &::cuda_core::CudaStream,
            #config: ::cuda_core::LaunchConfig,
            #(#names: #types),*
        ) -> ::core::result::Result<(), ::cuda_core::DriverError> {
            ::cuda_host::standin::launch(&self.context, #stream, #config, #max_threads, move || {
                // SAFETY: upheld by this method's caller.
                #[allow(unused_unsafe)]
                unsafe { #function(#(#names),*) }
            })
        }
    })
}

fn parameter(argument: &FnArg) -> syn::Result<(&Ident, &Type)> {
    let refuse = |message| Err(syn::Error::new_spanned(argument, message));
    let FnArg::Typed(typed) = argument else {
        return refuse("cuda_module kernels cannot take self parameters");
    };
    let Pat::Ident(name) = &*typed.pat else {
        return refuse("cuda_module only supports simple identifier kernel parameters");
    };
    match &*typed.ty {
        Type::Reference(_) => refuse("the stand-in passes raw pointers and numbers only"),
        by_value => Ok((&name.ident, by_value)),
    }
}

/// The threads that `launch_bounds` allows a block, or the hardware's limit.
fn max_threads(attributes: &[Attribute]) -> syn::Result<u32> {
    let Some(bounds) = attribute(attributes, "launch_bounds") else {
        return Ok(1024);
    };
    let values = bounds.parse_args_with(Punctuated::<LitInt, Token![,]>::parse_terminated)?;
    match values.first() {
        Some(threads) if values.len() <= 2 => threads.base10_parse(),
        _ => Err(syn::Error::new_spanned(bounds, "launch_bounds expects 1 or 2 parameters")),
    }
}

fn attribute<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|attribute| {
        attribute.path().segments.last().is_some_and(|segment| segment.ident == name)
    })
}
