//! Host values and conditions as Rust. A product that was checked once has a name from then on.

use std::collections::BTreeSet;

use mage_einsum::index::Extent;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::{extents, oxide};
use crate::kernel::{BufferId, HostExpr, HostPred, Module};

/// What the body of `launch` can name at some place.
#[derive(Clone)]
pub struct Names<'m> {
    /// The module that is launched.
    pub module: &'m Module,
    taken: BTreeSet<String>,
    extents: Vec<Ident>,
    checked: Vec<(HostExpr, Ident)>,
}

impl<'m> Names<'m> {
    /// The buffers, which keep their names, and the extents.
    pub fn new(module: &'m Module) -> Names<'m> {
        let taken = module.buffers.iter().map(|buffer| buffer.ident.clone()).collect();
        let mut names = Names { module, taken, extents: Vec::new(), checked: Vec::new() };
        for label in &module.labels {
            let name = match label.extent {
                Extent::Runtime => names.fresh(&format!("{}_extent", label.ident)),
                Extent::Fixed(_) => extents::constant_name(label),
            };
            names.extents.push(name);
        }
        names
    }

    /// The name of a label's extent, by the label's position.
    pub fn extent(&self, label: usize) -> &Ident {
        &self.extents[label]
    }

    /// A name like `wish` that nothing has yet.
    pub fn fresh(&mut self, wish: &str) -> Ident {
        let mut name = wish.to_string();
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        format_ident!("{name}")
    }

    /// Remembers that `name` holds the value of `expr`, which did not overflow.
    pub fn bind(&mut self, expr: &HostExpr, name: Ident) {
        self.checked.push((expr.clone(), name));
    }

    /// The name that holds the value of `expr`.
    pub fn bound(&self, expr: &HostExpr) -> Option<&Ident> {
        if let HostExpr::Extent(label) = expr {
            return Some(self.extent(*label));
        }
        self.checked.iter().find(|(known, _)| known == expr).map(|(_, name)| name)
    }

    /// A buffer's parameter.
    pub fn buffer(&self, buffer: BufferId) -> Ident {
        format_ident!("{}", self.module.buffers[buffer.0].ident)
    }
}

/// The parts of `expr` that can overflow and were not checked, innermost first.
pub fn unchecked<'e>(names: &Names<'_>, expr: &'e HostExpr) -> Vec<&'e HostExpr> {
    if names.bound(expr).is_some() {
        return Vec::new();
    }
    match expr {
        HostExpr::Const(_) | HostExpr::Extent(_) => Vec::new(),
        HostExpr::CeilDiv(inner, _) => unchecked(names, inner),
        HostExpr::Product(factors) => {
            let mut found: Vec<&HostExpr> =
                factors.iter().flat_map(|factor| unchecked(names, factor)).collect();
            if factors.len() > 1 {
                found.push(expr);
            }
            found
        }
    }
}

/// The product as an `Option`, `None` where it overflows.
pub fn checked_product(names: &Names<'_>, factors: &[HostExpr]) -> TokenStream {
    match factors.split_first() {
        None => quote!(Some(1_usize)),
        Some((only, [])) => {
            let only = receiver(names, only);
            quote!(Some(#only))
        }
        Some((first, [second, rest @ ..])) => {
            let first = receiver(names, first);
            let second = value(names, second);
            let rest = rest.iter().map(|factor| value(names, factor));
            quote!(#first.checked_mul(#second) #(.and_then(|elems| elems.checked_mul(#rest)))*)
        }
    }
}

/// The value. A product that nothing checked stops at the largest number instead of wrapping, so
/// that it is above every limit that it is compared with.
pub fn value(names: &Names<'_>, expr: &HostExpr) -> TokenStream {
    if let Some(name) = names.bound(expr) {
        return quote!(#name);
    }
    match expr {
        HostExpr::Const(number) => self::number(*number),
        // Always bound.
        HostExpr::Extent(_) => TokenStream::new(),
        HostExpr::CeilDiv(inner, divisor) => {
            let inner = receiver(names, inner);
            let divisor = number(*divisor);
            quote!(#inner.div_ceil(#divisor))
        }
        HostExpr::Product(factors) => match factors.split_first() {
            None => quote!(1),
            Some((only, [])) => value(names, only),
            Some((first, rest)) => {
                let first = receiver(names, first);
                let rest = rest.iter().map(|factor| value(names, factor));
                quote!(#first #(.saturating_mul(#rest))*)
            }
        },
    }
}

/// The value as the receiver of a method: a bare number needs its type.
fn receiver(names: &Names<'_>, expr: &HostExpr) -> TokenStream {
    match expr {
        HostExpr::Const(number) => {
            let number = Literal::usize_suffixed(usize::try_from(*number).unwrap_or(usize::MAX));
            quote!(#number)
        }
        HostExpr::Extent(_) | HostExpr::Product(_) | HostExpr::CeilDiv(..) => value(names, expr),
    }
}

/// A number, under its usual name where it is the largest of a type.
pub fn number(number: u64) -> TokenStream {
    if number == u64::from(u32::MAX) {
        return quote!(u32::MAX as usize);
    }
    if number == u64::from(i32::MAX.unsigned_abs()) {
        return quote!(i32::MAX as usize);
    }
    if number == i64::MAX.unsigned_abs() {
        return quote!(isize::MAX as usize);
    }
    // 2^63 bytes of 4-byte elements.
    if number == i64::MAX.unsigned_abs() / 4 {
        return quote!(isize::MAX as usize / 4);
    }
    let number = Literal::u64_unsuffixed(number);
    quote!(#number)
}

/// The condition, or its opposite where `holds` is false.
pub fn condition(names: &Names<'_>, pred: &HostPred, wanted: Wanted) -> TokenStream {
    let value = |expr| value(names, expr);
    let equal = match wanted {
        Wanted::Holds => quote!(==),
        Wanted::Fails => quote!(!=),
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
        (HostPred::MultipleOf(expr, divisor), _) => {
            let (expr, divisor) = (value(expr), number(*divisor));
            quote!(#expr % #divisor #equal 0)
        }
        (HostPred::IsZero(expr), _) => zero(names, expr, wanted),
        (HostPred::Equal(left, right), _) => {
            let (left, right) = (value(left), value(right));
            quote!(#left #equal #right)
        }
        (HostPred::LengthIs(buffer, expr), _) => {
            let length = oxide::buffer_length(&names.buffer(*buffer));
            let expr = value(expr);
            quote!(#length #equal #expr)
        }
        (HostPred::AlignedTo(buffer, bytes), _) => {
            let address = oxide::buffer_address(&names.buffer(*buffer));
            let bytes = Literal::u64_unsuffixed(*bytes);
            quote!(#address % #bytes #equal 0)
        }
        (HostPred::All(all), _) => every(names, all, wanted),
    }
}

/// Which side of a condition is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
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
            (_, _) => shown,
        }
    };
    let terms = all.iter().map(term).collect();
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
