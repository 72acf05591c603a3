//! Host conditions as Rust, as they are or negated.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::value::{Names, constant, number, receiver, value};
use super::{handle, view, workspace};
use crate::kernel::{BufferId, HostExpr, HostPred};

/// Which side of a condition is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
}

/// The condition, or its opposite.
pub fn condition(names: &Names<'_>, pred: &HostPred, wanted: Wanted) -> TokenStream {
    let value = |expr| value(names, expr);
    let (equal, not) = match wanted {
        Wanted::Holds => (quote!(==), None),
        Wanted::Fails => (quote!(!=), Some(quote!(!))),
    };
    match (pred, wanted) {
        (HostPred::AtMost(expr, limit), Wanted::Holds) => {
            let (expr, limit) = (value(expr), number(*limit));
            quote!(#expr <= #limit)
        }
        (HostPred::AtMost(expr, limit), Wanted::Fails) => {
            let (expr, limit) = (value(expr), number(*limit));
            quote!(#expr > #limit)
        }
        (HostPred::AtLeast(expr, limit), Wanted::Holds) => {
            let (expr, limit) = (value(expr), number(*limit));
            quote!(#expr >= #limit)
        }
        (HostPred::AtLeast(expr, limit), Wanted::Fails) => {
            let (expr, limit) = (value(expr), number(*limit));
            quote!(#expr < #limit)
        }
        (HostPred::MultipleOf(expr, divisor), _) => {
            let (expr, divisor) = (receiver(names, expr), number(*divisor));
            quote!(#not #expr.is_multiple_of(#divisor))
        }
        (HostPred::IsZero(expr), _) => zero(names, expr, wanted),
        (HostPred::Equal(left, right), _) => {
            let (left, right) = (value(left), value(right));
            quote!(#left #equal #right)
        }
        (HostPred::NotAbove(left, right), _) => {
            let (left, right) = (value(left), value(right));
            match wanted {
                Wanted::Holds => quote!(#left <= #right),
                Wanted::Fails => quote!(#left > #right),
            }
        }
        (HostPred::LengthIs(buffer, expr), _) => {
            let length = names.length(*buffer);
            let expr = value(expr);
            quote!(#length #equal #expr)
        }
        (HostPred::LengthAtLeast(buffer, expr), _) => {
            let length = names.length(*buffer);
            let expr = workspace::need(names, expr);
            match wanted {
                Wanted::Holds => quote!(#length >= #expr),
                Wanted::Fails => quote!(#length < #expr),
            }
        }
        (HostPred::AlignedTo(buffer, bytes), _) => {
            let address = names.address(*buffer);
            let bytes = Literal::u64_unsuffixed(*bytes);
            quote!(#not #address.is_multiple_of(#bytes))
        }
        (HostPred::IndicesBelow(buffer, expr), _) => {
            let (bound, expr) = (handle::bound(names, *buffer), value(expr));
            match wanted {
                Wanted::Holds => quote!(#bound <= #expr),
                Wanted::Fails => quote!(#bound > #expr),
            }
        }
        (HostPred::PointersInto(buffer, expr), _) => {
            let (bound, expr) = (handle::bound(names, *buffer), value(expr));
            quote!(#bound #equal #expr)
        }
        (HostPred::InBuffer(buffer), _) => {
            let beyond = view::beyond(names, *buffer);
            match wanted {
                Wanted::Holds => quote!(#beyond.is_none()),
                Wanted::Fails => quote!(#beyond.is_some()),
            }
        }
        (HostPred::UnitStride(buffer, dim), _) => {
            let stride = view::stride(&names.buffer(*buffer), *dim);
            quote!(#stride #equal 1)
        }
        (HostPred::StrideMultipleOf(buffer, dim, divisor), _) => {
            in_steps(names, (*buffer, *dim), *divisor, wanted)
        }
        (HostPred::All(all), _) => every(names, all, wanted),
    }
}

/// Whether the condition holds for the numbers in it alone, so that the text can do without it.
fn is_plain(names: &Names<'_>, pred: &HostPred) -> bool {
    match pred {
        HostPred::AtMost(expr, limit) => constant(names, expr).is_some_and(|need| need <= *limit),
        HostPred::AtLeast(expr, limit) => constant(names, expr).is_some_and(|has| has >= *limit),
        HostPred::MultipleOf(expr, divisor) => {
            constant(names, expr).is_some_and(|number| number.is_multiple_of(*divisor))
        }
        HostPred::All(all) => all.iter().all(|one| is_plain(names, one)),
        HostPred::StrideMultipleOf(buffer, dim, _) => {
            constant(names, &dim_extent(names, *buffer, *dim)).is_some_and(|extent| extent <= 1)
        }
        HostPred::IsZero(_)
        | HostPred::Equal(..)
        | HostPred::NotAbove(..)
        | HostPred::LengthIs(..)
        | HostPred::LengthAtLeast(..)
        | HostPred::AlignedTo(..)
        | HostPred::InBuffer(_)
        | HostPred::IndicesBelow(..)
        | HostPred::PointersInto(..)
        | HostPred::UnitStride(..) => false,
    }
}

/// A stride matters only where there is a second position to go to.
fn in_steps(
    names: &Names<'_>,
    (buffer, dim): (BufferId, usize),
    divisor: u64,
    wanted: Wanted,
) -> TokenStream {
    let (stride, divisor) = (view::stride(&names.buffer(buffer), dim), number(divisor));
    let extent = dim_extent(names, buffer, dim);
    let always = constant(names, &extent).is_some();
    let extent = value(names, &extent);
    match wanted {
        Wanted::Holds if always => quote!(#stride % #divisor == 0),
        Wanted::Fails if always => quote!(#stride % #divisor != 0),
        Wanted::Holds => quote!(#extent <= 1 || #stride % #divisor == 0),
        Wanted::Fails => quote!(#extent > 1 && #stride % #divisor != 0),
    }
}

fn dim_extent(names: &Names<'_>, buffer: BufferId, dim: usize) -> HostExpr {
    HostExpr::Extent(names.module.buffers[buffer.0].dims[dim])
}

/// A product is zero where a factor is, which needs no multiplication.
fn zero(names: &Names<'_>, expr: &HostExpr, wanted: Wanted) -> TokenStream {
    match (expr, wanted) {
        (HostExpr::Product(factors), Wanted::Holds) if names.bound(expr).is_none() => {
            let factors = factors.iter().map(|factor| zero(names, factor, wanted));
            joined(factors.collect(), &quote!(||), &quote!(false))
        }
        (HostExpr::Product(factors), Wanted::Fails) if names.bound(expr).is_none() => {
            let factors = factors.iter().map(|factor| zero(names, factor, wanted));
            joined(factors.collect(), &quote!(&&), &quote!(true))
        }
        (_, Wanted::Holds) => {
            let value = value(names, expr);
            quote!(#value == 0)
        }
        (_, Wanted::Fails) => {
            let value = value(names, expr);
            quote!(#value != 0)
        }
    }
}

fn every(names: &Names<'_>, all: &[HostPred], wanted: Wanted) -> TokenStream {
    let term = |one: &HostPred| {
        let shown = condition(names, one, wanted);
        match (one, wanted) {
            // A product is zero where one factor or another is: an `||` among the `&&`.
            (HostPred::IsZero(HostExpr::Product(_)), Wanted::Holds) => quote!((#shown)),
            (HostPred::StrideMultipleOf(buffer, dim, _), _)
                if constant(names, &dim_extent(names, *buffer, *dim)).is_none() =>
            {
                quote!((#shown))
            }
            (_, _) => shown,
        }
    };
    let terms = all.iter().filter(|one| !is_plain(names, one)).map(term).collect();
    match wanted {
        Wanted::Holds => joined(terms, &quote!(&&), &quote!(true)),
        Wanted::Fails => joined(terms, &quote!(||), &quote!(false)),
    }
}

fn joined(terms: Vec<TokenStream>, by: &TokenStream, none: &TokenStream) -> TokenStream {
    match terms.split_first() {
        None => none.clone(),
        Some((first, rest)) => quote!(#first #(#by #rest)*),
    }
}
