//! The definition of what a program means: at every point of the output, over every point of the
//! reduced modes, the value of the expression tree. It is slow and has nothing to get wrong.

use ndarray::{ArrayD, ArrayViewD, Dimension, indices};

use super::{Evaluation, bound_statement};
use crate::diagnostic::Diagnostics;
use crate::index::{Expr, ModeId, Program};

/// Evaluates `program` by walking its expression for every product.
///
/// # Errors
/// As for [`super::evaluate`].
pub fn evaluate_by_tree(
    program: &Program,
    operands: &[ArrayViewD<'_, f32>],
) -> Result<Evaluation, Diagnostics> {
    let (statement, extents) = bound_statement(program, operands)?;
    let box_of = |modes: &[ModeId]| -> Vec<usize> {
        let extents = modes.iter().map(|mode| extents.of_mode(program.mode(*mode)));
        extents.map(|extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect()
    };
    let reduced = box_of(&statement.reduced);
    let mut values = ArrayD::zeros(box_of(&statement.target.modes));
    let mut magnitudes = values.clone();
    let mut at = vec![0; program.modes.len()];
    for (output, value) in values.indexed_iter_mut() {
        set(&mut at, &statement.target.modes, output.slice());
        for term in indices(reduced.as_slice()) {
            set(&mut at, &statement.reduced, term.slice());
            let product = evaluate_expr(&statement.value, operands, &at);
            *value += product;
            magnitudes[&output] += product.abs();
        }
    }
    let n_terms = reduced.iter().map(|extent| *extent as u64).product();
    Ok(Evaluation { values, magnitudes, n_terms })
}

fn set(at: &mut [usize], modes: &[ModeId], index: &[usize]) {
    for (mode, index) in modes.iter().zip(index) {
        at[mode.0] = *index;
    }
}

fn evaluate_expr(expr: &Expr, operands: &[ArrayViewD<'_, f32>], at: &[usize]) -> f64 {
    match expr {
        Expr::Access(access) => {
            let index: Vec<usize> = access.modes.iter().map(|mode| at[mode.0]).collect();
            f64::from(operands[access.tensor.0][index.as_slice()])
        }
        Expr::Product(factors) => {
            factors.iter().map(|factor| evaluate_expr(factor, operands, at)).product()
        }
    }
}
