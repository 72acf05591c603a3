//! One term of a sum, or four neighbouring ones: the product of the factors at a point.

use mage_einsum::index::{Access, ModeId};

use super::builder::{Builder, buffer, reg};
use super::coordinates;
use crate::kernel::{Expr, Place, Reg, RegId, Space, Stmt, Value, Width};

/// A factor, and how many elements one access reads: 4, or 1 that stands for four.
#[derive(Debug, Clone)]
pub struct Factor {
    /// The operand under its modes.
    pub access: Access,
    /// 1 or 4.
    pub elems: u32,
}

/// Where the terms are and what their registers' names end with.
pub struct Point<'c> {
    /// The coordinates of the first of them.
    pub at: &'c [(ModeId, Expr)],
    /// The ending.
    pub what: &'static str,
}

/// `sum(n) += product of the factors` for each of the neighbouring terms `n`, the last
/// multiplication fused with the addition.
pub fn add(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    factors: &[Factor],
    point: &Point<'_>,
    sum: impl Fn(Expr) -> Reg,
) {
    let values: Vec<RegId> =
        factors.iter().map(|factor| load(builder, body, factor, point)).collect();
    let n_terms = factors.iter().map(|factor| factor.elems).max().unwrap_or(1);
    builder.unrolled(body, "elem", n_terms, |builder, body, elem| {
        let mut of_elem: Vec<Reg> = values
            .iter()
            .zip(factors)
            .map(|(array, factor)| {
                reg(*array, if factor.elems == 1 { Expr::u32(0) } else { elem.clone() })
            })
            .collect();
        let (Some(last), to) = (of_elem.pop(), sum(elem)) else { return };
        let value = match product(builder, body, &of_elem) {
            None => Value::Add(to.clone(), last),
            Some(before) => Value::Fma(before, last, to.clone()),
        };
        body.push(Stmt::Compute { to, value });
    });
}

/// The product of some values in order; a single one stands for itself.
fn product(builder: &mut Builder<'_>, body: &mut Vec<Stmt>, values: &[Reg]) -> Option<Reg> {
    let (first, rest) = values.split_first()?;
    let Some((second, others)) = rest.split_first() else {
        return Some(first.clone());
    };
    let product = reg(builder.registers("product", 1), Expr::u32(0));
    body.push(Stmt::Fill { reg: product.array, value: 0.0 });
    let value = Value::Mul(first.clone(), second.clone());
    body.push(Stmt::Compute { to: product.clone(), value });
    for other in others {
        let value = Value::Mul(product.clone(), other.clone());
        body.push(Stmt::Compute { to: product.clone(), value });
    }
    Some(product)
}

fn load(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    factor: &Factor,
    point: &Point<'_>,
) -> RegId {
    let name = format!("{}_{}", builder.names.tensor(factor.access.tensor), point.what);
    let array = builder.registers(&name, factor.elems);
    let at = |mode| coordinates::of(builder, point.at, mode);
    let offset = builder.offset(&factor.access, at);
    body.push(Stmt::Fill { reg: array, value: 0.0 });
    body.push(Stmt::Load {
        to: reg(array, Expr::u32(0)),
        from: Place { space: Space::Global(buffer(&factor.access)), offset },
        width: Width::of(factor.elems),
        when: None,
    });
    array
}
