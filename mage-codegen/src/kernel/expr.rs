//! Index expressions and predicates of kernels: unsigned integers of 32 bits (coordinates, shared
//! offsets) or 64 bits (global offsets), and signed ones of 64 bits (offsets into strided buffers,
//! which may lie before the element where the view begins). An operation whose result does not fit
//! its type is a trap in the emulator, and the host's requirements rule it out.

use super::Var;

/// Position in `Kernel::vars`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VarId(pub usize);

/// Type of an index expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ty {
    /// `u32`.
    U32,
    /// `u64`, printed as `usize`.
    U64,
    /// `i64`, printed as `isize`: added, subtracted and multiplied, never compared.
    I64,
}

/// A two-sided operation; both sides and the result have one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinOp {
    /// Sum.
    Add,
    /// Difference; never below zero.
    Sub,
    /// Difference, zero where it would be below.
    SaturatingSub,
    /// Product.
    Mul,
    /// Quotient, rounded down; the divisor is never zero where it is reached.
    Div,
    /// Remainder.
    Rem,
    /// The smaller one.
    Min,
    /// Exclusive or, which flips between 0 and an offset.
    Xor,
}

/// An index expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// A number, printed under its name (an upper-case `const`) where it has one.
    Const {
        /// The value; fits `ty`.
        value: u64,
        /// The type.
        ty: Ty,
        /// For example `I_TILE`.
        name: Option<String>,
    },
    /// A variable.
    Var(VarId),
    /// The thread's index in its block.
    Thread,
    /// The block's index in the grid.
    Block,
    /// An operation.
    Binary(BinOp, Box<Expr>, Box<Expr>),
    /// A 32-bit value as 64 bits.
    Widen(Box<Expr>),
    /// An unsigned value as 64 bits with a sign; it fits.
    Signed(Box<Expr>),
    /// A 64-bit value as 32 bits; it fits.
    Narrow(Box<Expr>),
}

/// A condition on index expressions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pred {
    /// Strictly below; both sides have one type.
    Less(Expr, Expr),
    /// All of them; true when empty.
    All(Vec<Pred>),
}

impl Expr {
    /// A 32-bit number.
    pub fn u32(value: u32) -> Expr {
        Expr::Const { value: u64::from(value), ty: Ty::U32, name: None }
    }

    /// A 64-bit number.
    pub fn u64(value: u64) -> Expr {
        Expr::Const { value, ty: Ty::U64, name: None }
    }

    /// A 64-bit number that has a sign but needs none.
    pub fn i64(value: u32) -> Expr {
        Expr::Const { value: u64::from(value), ty: Ty::I64, name: None }
    }

    /// A 32-bit number that the source shows under `name`.
    pub fn named(name: &str, value: u32) -> Expr {
        Expr::Const { value: u64::from(value), ty: Ty::U32, name: Some(name.to_string()) }
    }

    /// The number's value, for a constant.
    pub fn as_const(&self) -> Option<u64> {
        match self {
            Expr::Const { value, .. } => Some(*value),
            Expr::Var(_)
            | Expr::Thread
            | Expr::Block
            | Expr::Binary(..)
            | Expr::Widen(_)
            | Expr::Signed(_)
            | Expr::Narrow(_) => None,
        }
    }

    fn binary(op: BinOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// The number's value, for a constant that has no name and so may be folded away.
    fn as_literal(&self) -> Option<(u64, Ty)> {
        match self {
            Expr::Const { value, ty, name: None } => Some((*value, *ty)),
            Expr::Const { name: Some(_), .. }
            | Expr::Var(_)
            | Expr::Thread
            | Expr::Block
            | Expr::Binary(..)
            | Expr::Widen(_)
            | Expr::Signed(_)
            | Expr::Narrow(_) => None,
        }
    }

    /// The result of two literals, where it fits 32 bits and so surely its type.
    fn folded(&self, other: &Expr, op: fn(u64, u64) -> Option<u64>) -> Option<Expr> {
        let ((left, ty), (right, _)) = (self.as_literal()?, other.as_literal()?);
        let value = op(left, right).filter(|value| u32::try_from(*value).is_ok())?;
        Some(Expr::Const { value, ty, name: None })
    }

    /// `self + other`, without the operation where one side is zero or both are literals.
    pub fn plus(self, other: Expr) -> Expr {
        match (self.as_const(), other.as_const()) {
            (Some(0), _) => other,
            (_, Some(0)) => self,
            (_, _) => self
                .folded(&other, u64::checked_add)
                .unwrap_or_else(|| Expr::binary(BinOp::Add, self, other)),
        }
    }

    /// `self - other`, without the operation where `other` is zero or both are literals.
    pub fn minus(self, other: Expr) -> Expr {
        match other.as_const() {
            Some(0) => self,
            Some(_) | None => self
                .folded(&other, u64::checked_sub)
                .unwrap_or_else(|| Expr::binary(BinOp::Sub, self, other)),
        }
    }

    /// `self - other`, zero where that would be below.
    pub fn saturating_minus(self, other: Expr) -> Expr {
        match other.as_const() {
            Some(0) => self,
            Some(_) | None => Expr::binary(BinOp::SaturatingSub, self, other),
        }
    }

    /// `self * other`, without the operation where one side is zero or one.
    pub fn times(self, other: Expr) -> Expr {
        match (self.as_const(), other.as_const()) {
            (Some(0), _) | (_, Some(1)) => self,
            (_, Some(0)) | (Some(1), _) => other,
            (_, _) => self
                .folded(&other, u64::checked_mul)
                .unwrap_or_else(|| Expr::binary(BinOp::Mul, self, other)),
        }
    }

    /// `self / other`, rounded down.
    pub fn over(self, other: Expr) -> Expr {
        match other.as_const() {
            Some(1) => self,
            Some(_) | None => Expr::binary(BinOp::Div, self, other),
        }
    }

    /// `self % other`; zero where `other` is one.
    pub fn modulo(self, other: Expr) -> Expr {
        match &other {
            Expr::Const { value: 1, ty, .. } => Expr::Const { value: 0, ty: *ty, name: None },
            Expr::Const { .. }
            | Expr::Var(_)
            | Expr::Thread
            | Expr::Block
            | Expr::Binary(..)
            | Expr::Widen(_)
            | Expr::Signed(_)
            | Expr::Narrow(_) => Expr::binary(BinOp::Rem, self, other),
        }
    }

    /// The smaller of both.
    pub fn min(self, other: Expr) -> Expr {
        Expr::binary(BinOp::Min, self, other)
    }

    /// `self ^ other`.
    pub fn xor(self, other: Expr) -> Expr {
        Expr::binary(BinOp::Xor, self, other)
    }

    /// `self` as 64 bits.
    pub fn widen(self) -> Expr {
        match self {
            Expr::Const { value, name: None, .. } => Expr::u64(value),
            other => Expr::Widen(Box::new(other)),
        }
    }

    /// `self` as 64 bits with a sign.
    pub fn signed(self) -> Expr {
        match self {
            Expr::Const { value, name: None, .. } if i64::try_from(value).is_ok() => {
                Expr::Const { value, ty: Ty::I64, name: None }
            }
            // The narrower value fits without the step in between.
            Expr::Widen(inner) => Expr::Signed(inner),
            other => Expr::Signed(Box::new(other)),
        }
    }

    /// `self` as 32 bits.
    pub fn narrow(self) -> Expr {
        Expr::Narrow(Box::new(self))
    }

    /// The type, given the types of variables; both sides of an operation have one type.
    pub fn ty(&self, vars: &[Var]) -> Ty {
        match self {
            Expr::Const { ty, .. } => *ty,
            Expr::Var(id) => vars[id.0].ty,
            Expr::Thread | Expr::Block | Expr::Narrow(_) => Ty::U32,
            Expr::Binary(_, left, _) => left.ty(vars),
            Expr::Widen(_) => Ty::U64,
            Expr::Signed(_) => Ty::I64,
        }
    }

    /// `self < other`.
    pub fn less(self, other: Expr) -> Pred {
        Pred::Less(self, other)
    }
}
