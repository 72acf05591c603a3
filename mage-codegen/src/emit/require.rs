//! One requirement of `launch`: the checked product it needs, the test, and the error.

use proc_macro2::TokenStream;
use quote::quote;

use super::condition::{Wanted, condition};
use super::error::refusal;
use super::mention::is_mentioned;
use super::value::{Names, checked_product, constant, number, unchecked};
use super::{view, workspace};
use crate::kernel::{HostError, HostExpr, HostPred, HostStep};

/// Returns the error unless the condition holds. A product in it is multiplied with a check and
/// has a name afterwards, if a later step uses it.
pub fn require(
    names: &mut Names<'_>,
    that: &HostPred,
    error: &HostError,
    later: &[HostStep],
) -> TokenStream {
    let mut tokens = TokenStream::new();
    if let HostPred::InBuffer(buffer) = that {
        let (beyond, [lowest, highest]) = (view::beyond(names, *buffer), names.reach());
        let refusal = refusal(names, error);
        return quote!(if let Some((#lowest, #highest)) = #beyond { #refusal });
    }
    if let HostPred::LengthAtLeast(_, need) = that
        && constant(names, need).is_none()
    {
        let called = workspace::need(names, need);
        let name = names.fresh("need");
        names.bind(need, name.clone());
        tokens.extend(quote!(let #name = #called;));
    }
    let Some(overflow) = refusal(names, error) else {
        return TokenStream::new();
    };
    let products: Vec<&HostExpr> =
        that.values().into_iter().flat_map(|expr| unchecked(names, expr)).collect();
    for product in products {
        let (HostExpr::Product(factors), None) = (product, names.bound(product)) else {
            continue;
        };
        let checked = checked_product(names, factors);
        let limit = limit_of(that, product);
        if let Some(limit) = &limit
            && !is_mentioned(names.module, later, product)
        {
            return quote!(#tokens if #checked.is_none_or(|need| need > #limit) { #overflow });
        }
        let name = names.fresh(&wish(names, error, factors));
        names.bind(product, name.clone());
        let Some(limit) = limit else {
            tokens.extend(quote!(let Some(#name) = #checked else { #overflow };));
            continue;
        };
        let within = quote!(#checked.filter(|#name| *#name <= #limit));
        return quote!(#tokens let Some(#name) = #within else { #overflow };);
    }
    let fails = condition(names, that, Wanted::Fails);
    let refusal = refusal(names, error);
    quote!(#tokens if #fails { #refusal })
}

/// The limit, for a condition that compares `product` with one and does nothing else.
fn limit_of(pred: &HostPred, product: &HostExpr) -> Option<TokenStream> {
    match pred {
        HostPred::AtMost(whole, limit) => (whole == product).then(|| number(*limit)),
        HostPred::AtLeast(..)
        | HostPred::MultipleOf(..)
        | HostPred::IsZero(_)
        | HostPred::Equal(..)
        | HostPred::NotAbove(..)
        | HostPred::LengthIs(..)
        | HostPred::LengthAtLeast(..)
        | HostPred::AlignedTo(..)
        | HostPred::InBuffer(_)
        | HostPred::IndicesBelow(..)
        | HostPred::PointersInto(..)
        | HostPred::UnitStride(..)
        | HostPred::StrideMultipleOf(..)
        | HostPred::All(_) => None,
    }
}

/// What a checked product is called.
fn wish(names: &Names<'_>, error: &HostError, factors: &[HostExpr]) -> String {
    match error {
        HostError::SizeOverflow { buffer } | HostError::LengthMismatch { buffer } => {
            format!("{}_elems", names.module.buffers[buffer.0].ident)
        }
        HostError::LaunchLimit { what, .. } if what.contains("blocks") => {
            // In a sequence: `blocks in the grid of t0`; in a family of tiles: `large blocks ..`.
            let target = what.rsplit_once(" of ").map(|(_, target)| target.to_lowercase());
            let size = what.split_once(" blocks").map(|(size, _)| size.to_string());
            let parts = target.into_iter().chain(size).chain(["blocks".to_string()]);
            parts.collect::<Vec<_>>().join("_")
        }
        HostError::LaunchLimit { what, .. } if what.contains("steps") => "steps".to_string(),
        HostError::LaunchLimit { .. }
        | HostError::ExtentLimit { .. }
        | HostError::FixedExtent { .. }
        | HostError::ExtentMismatch { .. }
        | HostError::OutOfBuffer { .. }
        | HostError::IndexOutOfRange { .. }
        | HostError::WorkspaceTooShort { .. } => merged(names, factors),
    }
}

/// The product of labels that are one mode together: `a` and `b` give `ab_extent`.
fn merged(names: &Names<'_>, factors: &[HostExpr]) -> String {
    let ident = |factor: &HostExpr| {
        let HostExpr::Extent(label) = factor else { return None };
        Some(names.module.labels[*label].ident.as_str())
    };
    let labels = factors.iter().filter_map(ident);
    format!("{}_extent", labels.collect::<String>())
}
