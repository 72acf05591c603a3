//! Index expressions and predicates as Rust, with the parentheses that Rust needs and no more.

use mage_einsum::dtype::Dtype;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::oxide;
use super::scope::Scope;
use crate::kernel::walk;
use crate::kernel::{BinOp, Expr, Pred, Reg, Ty};

/// How strongly the pieces of an expression hold together, weakest first.
/// The order is that of the Rust reference, "Expressions", "Expression precedence".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    If,
    Xor,
    Sum,
    Product,
    Cast,
    Atom,
}

struct Printed {
    tokens: TokenStream,
    strength: Strength,
    /// Whether a `<` after it would be read as the start of generic arguments.
    ends_in_type: bool,
}

impl Printed {
    fn new(tokens: TokenStream, strength: Strength) -> Printed {
        Printed { tokens, strength, ends_in_type: strength == Strength::Cast }
    }

    fn at_least(self, strength: Strength) -> Printed {
        if self.strength < strength {
            let tokens = self.tokens;
            return Printed::new(quote!((#tokens)), Strength::Atom);
        }
        self
    }
}

/// The Rust type of an index.
pub fn ty(ty: Ty) -> Ident {
    match ty {
        Ty::U32 => format_ident!("u32"),
        Ty::U64 => format_ident!("usize"),
        Ty::I64 => format_ident!("isize"),
    }
}

/// An index expression.
pub fn expr(scope: &Scope<'_>, expr: &Expr) -> TokenStream {
    printed(scope, expr).tokens
}

/// An expression as the argument of pointer arithmetic, a `usize` or, with a sign, an `isize`.
pub fn offset(scope: &Scope<'_>, offset: &Expr) -> TokenStream {
    match (scope.kernel.ty(offset), offset) {
        (Ty::U64 | Ty::I64, _) | (Ty::U32, Expr::Const { name: None, .. }) => expr(scope, offset),
        (Ty::U32, _) => cast(printed(scope, offset), &ty(Ty::U64)).tokens,
    }
}

/// The value of an index expression as a number of `dtype`.
pub fn number(scope: &Scope<'_>, value: &Expr, dtype: Dtype) -> TokenStream {
    let ty = match dtype {
        Dtype::F64 => format_ident!("f64"),
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => format_ident!("f32"),
    };
    cast(printed(scope, value), &ty).tokens
}

/// One register: an element of a local array.
pub fn register(scope: &Scope<'_>, reg: &Reg) -> TokenStream {
    let array = scope.array(reg.array);
    let at = register_index(scope, reg);
    quote!(#array[#at])
}

/// The place of a register in its array, a `usize`: counters are that already.
pub fn register_index(scope: &Scope<'_>, reg: &Reg) -> TokenStream {
    let is_counter = |part: &Expr| matches!(part, Expr::Var(var) if scope.is_counter(*var));
    if walk::parts(&reg.at).into_iter().any(is_counter) {
        return expr(scope, &reg.at);
    }
    offset(scope, &reg.at)
}

/// A predicate, as the condition of an `if`.
pub fn pred(scope: &Scope<'_>, when: &Pred) -> TokenStream {
    let mut terms = Vec::new();
    collect(scope, when, &mut terms);
    match terms.split_first() {
        None => quote!(true),
        Some((first, rest)) => quote!(#first #(&& #rest)*),
    }
}

fn collect(scope: &Scope<'_>, when: &Pred, terms: &mut Vec<TokenStream>) {
    match when {
        Pred::Less(left, right) => {
            let left = printed(scope, left);
            let left = if left.ends_in_type {
                let tokens = left.tokens;
                quote!((#tokens))
            } else {
                left.tokens
            };
            let right = printed(scope, right).tokens;
            terms.push(quote!(#left < #right));
        }
        Pred::All(all) => all.iter().for_each(|one| collect(scope, one, terms)),
    }
}

fn printed(scope: &Scope<'_>, expr: &Expr) -> Printed {
    match expr {
        Expr::Const { value, name: None, .. } => {
            let number = Literal::u64_unsuffixed(*value);
            Printed::new(quote!(#number), Strength::Atom)
        }
        Expr::Const { name: Some(name), .. } => {
            let name = format_ident!("{name}");
            Printed::new(quote!(#name), Strength::Atom)
        }
        Expr::Var(var) => {
            let name = scope.var(*var);
            Printed::new(quote!(#name), Strength::Atom)
        }
        Expr::Thread => Printed::new(oxide::thread_index(), Strength::Atom),
        Expr::Block => Printed::new(oxide::block_index(), Strength::Atom),
        Expr::Binary(op, left, right) => binary(scope, *op, left, right),
        Expr::Widen(inner) => cast(printed(scope, inner), &ty(Ty::U64)),
        Expr::Signed(inner) => cast(printed(scope, inner), &ty(Ty::I64)),
        Expr::Narrow(inner) => cast(printed(scope, inner), &ty(Ty::U32)),
    }
}

fn cast(inner: Printed, to: &Ident) -> Printed {
    let inner = inner.at_least(Strength::Cast).tokens;
    Printed::new(quote!(#inner as #to), Strength::Cast)
}

fn binary(scope: &Scope<'_>, op: BinOp, left: &Expr, right: &Expr) -> Printed {
    let (sign, strength) = match op {
        BinOp::Add => (quote!(+), Strength::Sum),
        BinOp::Sub => (quote!(-), Strength::Sum),
        BinOp::Mul => (quote!(*), Strength::Product),
        BinOp::Div => (quote!(/), Strength::Product),
        BinOp::Rem => (quote!(%), Strength::Product),
        BinOp::Xor => (quote!(^), Strength::Xor),
        BinOp::Min => return minimum(scope, left, right),
        BinOp::SaturatingSub => return saturating_difference(scope, left, right),
    };
    let (left_needs, right_needs) = match op {
        // `a + (b + c)` may lose its parentheses: no part of a sum exceeds the whole.
        BinOp::Add if is_sum(right) => (Strength::Sum, Strength::Sum),
        BinOp::Add | BinOp::Sub => (Strength::Sum, Strength::Product),
        BinOp::Mul | BinOp::Div | BinOp::Rem => (Strength::Product, Strength::Cast),
        // Readers do not know how `^` mixes with arithmetic, so both sides stand alone.
        BinOp::Xor | BinOp::Min | BinOp::SaturatingSub => (Strength::Cast, Strength::Cast),
    };
    let left = printed(scope, left).at_least(left_needs).tokens;
    let right = printed(scope, right).at_least(right_needs);
    let right_tokens = right.tokens;
    Printed {
        tokens: quote!(#left #sign #right_tokens),
        strength,
        ends_in_type: right.ends_in_type,
    }
}

fn is_sum(expr: &Expr) -> bool {
    matches!(expr, Expr::Binary(BinOp::Add, ..))
}

/// Unlike `u32::min`, cuda-oxide inlines it. As a method it would need a receiver with a type,
/// which a plain number is not.
fn saturating_difference(scope: &Scope<'_>, left: &Expr, right: &Expr) -> Printed {
    let ty = ty(scope.kernel.ty(left));
    let (left, right) = (expr(scope, left), expr(scope, right));
    Printed::new(quote!(#ty::saturating_sub(#left, #right)), Strength::Atom)
}

/// Not `u32::min`, which cuda-oxide 29396b7f leaves as a call.
fn minimum(scope: &Scope<'_>, left: &Expr, right: &Expr) -> Printed {
    let when = pred(scope, &Pred::Less(left.clone(), right.clone()));
    let (left, right) = (expr(scope, left), expr(scope, right));
    Printed::new(quote!(if #when { #left } else { #right }), Strength::If)
}
