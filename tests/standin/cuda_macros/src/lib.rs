//! CPU stand-in for cuda-oxide's `cuda-macros`: the same attributes, expanded to code that runs on the host.
//!
//! `module.rs` writes the host half of a `#[cuda_module]`, `kernel.rs` turns a kernel into an ordinary function.

mod kernel;
mod module;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Adds the loader and a launch method per kernel to an inline module.
#[proc_macro_attribute]
pub fn cuda_module(arguments: TokenStream, item: TokenStream) -> TokenStream {
    if !arguments.is_empty() {
        let message = "cuda_module does not take arguments yet";
        return syn::Error::new(proc_macro2::Span::call_site(), message).to_compile_error().into();
    }
    finish(module::expand(parse_macro_input!(item as syn::ItemMod)))
}

/// Marks a function as a kernel.
#[proc_macro_attribute]
pub fn kernel(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    finish(kernel::expand(parse_macro_input!(item as syn::ItemFn)))
}

/// States the threads of a block and the blocks of a multiprocessor; `cuda_module` has read it already.
#[proc_macro_attribute]
pub fn launch_bounds(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// States the launch's geometry; the stand-in has no prepared launches, so `cuda_module` refuses it.
#[proc_macro_attribute]
pub fn launch_contract(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    item
}

fn finish(expansion: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    expansion.unwrap_or_else(syn::Error::into_compile_error).into()
}
