//! Host values as Rust. A product that was checked once has a name from then on.

use std::collections::BTreeSet;

use mage_einsum::index::{Extent, Layout};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::condition::{Wanted, condition};
use super::{extents, handle, oxide, view};
use crate::kernel::{BufferId, HostExpr, Module};

/// What the body of `launch` can name at some place.
#[derive(Clone)]
pub struct Names<'m> {
    /// The module that is launched.
    pub module: &'m Module,
    taken: BTreeSet<String>,
    argument: Ident,
    extents: Vec<Ident>,
    checked: Vec<(HostExpr, Ident)>,
    reach: [Ident; 2],
}

impl<'m> Names<'m> {
    /// The buffers, which keep their names, and the extents.
    pub fn new(module: &'m Module) -> Names<'m> {
        let taken = module.buffers.iter().map(|buffer| buffer.ident.clone()).collect();
        let argument = format_ident!("extents");
        let reach = ["lowest", "highest"].map(|wish| format_ident!("{wish}"));
        let (extents, checked) = (Vec::new(), Vec::new());
        let mut names = Names { module, taken, argument, extents, checked, reach };
        names.argument = names.fresh("extents");
        names.reach = ["lowest", "highest"].map(|wish| names.fresh(wish));
        for label in &module.labels {
            let name = match label.extent {
                Extent::Runtime => {
                    names.fresh(&format!("{}_extent", label.ident.trim_end_matches('_')))
                }
                Extent::Fixed(_) => extents::constant_name(module, label),
            };
            names.extents.push(name);
        }
        names
    }

    /// The name of the argument that gives the extents.
    pub fn argument(&self) -> &Ident {
        &self.argument
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

    /// A buffer's element count.
    pub fn length(&self, buffer: BufferId) -> TokenStream {
        let name = self.buffer(buffer);
        if self.module.buffers[buffer.0].index.is_some() {
            return oxide::buffer_length(&handle::buffer(self, buffer));
        }
        match self.module.buffers[buffer.0].layout {
            Layout::RowMajor => oxide::buffer_length(&name),
            Layout::Strided => view::length(&name),
        }
    }

    /// A buffer's device address, a `u64`; that of a view is where it begins.
    pub fn address(&self, buffer: BufferId) -> TokenStream {
        let name = self.buffer(buffer);
        if self.module.buffers[buffer.0].index.is_some() {
            return oxide::buffer_address(&handle::buffer(self, buffer));
        }
        match self.module.buffers[buffer.0].layout {
            Layout::RowMajor => oxide::buffer_address(&name),
            Layout::Strided => view::address(&name),
        }
    }

    /// What holds the lowest and the highest element of a view that leads out of its buffer.
    pub fn reach(&self) -> &[Ident; 2] {
        &self.reach
    }
}

/// The parts of `expr` that can overflow and were not checked, innermost first.
pub fn unchecked<'e>(names: &Names<'_>, expr: &'e HostExpr) -> Vec<&'e HostExpr> {
    if names.bound(expr).is_some() || constant(names, expr).is_some() {
        return Vec::new();
    }
    match expr {
        HostExpr::Const(_) | HostExpr::Extent(_) | HostExpr::Listed(_) => Vec::new(),
        HostExpr::CeilDiv(inner, divisor) => {
            [unchecked(names, inner), unchecked(names, divisor)].concat()
        }
        HostExpr::RoundUp(inner, _) | HostExpr::Max(inner, _) | HostExpr::Where(_, inner) => {
            unchecked(names, inner)
        }
        HostExpr::Sum(parts) | HostExpr::Min(parts) => {
            parts.iter().flat_map(|part| unchecked(names, part)).collect()
        }
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

/// The value, where it is made of numbers and fixed extents.
pub fn constant(names: &Names<'_>, expr: &HostExpr) -> Option<u64> {
    match expr {
        HostExpr::Const(number) => Some(*number),
        HostExpr::Extent(label) => match names.module.labels[*label].extent {
            Extent::Fixed(extent) => Some(u64::from(extent)),
            Extent::Runtime => None,
        },
        HostExpr::Product(factors) => factors
            .iter()
            .try_fold(1_u64, |product, factor| product.checked_mul(constant(names, factor)?)),
        HostExpr::CeilDiv(inner, divisor) => {
            let divisor = constant(names, divisor).filter(|divisor| *divisor > 0)?;
            constant(names, inner).map(|inner| inner.div_ceil(divisor))
        }
        HostExpr::Sum(terms) => {
            terms.iter().try_fold(0_u64, |sum, term| sum.checked_add(constant(names, term)?))
        }
        HostExpr::RoundUp(inner, multiple) => {
            constant(names, inner)?.checked_next_multiple_of(*multiple)
        }
        HostExpr::Max(inner, least) => constant(names, inner).map(|inner| inner.max(*least)),
        HostExpr::Min(values) => {
            let values = values.iter().map(|value| constant(names, value));
            values.collect::<Option<Vec<u64>>>()?.into_iter().min()
        }
        // What fixed extents decide has no condition.
        HostExpr::Listed(_) | HostExpr::Where(..) => None,
    }
}

/// The value as a part of an expression: what would fall apart there is in parentheses.
pub fn value(names: &Names<'_>, expr: &HostExpr) -> TokenStream {
    let whole = whole(names, expr);
    let is_open = names.bound(expr).is_none() && constant(names, expr).is_none();
    let falls_apart = matches!(expr, HostExpr::Sum(_) | HostExpr::Where(..));
    if falls_apart && is_open { quote!((#whole)) } else { whole }
}

/// The value where it stands alone. A product that nothing checked stops at the largest number
/// instead of wrapping, so that it is above every limit that it is compared with.
pub fn whole(names: &Names<'_>, expr: &HostExpr) -> TokenStream {
    if let Some(number) = constant(names, expr) {
        return self::number(number);
    }
    if let Some(name) = names.bound(expr) {
        return quote!(#name);
    }
    match expr {
        HostExpr::Const(number) => self::number(*number),
        // Always bound.
        HostExpr::Extent(_) => TokenStream::new(),
        HostExpr::Listed(list) => handle::n_listed(names, *list),
        HostExpr::CeilDiv(inner, divisor) => {
            let (inner, divisor) = (receiver(names, inner), whole(names, divisor));
            quote!(#inner.div_ceil(#divisor))
        }
        HostExpr::Max(inner, least) => {
            let (inner, least) = (receiver(names, inner), number(*least));
            quote!(#inner.max(#least))
        }
        HostExpr::Min(values) => least(values, |value| receiver(names, value)),
        HostExpr::Where(when, inner) => {
            let (when, inner) = (condition(names, when, Wanted::Holds), whole(names, inner));
            quote!(if #when { #inner } else { 0 })
        }
        // A part of the workspace, which was checked as a whole.
        HostExpr::Sum(terms) => {
            let terms = terms.iter().map(|term| value(names, term));
            quote!(#(#terms)+*)
        }
        HostExpr::RoundUp(inner, multiple) => {
            let inner = receiver(names, inner);
            let multiple = number(*multiple);
            quote!(#inner.next_multiple_of(#multiple))
        }
        HostExpr::Product(factors) => match factors.split_first() {
            None => quote!(1),
            Some((only, [])) => whole(names, only),
            Some((first, rest)) => {
                let first = receiver(names, first);
                let rest = rest.iter().map(|factor| whole(names, factor));
                quote!(#first #(.saturating_mul(#rest))*)
            }
        },
    }
}

/// The value as an `Option`, `None` where an operation overflows; in a function that returns one.
pub fn checked(names: &Names<'_>, expr: &HostExpr) -> TokenStream {
    let chain = |parts: &[HostExpr], method: TokenStream| {
        let (first, parts) = parts.split_at(parts.len().min(1));
        let first = first.first().map(|part| received(names, part));
        let parts = parts.iter().map(|part| reached(names, part));
        let mut whole = quote!(Some(#first));
        let mut receiver = first;
        for part in parts {
            whole = quote!(#receiver.#method(#part));
            receiver = Some(quote!(#whole?));
        }
        whole
    };
    match expr {
        HostExpr::Product(factors) => chain(factors, quote!(checked_mul)),
        HostExpr::Sum(terms) => chain(terms, quote!(checked_add)),
        HostExpr::RoundUp(inner, multiple) if constant(names, expr).is_none() => {
            let (inner, multiple) = (received(names, inner), number(*multiple));
            quote!(#inner.checked_next_multiple_of(#multiple))
        }
        HostExpr::Where(when, inner) => {
            let (when, inner) = (condition(names, when, Wanted::Holds), checked(names, inner));
            quote!(if #when { #inner } else { Some(0) })
        }
        HostExpr::Const(_)
        | HostExpr::Extent(_)
        | HostExpr::Listed(_)
        | HostExpr::CeilDiv(..)
        | HostExpr::Max(..)
        | HostExpr::Min(_)
        | HostExpr::RoundUp(..) => {
            let value = reached(names, expr);
            quote!(Some(#value))
        }
    }
}

/// The value on the way through [`checked`], which ends where it overflows.
fn reached(names: &Names<'_>, expr: &HostExpr) -> TokenStream {
    match expr {
        HostExpr::Product(_) | HostExpr::Sum(_) | HostExpr::RoundUp(..)
            if constant(names, expr).is_none() =>
        {
            let checked = checked(names, expr);
            quote!(#checked?)
        }
        HostExpr::CeilDiv(inner, divisor) if constant(names, expr).is_none() => {
            let divided = received(names, inner);
            let divisor = match constant(names, divisor) {
                Some(divisor) => number(divisor),
                None => reached(names, divisor),
            };
            quote!(#divided.div_ceil(#divisor))
        }
        HostExpr::Max(inner, least) if constant(names, expr).is_none() => {
            let (inner, least) = (received(names, inner), number(*least));
            quote!(#inner.max(#least))
        }
        HostExpr::Min(values) if constant(names, expr).is_none() && names.bound(expr).is_none() => {
            least(values, |value| received(names, value))
        }
        HostExpr::Where(when, inner) => {
            let (when, inner) = (condition(names, when, Wanted::Holds), reached(names, inner));
            quote!(if #when { #inner } else { 0 })
        }
        HostExpr::Const(_)
        | HostExpr::Extent(_)
        | HostExpr::Listed(_)
        | HostExpr::Product(_)
        | HostExpr::Sum(_)
        | HostExpr::RoundUp(..)
        | HostExpr::Max(..)
        | HostExpr::Min(_)
        | HostExpr::CeilDiv(..) => receiver(names, expr),
    }
}

/// The least of some values, of which `receiver` makes receivers of a method.
fn least(values: &[HostExpr], receiver: impl Fn(&HostExpr) -> TokenStream) -> TokenStream {
    let mut values = values.iter().map(receiver);
    let first = values.next();
    quote!(#first #(.min(#values))*)
}

/// The same as the receiver of a method.
fn received(names: &Names<'_>, expr: &HostExpr) -> TokenStream {
    let reached = reached(names, expr);
    if matches!(expr, HostExpr::Where(..)) { quote!((#reached)) } else { reached }
}

/// The value as the receiver of a method: a bare number needs its type.
pub fn receiver(names: &Names<'_>, expr: &HostExpr) -> TokenStream {
    match constant(names, expr) {
        Some(number) => {
            let number = Literal::usize_suffixed(usize::try_from(number).unwrap_or(usize::MAX));
            quote!(#number)
        }
        None => value(names, expr),
    }
}

/// A number, under its usual name where it is the largest of a type or a large power of two.
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
    if number.is_power_of_two() && number > u64::from(u16::MAX) {
        let bits = Literal::u32_unsuffixed(number.trailing_zeros());
        return quote!(1 << #bits);
    }
    let number = Literal::u64_unsuffixed(number);
    quote!(#number)
}
