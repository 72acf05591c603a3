//! The oracle: what the values of a program are, on the CPU, in f64 (rule R16; f64 programs in
//! pairs of f64), temporaries included. It takes the place of trust: kernels, the emulator and the
//! stand-in are compared with it. [`evaluate`] is quick; [`evaluate_by_tree`] is the definition
//! that it is tested against.

mod evaluation;
mod number;
mod held;
mod nest;
mod packed;
mod sum;
mod tree;

use ndarray::ArrayViewD;

use crate::binding::Extents;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::dtype::{Dtype, Element};
use crate::index::{Program, Statement};
use held::Held;
use number::DoubleDouble;
use sum::{Sums, sum_products};

pub use evaluation::Evaluation;
pub use tree::evaluate_by_tree;

/// Evaluates `program`, before merging, on operands with any strides. A program that accumulates
/// takes, after its operands, what the output held before.
///
/// The values of the operands are taken as they are; that they are of the program's type is the
/// caller's to know. The result does not depend on the number of threads: each element is summed
/// by one of them in one order.
///
/// # Errors
/// The mistakes of [`Extents::from_shapes`], also for what the output held; `StatementUnsupported`
/// for merged modes.
pub fn evaluate<T: Element>(
    program: &Program,
    operands: &[ArrayViewD<'_, T>],
) -> Result<Evaluation, Diagnostics> {
    in_order(program, operands, |statement, extents, tensors| {
        let nest = nest::Nest::choose(program, statement, extents);
        let values = packed::of_values(statement, tensors, &nest);
        let sums = match accumulator(program, statement) {
            Dtype::F16 | Dtype::BF16 | Dtype::F32 => sum_products::<f64>(&nest, &values)?,
            Dtype::F64 => sum_products::<DoubleDouble>(&nest, &values)?,
        };
        if !statement.factors().iter().any(|factor| tensors[factor.tensor.0].is_computed()) {
            return Ok(sums);
        }
        let magnitudes = packed::of_magnitudes(statement, tensors, &nest);
        Ok(Sums { magnitudes: sum_products::<f64>(&nest, &magnitudes)?.values, ..sums })
    })
}

/// The type that a kernel accumulates a statement in.
fn accumulator(program: &Program, statement: &Statement) -> Dtype {
    program.tensor(statement.target.tensor).dtype.accumulator()
}

/// Evaluates the statements in order; `evaluated` does one of them on the tensors that are there.
fn in_order<T: Element>(
    program: &Program,
    operands: &[ArrayViewD<'_, T>],
    evaluated: impl Fn(&Statement, &Extents, &[Held]) -> Result<Sums, Diagnostic>,
) -> Result<Evaluation, Diagnostics> {
    let has_merged = program.modes.iter().any(|mode| mode.parts.len() != 1);
    let Some(last) = program.statements.last().filter(|_| !has_merged) else {
        let message = "the oracle evaluates statements over unmerged modes";
        return Err(Diagnostic::new(Code::StatementUnsupported, message).into());
    };
    let (operands, before) = match operands.split_last() {
        Some((before, operands)) if last.accumulates => (operands, Some(before)),
        Some(_) | None => (operands, None),
    };
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape()).collect();
    let extents = Extents::from_shapes(program, &shapes)?;
    if let Some(before) = before {
        extents.output_fits(program, before.shape())?;
    }
    let mut tensors = Held::operands(program, operands);
    for statement in &program.statements {
        let sums = evaluated(statement, &extents, &tensors)?;
        let factors = statement.factors();
        let inner = factors.iter().map(|factor| tensors[factor.tensor.0].n_terms);
        let n_terms = inner.fold(n_terms(program, statement, &extents), u64::saturating_mul);
        let mut written = Held::result(sums, n_terms);
        if let Some(before) = before.filter(|_| statement.accumulates) {
            written.add(before);
        }
        tensors[statement.target.tensor.0] = written;
    }
    Ok(Held::into_evaluation(tensors, program, last.target.tensor))
}

/// Terms of each of a statement's sums; 1 where nothing is summed.
fn n_terms(program: &Program, statement: &Statement, extents: &Extents) -> u64 {
    let modes = statement.reduced.iter().map(|mode| extents.of_mode(program.mode(*mode)));
    modes.fold(1, u64::saturating_mul)
}
