//! Statements of kernels as Rust.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::scope::Scope;
use super::{access, compute, expr, oxide, tensor};
use crate::kernel::walk;
use crate::kernel::{BinOp, Expr, RegId, Stmt, Ty, VarId};

/// A statement list, without braces.
pub fn block(scope: &Scope<'_>, body: &[Stmt]) -> TokenStream {
    body.iter().enumerate().map(|(at, stmt)| statement(scope, body, at, stmt)).collect()
}

/// A register array's first value, for an array that no `Fill` declares in the right place.
pub fn hoisted(scope: &Scope<'_>, array: RegId) -> TokenStream {
    let name = scope.array(array);
    let value = filled(scope, array, 0.0);
    quote!(let mut #name = #value;)
}

fn statement(scope: &Scope<'_>, body: &[Stmt], at: usize, stmt: &Stmt) -> TokenStream {
    match stmt {
        Stmt::Let { var, value } => first_value(scope, *var, value),
        Stmt::Assign { var, value } => assign(scope, *var, value),
        Stmt::Fill { reg, value } => {
            let name = scope.array(*reg);
            let value = filled(scope, *reg, *value);
            let mutable = scope.is_changed(*reg).then(|| quote!(mut));
            let declared = scope.declares(body, at, *reg).then(|| quote!(let #mutable));
            quote!(#declared #name = #value;)
        }
        Stmt::For { var, begin, end, step, unroll, body } => {
            let unroll = unroll.then(oxide::unroll);
            let inner = block(scope, body);
            let name = scope.var(*var);
            let start = counter(scope, *var, begin, end);
            let end = expr::expr(scope, end);
            let step = Literal::u32_unsuffixed(*step);
            quote!(#start #unroll while #name < #end { #inner #name += #step; })
        }
        Stmt::If { when, then, otherwise } => {
            let when = expr::pred(scope, when);
            let then = block(scope, then);
            let otherwise = (!otherwise.is_empty()).then(|| {
                let otherwise = block(scope, otherwise);
                quote!(else { #otherwise })
            });
            quote!(if #when { #then } #otherwise)
        }
        Stmt::Barrier => oxide::barrier(),
        Stmt::Load { to, from, width, when } => {
            access::load(scope, to, from, *width, when.as_ref())
        }
        Stmt::LoadIndex { var, from } => {
            let name = scope.var(*var);
            let address = access::address(scope, from);
            quote!(let #name = *#address;)
        }
        Stmt::Store { to, from, width, when } => {
            let store = access::store(scope, to, from, *width);
            match when {
                None => store,
                Some(when) => {
                    let when = expr::pred(scope, when);
                    quote!(if #when { #store })
                }
            }
        }
        Stmt::ShuffleXor { to, from, lane_mask } => {
            let dtype = scope.kernel.registers[from.array.0].dtype;
            let (to, from) = (expr::register(scope, to), expr::register(scope, from));
            let shuffled = oxide::shuffle_xor(dtype, &from, *lane_mask);
            quote!(#to = #shuffled;)
        }
        Stmt::Copy { to, from, elems, when } => {
            tensor::copy(scope, [to, from], *elems, when.as_ref())
        }
        Stmt::CommitCopies => oxide::commit_copies(),
        Stmt::AwaitCopies { pending } => oxide::await_copies(*pending),
        Stmt::LoadMatrices { to, from, transposed } => {
            tensor::load_matrices(scope, to, from, *transposed)
        }
        Stmt::Mma { acc, row, col } => tensor::mma(scope, acc, [row, col]),
        Stmt::Compute { to, value } => compute::compute(scope, to, value),
    }
}

/// A variable that starts from numbers alone shows its type; others have their operands' type.
fn first_value(scope: &Scope<'_>, var: VarId, value: &Expr) -> TokenStream {
    let name = scope.var(var);
    let mutable = scope.kernel.var(var).mutable.then(|| quote!(mut));
    let shown = shown_type(scope.kernel.var(var).ty, &[value]);
    let value = expr::expr(scope, value);
    quote!(let #mutable #name #shown = #value;)
}

fn counter(scope: &Scope<'_>, var: VarId, begin: &Expr, end: &Expr) -> TokenStream {
    let name = scope.var(var);
    let shown = if scope.is_counter(var) {
        None
    } else {
        shown_type(scope.kernel.var(var).ty, &[begin, end])
    };
    let begin = expr::expr(scope, begin);
    quote!(let mut #name #shown = #begin;)
}

fn shown_type(ty: Ty, sources: &[&Expr]) -> Option<TokenStream> {
    let is_number = |part: &Expr| match part {
        Expr::Const { name, .. } => name.is_none(),
        Expr::Binary(..) => true,
        Expr::Var(_)
        | Expr::Thread
        | Expr::Block
        | Expr::Widen(_)
        | Expr::Signed(_)
        | Expr::Narrow(_) => false,
    };
    let untyped = sources.iter().flat_map(|source| walk::parts(source)).all(is_number);
    let ty = expr::ty(ty);
    untyped.then(|| quote!(: #ty))
}

fn assign(scope: &Scope<'_>, var: VarId, value: &Expr) -> TokenStream {
    let name = scope.var(var);
    if let Expr::Binary(op, left, right) = value
        && **left == Expr::Var(var)
        && let Some(sign) = compound(*op)
    {
        let right = expr::expr(scope, right);
        return quote!(#name #sign #right;);
    }
    let value = expr::expr(scope, value);
    quote!(#name = #value;)
}

fn compound(op: BinOp) -> Option<TokenStream> {
    match op {
        BinOp::Add => Some(quote!(+=)),
        BinOp::Sub => Some(quote!(-=)),
        BinOp::Mul => Some(quote!(*=)),
        BinOp::Div => Some(quote!(/=)),
        BinOp::Rem => Some(quote!(%=)),
        BinOp::Xor => Some(quote!(^=)),
        BinOp::Min | BinOp::SaturatingSub => None,
    }
}

fn filled(scope: &Scope<'_>, array: RegId, value: f32) -> TokenStream {
    let array = &scope.kernel.registers[array.0];
    let value = if array.word_elems() == 1 {
        compute::typed_number(value, array.dtype)
    } else {
        quote!(0_u32)
    };
    let elems = Literal::u32_unsuffixed(array.elems);
    quote!([#value; #elems])
}
