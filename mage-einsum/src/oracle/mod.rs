//! The oracle: what the values of a program are, on the CPU, in f64 (rule R16), temporaries
//! included. It takes the place of trust: kernels, the emulator and the stand-in are compared with
//! it. [`evaluate`] is quick; [`evaluate_by_tree`] is the definition that it is tested against.

mod evaluation;
mod held;
mod nest;
mod packed;
mod sum;
mod tree;

use ndarray::ArrayViewD;

use crate::binding::Extents;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::{Program, Statement};
use held::Held;

pub use evaluation::Evaluation;
pub use tree::evaluate_by_tree;

/// Evaluates `program`, before merging, on operands with any strides.
///
/// The result does not depend on the number of threads: each element is summed by one of them in
/// one order.
///
/// # Errors
/// The mistakes of [`Extents::from_shapes`]; `StatementUnsupported` for merged modes.
pub fn evaluate(
    program: &Program,
    operands: &[ArrayViewD<'_, f32>],
) -> Result<Evaluation, Diagnostics> {
    in_order(program, operands, |statement, extents, tensors| {
        let nest = nest::Nest::choose(program, statement, extents);
        let values = sum::sum_products(&nest, &packed::of_values(statement, tensors, &nest))?;
        if !statement.factors().iter().any(|factor| tensors[factor.tensor.0].is_computed()) {
            return Ok(values);
        }
        let magnitudes =
            sum::sum_products(&nest, &packed::of_magnitudes(statement, tensors, &nest))?;
        Ok(Evaluation { magnitudes: magnitudes.values, ..values })
    })
}

/// Evaluates the statements in order; `evaluated` does one of them on the tensors that are there.
fn in_order(
    program: &Program,
    operands: &[ArrayViewD<'_, f32>],
    evaluated: impl Fn(&Statement, &Extents, &[Held]) -> Result<Evaluation, Diagnostic>,
) -> Result<Evaluation, Diagnostics> {
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape()).collect();
    let extents = Extents::from_shapes(program, &shapes)?;
    let has_merged = program.modes.iter().any(|mode| mode.parts.len() != 1);
    let Some(last) = program.statements.last().filter(|_| !has_merged) else {
        let message = "the oracle evaluates statements over unmerged modes";
        return Err(Diagnostic::new(Code::StatementUnsupported, message).into());
    };
    let mut tensors = Held::operands(program, operands);
    for statement in &program.statements {
        let evaluation = evaluated(statement, &extents, &tensors)?;
        let factors = statement.factors();
        let inner = factors.iter().map(|factor| tensors[factor.tensor.0].n_terms);
        let n_terms = inner.fold(evaluation.n_terms, u64::saturating_mul);
        tensors[statement.target.tensor.0] = Held::result(Evaluation { n_terms, ..evaluation });
    }
    Ok(Held::into_evaluation(tensors, last.target.tensor))
}
