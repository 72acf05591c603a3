//! An expression in registers: what its accesses hold is loaded before, and each of its operations
//! becomes one of the kernel's.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::{self, Access, Operator};

use super::builder::{Builder, reg};
use crate::kernel::{Expr, Reg, RegId, Stmt, Value};

/// Elements of an access in registers.
#[derive(Clone)]
pub struct Held {
    /// The access.
    pub access: Access,
    /// The registers.
    pub array: RegId,
    /// The first of them, a multiple of `elems`.
    pub first: Expr,
    /// Neighbouring elements that are there: as many as are computed, or one for all of them.
    pub elems: u32,
}

impl Held {
    /// The register of an element.
    fn of(&self, elem: &Expr) -> Reg {
        let at = if self.elems == 1 {
            self.first.clone()
        } else {
            self.first.clone().plus(elem.clone())
        };
        reg(self.array, at)
    }
}

/// Computes `expr` for one of neighbouring elements into a register.
pub fn compute(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    expr: &index::Expr,
    (held, elem): (&[Held], &Expr),
    to: &Reg,
) {
    let value = value(builder, body, expr, (held, elem), to);
    body.push(Stmt::Compute { to: to.clone(), value });
}

/// The last operation of `expr`; those before it are in `body`, the first of them in `to`.
pub fn value(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    expr: &index::Expr,
    at: (&[Held], &Expr),
    to: &Reg,
) -> Value {
    match expr {
        index::Expr::Access(access) => Value::Copy(of_access(access, at)),
        index::Expr::Number(number) => Value::Number(number.value()),
        index::Expr::Product(factors) => product(builder, body, factors, at, to),
        index::Expr::Power(base, exponent) => power(builder, body, (base, *exponent), at, to),
        index::Expr::Call(function, inner) => {
            Value::Call(*function, operand(builder, body, inner, at, Some(to)))
        }
        index::Expr::Binary(Operator::Add, left, right) => {
            sum(builder, body, [left, right], at, to)
        }
        index::Expr::Binary(operator, left, right) => {
            let left = operand(builder, body, left, at, Some(to));
            let right = operand(builder, body, right, at, None);
            match operator {
                Operator::Add => Value::Add(left, right),
                Operator::Subtract => Value::Sub(left, right),
                Operator::Divide => Value::Div(left, right),
                Operator::Max => Value::Max(left, right),
                Operator::Min => Value::Min(left, right),
            }
        }
    }
}

/// A product and what is added to it are rounded once.
fn sum(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    [left, right]: [&index::Expr; 2],
    at: (&[Held], &Expr),
    to: &Reg,
) -> Value {
    let (factors, other) = match (left, right) {
        (index::Expr::Product(factors), other) | (other, index::Expr::Product(factors)) => {
            (factors, other)
        }
        (left, right) => {
            let left = operand(builder, body, left, at, Some(to));
            return Value::Add(left, operand(builder, body, right, at, None));
        }
    };
    let other = operand(builder, body, other, at, None);
    let [first, last] = product_of_two(builder, body, factors, at, Some(to));
    Value::Fma(first, last, other)
}

fn product(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    factors: &[index::Expr],
    at: (&[Held], &Expr),
    to: &Reg,
) -> Value {
    let [first, last] = product_of_two(builder, body, factors, at, Some(to));
    Value::Mul(first, last)
}

/// All factors but the last in one register, and the last: a product has two or more. The product
/// of those before goes to `scratch`, or to a register of its own.
pub fn product_of_two(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    factors: &[index::Expr],
    at: (&[Held], &Expr),
    scratch: Option<&Reg>,
) -> [Reg; 2] {
    let (before, last) = factors.split_at(factors.len() - 1);
    let before = match before {
        [only] => operand(builder, body, only, at, scratch),
        several => {
            let product = index::Expr::Product(several.to_vec());
            operand(builder, body, &product, at, scratch)
        }
    };
    [before, operand(builder, body, &last[0], at, None)]
}

/// Squares, and products with the base, from the highest bit of the exponent down.
fn power(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    (base, exponent): (&index::Expr, u32),
    at: (&[Held], &Expr),
    to: &Reg,
) -> Value {
    let base = operand(builder, body, base, at, None);
    let bits = u32::BITS - exponent.leading_zeros();
    let mut values: Vec<Value> = Vec::new();
    for bit in (0..bits.saturating_sub(1)).rev() {
        let so_far = if values.is_empty() { base.clone() } else { to.clone() };
        values.push(Value::Mul(so_far.clone(), so_far));
        if exponent >> bit & 1 == 1 {
            values.push(Value::Mul(to.clone(), base.clone()));
        }
    }
    let last = values.pop();
    body.extend(values.into_iter().map(|value| Stmt::Compute { to: to.clone(), value }));
    last.unwrap_or(Value::Copy(base))
}

/// A register that holds `expr`: that of an access, or `scratch`, or one of its own.
pub fn operand(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    expr: &index::Expr,
    at: (&[Held], &Expr),
    scratch: Option<&Reg>,
) -> Reg {
    let name = match expr {
        index::Expr::Access(access) => return of_access(access, at),
        index::Expr::Number(value) => return number(builder, body, "number", value.value()),
        index::Expr::Product(_) | index::Expr::Power(..) => "product",
        index::Expr::Binary(Operator::Add | Operator::Subtract, ..) => "sum",
        index::Expr::Binary(..) | index::Expr::Call(..) => "term",
    };
    let to = match scratch {
        Some(scratch) => scratch.clone(),
        None => {
            let own = reg(builder.registers(name, 1), Expr::u32(0));
            body.push(Stmt::Fill { reg: own.array, value: 0.0 });
            own
        }
    };
    compute(builder, body, expr, at, &to);
    to
}

/// A register of its own that holds a number.
pub fn number(builder: &mut Builder<'_>, body: &mut Vec<Stmt>, name: &str, value: f64) -> Reg {
    let own = reg(builder.registers(name, 1), Expr::u32(0));
    let single = value as f32;
    body.push(Stmt::Fill { reg: own.array, value: single });
    // Registers of f64 are filled with singles, too.
    if builder.program.accumulator() == Dtype::F64 && f64::from(single) != value {
        body.push(Stmt::Compute { to: own.clone(), value: Value::Number(value) });
    }
    own
}

/// The register of an access. Whoever computes has loaded every access before, so the last case is
/// a mistake of lowering, which the emulator and `verify` find.
fn of_access(access: &Access, (held, elem): (&[Held], &Expr)) -> Reg {
    match held.iter().find(|held| held.access == *access) {
        Some(held) => held.of(elem),
        None => reg(RegId(usize::MAX), Expr::u32(0)),
    }
}
