//! The definition of what a program means: at every point of the output, over every point of the
//! reduced modes, the value of the expression tree. It is slow and has nothing to get wrong.

use ndarray::{ArrayD, ArrayViewD, Dimension, indices};

use super::held::Held;
use super::{Evaluation, in_order};
use crate::binding::Extents;
use crate::diagnostic::Diagnostics;
use crate::index::{Expr, ModeId, Program, Statement};

/// Evaluates `program` by walking its expressions for every product.
///
/// # Errors
/// As for [`super::evaluate`].
pub fn evaluate_by_tree(
    program: &Program,
    operands: &[ArrayViewD<'_, f32>],
) -> Result<Evaluation, Diagnostics> {
    in_order(program, operands, |statement, extents, tensors| {
        Ok(evaluate_statement(program, statement, extents, tensors))
    })
}

fn evaluate_statement(
    program: &Program,
    statement: &Statement,
    extents: &Extents,
    tensors: &[Held],
) -> Evaluation {
    let box_of = |modes: &[ModeId]| -> Vec<usize> {
        let extents = modes.iter().map(|mode| extents.of_mode(program.mode(*mode)));
        extents.map(|extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect()
    };
    let reduced = box_of(&statement.reduced);
    let all_values: Vec<_> = tensors.iter().map(|tensor| tensor.values.view()).collect();
    let all_magnitudes: Vec<_> = tensors.iter().map(Held::magnitudes).collect();
    let mut values = ArrayD::zeros(box_of(&statement.target.modes));
    let mut magnitudes = values.clone();
    let mut at = vec![0; program.modes.len()];
    for (output, value) in values.indexed_iter_mut() {
        set(&mut at, &statement.target.modes, output.slice());
        for term in indices(reduced.as_slice()) {
            set(&mut at, &statement.reduced, term.slice());
            *value +=
                evaluate_expr(&statement.value, &|tensor, index| all_values[tensor][index], &at);
            magnitudes[&output] += evaluate_expr(
                &statement.value,
                &|tensor, index| all_magnitudes[tensor][index],
                &at,
            );
        }
    }
    let n_terms = reduced.iter().map(|extent| *extent as u64).product();
    Evaluation { values, magnitudes, n_terms }
}

fn set(at: &mut [usize], modes: &[ModeId], index: &[usize]) {
    for (mode, index) in modes.iter().zip(index) {
        at[mode.0] = *index;
    }
}

/// The value of `expr` where the modes are `at`, with elements by tensor and index.
fn evaluate_expr(expr: &Expr, element: &impl Fn(usize, &[usize]) -> f64, at: &[usize]) -> f64 {
    match expr {
        Expr::Access(access) => {
            let index: Vec<usize> = access.modes.iter().map(|mode| at[mode.0]).collect();
            element(access.tensor.0, &index)
        }
        Expr::Product(factors) => {
            factors.iter().map(|factor| evaluate_expr(factor, element, at)).product()
        }
    }
}
