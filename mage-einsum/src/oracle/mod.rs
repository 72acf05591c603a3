//! The oracle: what the values of a program are, on the CPU, in f64 (rule R16). It takes the
//! place of trust: kernels, the emulator and the stand-in are compared with it. [`evaluate`] is
//! quick; [`evaluate_by_tree`] is the definition that it is tested against.

mod evaluation;
mod nest;
mod packed;
mod sum;
mod tree;

use ndarray::ArrayViewD;

use crate::binding::Extents;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::{Program, Statement};

pub use evaluation::Evaluation;
pub use tree::evaluate_by_tree;

/// Evaluates `program`, as lowered and before merging, on operands with any strides.
///
/// The result does not depend on the number of threads: each element is summed by one of them in
/// one order.
///
/// # Errors
/// The mistakes of [`Extents::from_shapes`]; `StatementUnsupported` for a program that is not one
/// statement over unmerged modes.
pub fn evaluate(
    program: &Program,
    operands: &[ArrayViewD<'_, f32>],
) -> Result<Evaluation, Diagnostics> {
    let (statement, extents) = bound_statement(program, operands)?;
    let nest = nest::Nest::choose(program, statement, &extents);
    let factors: Vec<packed::Packed> = statement
        .factors()
        .iter()
        .map(|factor| packed::Packed::new(factor, &operands[factor.tensor.0], &nest))
        .collect();
    Ok(sum::sum_products(&nest, &factors)?)
}

/// The one statement of `program` and the extents that `operands` bind.
fn bound_statement<'p>(
    program: &'p Program,
    operands: &[ArrayViewD<'_, f32>],
) -> Result<(&'p Statement, Extents), Diagnostics> {
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape()).collect();
    let extents = Extents::from_shapes(program, &shapes)?;
    let has_merged = program.modes.iter().any(|mode| mode.parts.len() != 1);
    match program.statements.as_slice() {
        [statement] if !has_merged => Ok((statement, extents)),
        _ => {
            let message = "the oracle evaluates one statement over unmerged modes";
            Err(Diagnostic::new(Code::StatementUnsupported, message).into())
        }
    }
}
