//! Types of index expressions and predicates, and what a register index is made of. `body` asks,
//! knowing which variables have a value.

use super::super::{BinOp, Expr, Kernel, Pred, Ty, VarId};

/// What is known of the variables where an expression stands.
pub(super) struct Scope<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// For each variable whether it has a value here.
    pub defined: Vec<bool>,
    /// For each variable whether it is the variable of an unrolled loop.
    pub unrolled: Vec<bool>,
}

impl Scope<'_> {
    /// The type of `expr`, whose parts all fit each other.
    pub fn ty(&self, expr: &Expr) -> Result<Ty, String> {
        match expr {
            Expr::Const { value, ty: Ty::U32, .. } => match u32::try_from(*value) {
                Ok(_) => Ok(Ty::U32),
                Err(_) => Err(format!("{value} does not fit u32")),
            },
            Expr::Const { ty: Ty::U64, .. } => Ok(Ty::U64),
            Expr::Const { value, ty: Ty::I64, .. } => match i64::try_from(*value) {
                Ok(_) => Ok(Ty::I64),
                Err(_) => Err(format!("{value} does not fit i64")),
            },
            Expr::Var(id) => self.var_ty(*id),
            Expr::Thread | Expr::Block => Ok(Ty::U32),
            Expr::Binary(op, left, right) => {
                let (left_ty, right_ty) = (self.ty(left)?, self.ty(right)?);
                if left_ty != right_ty {
                    return Err(format!("{op:?} of {left_ty:?} and {right_ty:?}"));
                }
                match (op, right.as_const()) {
                    (BinOp::Add | BinOp::Sub | BinOp::Mul, _) => Ok(left_ty),
                    (_, _) if left_ty == Ty::I64 => Err(format!("{op:?} of {left_ty:?}")),
                    (BinOp::Div | BinOp::Rem, Some(0)) => Err(format!("{op:?} by zero")),
                    (
                        BinOp::Div | BinOp::Rem | BinOp::Min | BinOp::Xor | BinOp::SaturatingSub,
                        _,
                    ) => Ok(left_ty),
                }
            }
            Expr::Widen(inner) => match self.ty(inner)? {
                Ty::U32 => Ok(Ty::U64),
                Ty::U64 => Err("a widening of u64".to_string()),
                Ty::I64 => Err("a widening of i64".to_string()),
            },
            Expr::Signed(inner) => match self.ty(inner)? {
                Ty::U32 | Ty::U64 => Ok(Ty::I64),
                Ty::I64 => Err("a sign for what has one".to_string()),
            },
            Expr::Narrow(inner) => match self.ty(inner)? {
                Ty::U64 => Ok(Ty::U32),
                Ty::U32 => Err("a narrowing of u32".to_string()),
                Ty::I64 => Err("a narrowing of i64".to_string()),
            },
        }
    }

    /// `expr` is of type `wanted`.
    pub fn is(&self, what: &str, expr: &Expr, wanted: Ty) -> Result<(), String> {
        let found = self.ty(expr).map_err(|why| format!("{what}: {why}"))?;
        if found == wanted { Ok(()) } else { Err(format!("{what} is {found:?}, not {wanted:?}")) }
    }

    /// `expr` is an unsigned number.
    pub fn unsigned(&self, what: &str, expr: &Expr) -> Result<Ty, String> {
        match self.ty(expr).map_err(|why| format!("{what}: {why}"))? {
            unsigned @ (Ty::U32 | Ty::U64) => Ok(unsigned),
            Ty::I64 => Err(format!("{what} has a sign")),
        }
    }

    /// Both sides of every comparison agree.
    pub fn pred(&self, pred: &Pred) -> Result<(), String> {
        match pred {
            Pred::Less(left, right) => {
                let left = self.unsigned("the left side of a comparison", left)?;
                self.is("the right side of a comparison", right, left)
            }
            Pred::All(parts) => parts.iter().try_for_each(|part| self.pred(part)),
        }
    }

    /// A register index is made of constants and unrolled loop variables.
    pub fn register_index(&self, expr: &Expr) -> Result<(), String> {
        self.is("a register index", expr, Ty::U32)?;
        self.is_static(expr)
    }

    fn is_static(&self, expr: &Expr) -> Result<(), String> {
        match expr {
            Expr::Const { .. } => Ok(()),
            Expr::Var(id) if self.unrolled[id.0] => Ok(()),
            Expr::Var(id) => Err(format!(
                "a register index uses `{}`, which is no unrolled loop's variable",
                self.kernel.vars[id.0].name
            )),
            Expr::Binary(_, left, right) => {
                self.is_static(left)?;
                self.is_static(right)
            }
            Expr::Thread | Expr::Block | Expr::Widen(_) | Expr::Signed(_) | Expr::Narrow(_) => {
                Err("a register index depends on more than unrolled loop variables".to_string())
            }
        }
    }

    fn var_ty(&self, id: VarId) -> Result<Ty, String> {
        let var = self.kernel.vars.get(id.0).ok_or_else(|| format!("{id:?} does not exist"))?;
        if self.defined[id.0] {
            Ok(var.ty)
        } else {
            Err(format!("`{}` is used before it has a value", var.name))
        }
    }
}
