//! The definition of what a program means: at every point of the output, over every point of the
//! reduced modes, the value of the expression tree. It is slow and has nothing to get wrong.

use ndarray::{ArrayD, ArrayViewD, Dimension, indices};

use super::held::Held;
use super::number::{DoubleDouble, Number};
use super::sum::Sums;
use super::{Evaluation, accumulator, in_order, is_of_products, n_terms};
use crate::binding::Extents;
use crate::diagnostic::Diagnostics;
use crate::dtype::{Dtype, Element};
use crate::index::{Access, Expr, ModeId, Operator, Program, Statement};
use crate::reducer::{Reducer, larger, smaller};

/// Evaluates `program` by walking its expressions for every product.
///
/// # Errors
/// As for [`super::evaluate`].
pub fn evaluate_by_tree<T: Element>(
    program: &Program,
    operands: &[ArrayViewD<'_, T>],
) -> Result<Vec<Evaluation>, Diagnostics> {
    evaluate_by_tree_indexed(program, operands, &[])
}

/// The same for a program with index operands.
///
/// # Errors
/// As for [`super::evaluate_indexed`].
pub fn evaluate_by_tree_indexed<T: Element>(
    program: &Program,
    operands: &[ArrayViewD<'_, T>],
    indices: &[ArrayViewD<'_, u32>],
) -> Result<Vec<Evaluation>, Diagnostics> {
    in_order(program, (operands, indices), |statement, extents, tensors| {
        let values: Vec<_> = tensors.iter().map(|tensor| tensor.values.view()).collect();
        let evaluation = Tree { program, statement, extents };
        if !is_of_products(statement, tensors) {
            // What rounding may do is no part of the definition.
            let values = evaluation.of(&values, |expr, at| value(expr, &values, at));
            let errors = ArrayD::zeros(values.raw_dim());
            return Ok(Held::with_errors(values, errors, None));
        }
        let magnitudes: Vec<_> = tensors.iter().map(Held::magnitudes).collect();
        let magnitudes: Vec<_> = magnitudes.iter().map(|array| array.view()).collect();
        let products = |elements: &[ArrayViewD<'_, f64>]| {
            evaluation.of(elements, |expr, at| product(expr, elements, at, 1.0_f64))
        };
        let sums = Sums {
            values: match accumulator(program, statement) {
                Dtype::F16 | Dtype::BF16 | Dtype::F32 => products(&values),
                Dtype::F64 => evaluation
                    .of(&values, |expr, at| product(expr, &values, at, DoubleDouble::of(1.0))),
            },
            magnitudes: products(&magnitudes),
        };
        Ok(Held::products(sums, n_terms(program, statement, (extents, tensors))))
    })
}

/// One statement at its extents.
struct Tree<'p> {
    program: &'p Program,
    statement: &'p Statement,
    extents: &'p Extents,
}

impl Tree<'_> {
    /// The statement's values, where `term` is that of its expression at a point.
    fn of<N: Number>(
        &self,
        elements: &[ArrayViewD<'_, f64>],
        term: impl Fn(&Expr, &[usize]) -> N,
    ) -> ArrayD<f64> {
        let Tree { statement, .. } = self;
        let reduced = self.box_of(&statement.reduced);
        let n_terms: usize = reduced.iter().product();
        let mut values = ArrayD::zeros(self.box_of(&statement.target.modes));
        let mut at = vec![0; self.program.modes.len()];
        for (output, value) in values.indexed_iter_mut() {
            set(&mut at, &statement.target.modes, output.slice());
            if statement.reduced.is_empty() {
                *value = N::of(0.0).plus(term(&statement.value, &at)).rounded();
                continue;
            }
            let (mut result, mut n_within) = (N::of(statement.reducer.start()), 0);
            for position in indices(reduced.as_slice()) {
                set(&mut at, &statement.reduced, position.slice());
                if self.is_within(elements, &at) {
                    result = reduced_by(statement.reducer, result, term(&statement.value, &at));
                    n_within += 1;
                }
            }
            let count = if statement.segment.is_some() { n_within } else { n_terms };
            *value = match statement.reducer {
                Reducer::Mean => result.rounded() / count as f64,
                Reducer::Sum | Reducer::Max | Reducer::Min => result.rounded(),
            };
        }
        values
    }

    /// Whether a term belongs to its row's segment.
    fn is_within(&self, elements: &[ArrayViewD<'_, f64>], at: &[usize]) -> bool {
        let (Some(segment), [reduced]) =
            (self.statement.segment, self.statement.reduced.as_slice())
        else {
            return true;
        };
        let row = at[segment.row.0];
        let pointer = |row: usize| elements[segment.pointers.0][[row].as_slice()];
        (pointer(row)..pointer(row + 1)).contains(&(at[reduced.0] as f64))
    }

    fn box_of(&self, modes: &[ModeId]) -> Vec<usize> {
        let extents = modes.iter().map(|mode| self.extents.of_mode(self.program.mode(*mode)));
        extents.map(|extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect()
    }
}

fn reduced_by<N: Number>(reducer: Reducer, so_far: N, term: N) -> N {
    match reducer {
        Reducer::Sum | Reducer::Mean => so_far.plus(term),
        Reducer::Max => N::of(larger(so_far.rounded(), term.rounded())),
        Reducer::Min => N::of(smaller(so_far.rounded(), term.rounded())),
    }
}

fn set(at: &mut [usize], modes: &[ModeId], index: &[usize]) {
    for (mode, index) in modes.iter().zip(index) {
        at[mode.0] = *index;
    }
}

/// The element of an access where the modes are `at`.
fn element(access: &Access, elements: &[ArrayViewD<'_, f64>], at: &[usize]) -> f64 {
    let positions =
        |modes: &[ModeId]| -> Vec<usize> { modes.iter().map(|mode| at[mode.0]).collect() };
    let mut index = positions(&access.modes);
    for gather in &access.gathers {
        index[gather.dim] =
            elements[gather.indices.0][positions(&gather.modes).as_slice()] as usize;
    }
    elements[access.tensor.0][index.as_slice()]
}

/// The value of `expr` where the modes are `at`.
fn value(expr: &Expr, elements: &[ArrayViewD<'_, f64>], at: &[usize]) -> f64 {
    let of = |expr: &Expr| value(expr, elements, at);
    match expr {
        Expr::Access(access) => element(access, elements, at),
        Expr::Number(number) => number.value(),
        Expr::Product(factors) => factors.iter().map(of).product(),
        Expr::Power(base, exponent) => (0..*exponent).map(|_| of(base)).product(),
        Expr::Call(function, inner) => function.of(of(inner)),
        Expr::Binary(operator, left, right) => {
            let (left, right) = (of(left), of(right));
            match operator {
                Operator::Add => left + right,
                Operator::Subtract => left - right,
                Operator::Divide => left / right,
                Operator::Max => larger(left, right),
                Operator::Min => smaller(left, right),
            }
        }
    }
}

/// `so_far` times the product of accesses that `expr` is.
fn product<N: Number>(expr: &Expr, elements: &[ArrayViewD<'_, f64>], at: &[usize], so_far: N) -> N {
    let factors = expr.accesses().into_iter();
    factors.fold(so_far, |so_far, access| so_far.times(element(access, elements, at)))
}
