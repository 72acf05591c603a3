//! What `einsum_kernel!` stands for: the text between its parentheses becomes a module's tokens,
//! or mistakes with their places. The macro crate only carries text in and tokens out.

mod mistake;
mod module;

use mage_einsum::spec;
use proc_macro2::TokenStream;

use crate::pipeline::{self, Error};

pub use mistake::Mistake;
pub use module::module;

/// Expands one invocation, for example `"ik,kj->ij", tile = 64`.
///
/// # Errors
///
/// Every mistake of the first level that has any, ready to be shown.
pub fn expand(invocation: &str) -> Result<TokenStream, Vec<Mistake>> {
    let parts =
        spec::split_invocation(invocation).map_err(|mistakes| mistake::without_texts(&mistakes))?;
    let located = |mistakes| mistake::located(&mistakes, &parts);
    let spec = spec::parse_invocation(invocation).map_err(located)?;
    let levels = pipeline::compile(&spec).map_err(|error| match error {
        Error::Mistakes(mistakes) => located(mistakes),
        bug @ Error::Bug(_) => vec![Mistake { bytes: None, text: bug.to_string() }],
    })?;
    let bug = |why: syn::Error| Error::Bug(why.to_string()).to_string();
    module(&spec, &levels).map_err(|why| vec![Mistake { bytes: None, text: bug(why) }])
}
