//! The oracle: what the values of a program are, on the CPU, in f64 (rule R16; f64 programs in
//! pairs of f64), temporaries included. It takes the place of trust: kernels, the emulator and the
//! stand-in are compared with it. [`evaluate`] is quick; [`evaluate_by_tree`] is the definition
//! that it is tested against.

mod evaluation;
mod indices;
mod error;
mod lines;
mod node;
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
pub use tree::{evaluate_by_tree, evaluate_by_tree_indexed};

/// Evaluates `program`, before merging, on operands with any strides: one evaluation an output, in
/// their order. A program that accumulates takes, after its operands, what the output held before.
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
) -> Result<Vec<Evaluation>, Diagnostics> {
    evaluate_indexed(program, operands, &[])
}

/// The same for a program with index operands, which `indices` gives in their order.
///
/// # Errors
/// Those of [`evaluate`], and `IndexOutOfRange` for an index that is not below the extent that it
/// is an index of, and for row pointers that do not rise from 0 to the end of their mode.
pub fn evaluate_indexed<T: Element>(
    program: &Program,
    operands: &[ArrayViewD<'_, T>],
    indices: &[ArrayViewD<'_, u32>],
) -> Result<Vec<Evaluation>, Diagnostics> {
    in_order(program, (operands, indices), |statement, extents, tensors| {
        if !is_of_products(statement, tensors) {
            return lines::evaluate(program, statement, extents, tensors);
        }
        let nest = nest::Nest::choose(program, statement, extents);
        let values = packed::of_values(statement, tensors, &nest);
        let sums = match accumulator(program, statement) {
            Dtype::F16 | Dtype::BF16 | Dtype::F32 => sum_products::<f64>(&nest, &values)?,
            Dtype::F64 => sum_products::<DoubleDouble>(&nest, &values)?,
        };
        let n_terms = n_terms(program, statement, (extents, tensors));
        if !statement.factors().iter().any(|factor| tensors[factor.tensor.0].is_computed()) {
            return Ok(Held::products(sums, n_terms));
        }
        let magnitudes = packed::of_magnitudes(statement, tensors, &nest);
        let sums = Sums { magnitudes: sum_products::<f64>(&nest, &magnitudes)?.values, ..sums };
        Ok(Held::products(sums, n_terms))
    })
}

/// Whether a statement is a sum of products of what is made of sums and products.
fn is_of_products(statement: &Statement, tensors: &[Held]) -> bool {
    let factors = statement.factors();
    statement.is_sum_of_products()
        && factors.iter().all(|factor| tensors[factor.tensor.0].is_of_products())
}

/// The type that a kernel accumulates a statement in.
fn accumulator(program: &Program, statement: &Statement) -> Dtype {
    program.tensor(statement.target.tensor).dtype.accumulator()
}

/// Evaluates the statements in order; `evaluated` does one of them on the tensors that are there.
fn in_order<T: Element>(
    program: &Program,
    (operands, indices): (&[ArrayViewD<'_, T>], &[ArrayViewD<'_, u32>]),
    evaluated: impl Fn(&Statement, &Extents, &[Held]) -> Result<Held, Diagnostic>,
) -> Result<Vec<Evaluation>, Diagnostics> {
    let has_merged = program.modes.iter().any(|mode| mode.parts.len() != 1);
    let Some(last) = program.statements.last().filter(|_| !has_merged) else {
        let message = "the oracle evaluates statements over unmerged modes";
        return Err(Diagnostic::new(Code::StatementUnsupported, message).into());
    };
    let (operands, before) = match operands.split_last() {
        Some((before, operands)) if last.accumulates => (operands, Some(before)),
        Some(_) | None => (operands, None),
    };
    let shapes = operands.iter().map(|operand| operand.shape());
    let shapes: Vec<&[usize]> =
        shapes.chain(indices.iter().map(|indices| indices.shape())).collect();
    let extents = Extents::from_shapes(program, &shapes)?;
    indices::check(program, &extents, indices)?;
    if let Some(before) = before {
        extents.output_fits(program, before.shape())?;
    }
    let mut tensors = Held::operands(program, operands, indices);
    for statement in &program.statements {
        let mut written = evaluated(statement, &extents, &tensors)?;
        if let Some(before) = before.filter(|_| statement.accumulates) {
            written.add(before, program.tensor(statement.target.tensor).dtype);
        }
        tensors[statement.target.tensor.0] = written;
    }
    Ok(Held::into_evaluations(tensors, program))
}

/// Products of operands that each element of a statement's result is the sum of; 1 where nothing is
/// summed.
fn n_terms(
    program: &Program,
    statement: &Statement,
    (extents, tensors): (&Extents, &[Held]),
) -> u64 {
    let modes = statement.reduced.iter().map(|mode| extents.of_mode(program.mode(*mode)));
    let inner = statement.factors().into_iter().map(|factor| tensors[factor.tensor.0].n_terms());
    modes.chain(inner).fold(1, u64::saturating_mul)
}
