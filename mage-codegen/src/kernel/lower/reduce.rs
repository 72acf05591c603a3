//! What a statement does with the terms of an output: the start, one term more, two partial results
//! together, and the end.

use mage_einsum::index::{self, ModeId, Statement};
use mage_einsum::reducer::Reducer;

use super::builder::{Builder, reg};
use super::coordinates;
use super::point;
use super::value::{self, Held};
use crate::kernel::{Expr, Reg, Stmt, Value};

/// What the register of an output holds before its first term; 0 where there is one value.
pub fn start(statement: &Statement) -> f32 {
    match statement.reduced.as_slice() {
        [] => 0.0,
        [..] => statement.reducer.start() as f32,
    }
}

/// Takes one more term, or the one value of a statement that reduces nothing.
pub fn term(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    statement: &Statement,
    at: (&[Held], &Expr),
    to: &Reg,
) {
    if statement.reduced.is_empty() {
        value::compute(builder, body, &statement.value, at, to);
        return;
    }
    let value = match &statement.value {
        // The last product and the sum are rounded once.
        index::Expr::Product(factors) if statement.reducer.adds() => {
            let [first, last] = value::product_of_two(builder, body, factors, at, None);
            Value::Fma(first, last, to.clone())
        }
        index::Expr::Access(_)
        | index::Expr::Number(_)
        | index::Expr::Product(_)
        | index::Expr::Binary(..)
        | index::Expr::Power(..)
        | index::Expr::Call(..) => {
            let term = value::operand(builder, body, &statement.value, at, None);
            combined(statement.reducer, to, term)
        }
    };
    body.push(Stmt::Compute { to: to.clone(), value });
}

/// A partial result and another one, or a term.
pub fn combined(reducer: Reducer, to: &Reg, other: Reg) -> Value {
    match reducer {
        Reducer::Sum | Reducer::Mean => Value::Add(to.clone(), other),
        Reducer::Max => Value::Max(to.clone(), other),
        Reducer::Min => Value::Min(to.clone(), other),
    }
}

/// Takes another partial result.
pub fn combine(body: &mut Vec<Stmt>, statement: &Statement, to: &Reg, other: Reg) {
    let value = combined(statement.reducer, to, other);
    body.push(Stmt::Compute { to: to.clone(), value });
}

/// Ends the reductions of outputs at these coordinates: a mean is divided by its number of terms.
pub fn finish(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    statement: &Statement,
    at: &[(ModeId, Expr)],
    results: &[Reg],
) {
    if statement.reducer != Reducer::Mean || statement.reduced.is_empty() {
        return;
    }
    let count = match (statement.segment, statement.reduced.as_slice()) {
        (Some(segment), _) => {
            let row = coordinates::of(builder, at, segment.row);
            let [begin, end] = [("first", 0), ("past", 1)].map(|(name, beyond)| {
                point::pointer(builder, body, segment.pointers, (row.clone(), beyond), name)
            });
            end.minus(begin)
        }
        (None, modes) => coordinates::count(builder, modes),
    };
    let divisor = match count.as_const() {
        Some(count) => value::number(builder, body, "count", count as f64),
        None => {
            let divisor = reg(builder.registers("count", 1), Expr::u32(0));
            body.push(Stmt::Fill { reg: divisor.array, value: 0.0 });
            body.push(Stmt::Compute { to: divisor.clone(), value: Value::Index(count) });
            divisor
        }
    };
    for result in results {
        let value = Value::Div(result.clone(), divisor.clone());
        body.push(Stmt::Compute { to: result.clone(), value });
    }
}
