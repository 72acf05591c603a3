//! `LaunchError`: what `launch` says when it refuses, with the variants that this module needs.
//! The words are those of `kernel::wording`, so the emulator says the same.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::value::{Names, constant, value};
use super::{handle, oxide, view};
use crate::kernel::{HostError, HostStep, Module, Piece, wording};

/// A variant of `LaunchError` with a message, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    ExtentLimit,
    ExtentMismatch,
    SizeOverflow,
    LengthMismatch,
    UnsupportedStride,
    IndexOutOfRange,
    WorkspaceTooShort,
    LaunchLimit,
}

/// The enum and its `Display` and `Error`.
pub fn error(module: &Module) -> TokenStream {
    let mut kinds = BTreeSet::new();
    collect(&module.host, &mut kinds);
    let docs = kinds.iter().map(|kind| doc(*kind));
    let names: Vec<Ident> = kinds.iter().map(|kind| name(*kind)).collect();
    let driver = oxide::driver_error();
    let messages = (!names.is_empty())
        .then(|| quote!(#(LaunchError::#names(message))|* => f.write_str(message),));
    quote! {
        /// Why `launch` refused. The text names the label or the buffer, both sides and the limit.
        #[derive(Debug)]
        pub enum LaunchError {
            #(#[doc = #docs] #names(String),)*
            /// The driver refused.
            Driver(#driver),
        }

        impl std::fmt::Display for LaunchError {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    #messages
                    LaunchError::Driver(error) => error.fmt(f),
                }
            }
        }

        impl std::error::Error for LaunchError {}
    }
}

/// Returns the error with the numbers of this launch; nothing where it cannot happen.
pub fn refusal(names: &Names<'_>, error: &HostError) -> Option<TokenStream> {
    let name = name(kind(error)?);
    let mut words = String::new();
    let mut numbers = Vec::new();
    for piece in wording(names.module, error) {
        let number = match piece {
            Piece::Text(text) => {
                words.push_str(&text.replace('{', "{{").replace('}', "}}"));
                continue;
            }
            Piece::Value(expr) => {
                let known = constant(names, &expr).map(|number| number.to_string());
                let named = || names.bound(&expr).map(|name| format!("{{{name}}}"));
                if let Some(words_of) = known.or_else(named) {
                    words.push_str(&words_of);
                    continue;
                }
                value(names, &expr)
            }
            Piece::Length(buffer) => names.length(buffer),
            Piece::Lowest(_) | Piece::Highest(_) => {
                let [lowest, highest] = names.reach();
                let name = if matches!(piece, Piece::Lowest(_)) { lowest } else { highest };
                words.push_str(&format!("{{{name}}}"));
                continue;
            }
            Piece::First(buffer) => view::first(&names.buffer(buffer)),
            Piece::Stride(buffer, dim) => view::stride(&names.buffer(buffer), dim),
            Piece::Bound(buffer) => handle::bound(names, buffer),
        };
        words.push_str("{}");
        numbers.push(number);
    }
    Some(quote! {
        let message = format!(#words #(, #numbers)*);
        return Err(LaunchError::#name(message));
    })
}

fn collect(steps: &[HostStep], kinds: &mut BTreeSet<Kind>) {
    for step in steps {
        match step {
            HostStep::Require { error, .. } => kinds.extend(kind(error)),
            HostStep::Unless(_, steps) => collect(steps, kinds),
            HostStep::Select(arms) => arms.iter().for_each(|arm| collect(&arm.steps, kinds)),
            HostStep::ReturnIf(_) | HostStep::Let { .. } | HostStep::Launch { .. } => {}
        }
    }
}

/// A fixed extent is a constant of the source, so nobody can give another one.
fn kind(error: &HostError) -> Option<Kind> {
    match error {
        HostError::ExtentLimit { .. } => Some(Kind::ExtentLimit),
        HostError::FixedExtent { .. } => None,
        HostError::ExtentMismatch { .. } => Some(Kind::ExtentMismatch),
        HostError::SizeOverflow { .. } => Some(Kind::SizeOverflow),
        HostError::LengthMismatch { .. } => Some(Kind::LengthMismatch),
        HostError::OutOfBuffer { .. } => Some(Kind::UnsupportedStride),
        HostError::IndexOutOfRange { .. } => Some(Kind::IndexOutOfRange),
        HostError::WorkspaceTooShort { .. } => Some(Kind::WorkspaceTooShort),
        HostError::LaunchLimit { .. } => Some(Kind::LaunchLimit),
    }
}

fn name(kind: Kind) -> Ident {
    match kind {
        Kind::ExtentLimit => format_ident!("ExtentLimit"),
        Kind::ExtentMismatch => format_ident!("ExtentMismatch"),
        Kind::SizeOverflow => format_ident!("SizeOverflow"),
        Kind::LengthMismatch => format_ident!("LengthMismatch"),
        Kind::UnsupportedStride => format_ident!("UnsupportedStride"),
        Kind::IndexOutOfRange => format_ident!("IndexOutOfRange"),
        Kind::WorkspaceTooShort => format_ident!("WorkspaceTooShort"),
        Kind::LaunchLimit => format_ident!("LaunchLimit"),
    }
}

fn doc(kind: Kind) -> &'static str {
    match kind {
        Kind::ExtentLimit => " An extent is above what a coordinate can hold.",
        Kind::ExtentMismatch => " Two labels that index one dimension of a tensor differ.",
        Kind::SizeOverflow => " The extents of a buffer multiply to more than memory can hold.",
        Kind::LengthMismatch => " A buffer's element count is not the product of its extents.",
        Kind::UnsupportedStride => " A view leads out of its buffer.",
        Kind::IndexOutOfRange => {
            " An index is not below what it must be, or a row pointer is out of order."
        }
        Kind::WorkspaceTooShort => " The workspace has fewer elements than the temporaries need.",
        Kind::LaunchLimit => " The launch is above a limit of the kernels or the device.",
    }
}
