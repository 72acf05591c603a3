//! `einsum_kernel!`: arguments in, tokens out. Nothing is decided here: `mage_codegen::expand`
//! makes the module or the mistakes, and `invocation` says where in the caller's file they are.

mod invocation;

use std::ops::Range;

use proc_macro2::TokenStream;
use quote::quote_spanned;

use invocation::Invocation;

/// Makes a module from a contraction in einsum notation and options.
///
/// ```text
/// mage::einsum_kernel!("ik,kj->ij", tile = 64, name = matmul);
/// ```
///
/// The module holds the emitted kernel's source and explanation, `reference` (the oracle),
/// `emulate` (the kernel on the CPU) and, under the caller's feature `cuda-oxide`, the kernel
/// itself and `launch`. The crate `mage` shows each of them.
#[proc_macro]
pub fn einsum_kernel(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let invocation = Invocation::new(input.into());
    let tokens = match mage_codegen::expand::expand(&invocation.text) {
        Ok(module) => module,
        Err(mistakes) => mistakes
            .iter()
            .map(|mistake| error(&invocation, mistake.bytes.as_ref(), &mistake.text))
            .collect(),
    };
    tokens.into()
}

/// A `compile_error!` that stands from the first to the last of `bytes`.
fn error(invocation: &Invocation, bytes: Option<&Range<usize>>, text: &str) -> TokenStream {
    let (first, last) = invocation.spans(bytes);
    let mut tokens = quote_spanned!(first=> ::core::compile_error);
    tokens.extend(quote_spanned!(last=> !{ #text }));
    tokens
}
