//! Level 5, the source: a kernel module as the Rust that a cuda-oxide user would have written by
//! hand. It comes from `kernel::lower`; the macro embeds its tokens and the command line writes
//! its text. No decisions are made here: one node of the kernel IR becomes one piece of Rust.

mod header;
mod layout;
mod wrap;
mod device;
mod scope;
mod stmt;
mod compute;
mod math;
mod tensor;
mod access;
mod expr;
mod quad;
mod half;
mod extents;
mod workspace;
mod view;
mod handle;
mod error;
mod launch;
mod require;
mod mention;
mod condition;
mod value;
mod oxide;

use proc_macro2::TokenStream;
use quote::quote;

use crate::kernel::Module;

pub use device::device_module;
pub use extents::extents;
pub use header::hash;
pub use workspace::workspace;

/// The complete text of a source file: a header that says what it is and why it is right, then
/// the items. Equal modules give equal bytes.
///
/// # Errors
///
/// When an identifier or a statement of the module is no Rust, which is a mistake of lowering.
pub fn source(module: &Module) -> Result<String, syn::Error> {
    let items = syn::parse2(source_tokens(module))?;
    let text = layout::laid_out(&prettyplease::unparse(&items));
    Ok(format!("{}\n{text}", header::header(module)))
}

/// The items of the source file, without its header.
pub fn source_tokens(module: &Module) -> TokenStream {
    let host = host_items(module);
    let device = device_module(module);
    quote!(#host #device)
}

/// The host's half: the extents, the workspace's length, the errors and `launch`.
pub fn host_items(module: &Module) -> TokenStream {
    let extents = extents(module);
    let workspace = workspace(module);
    let launch = launch_items(module);
    quote!(#extents #workspace #launch)
}

/// The part of the host's half that needs cuda-oxide's crates: views, handles, errors and `launch`.
pub fn launch_items(module: &Module) -> TokenStream {
    let view = view::definition(module);
    let handle = handle::definitions(module);
    let error = error::error(module);
    let launch = launch::launch(module);
    quote!(#view #handle #error #launch)
}
