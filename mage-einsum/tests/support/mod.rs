//! What the tests of values share: text to program, program and operands to values.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]
#![allow(dead_code, reason = "each test file uses its part")]

use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics};
use mage_einsum::fill::{Fill, fill};
use mage_einsum::index::{Program, lower, verify};
use mage_einsum::notation::parse;
use mage_einsum::options;
use mage_einsum::oracle::{Evaluation, evaluate};
use ndarray::{ArrayD, ArrayViewD};

/// The program of `notation` under `options`; a program that was made is a program that verifies.
pub fn program_with(notation: &str, options: &str) -> Result<Program, Diagnostics> {
    let program = lower(&parse(notation)?, &options::parse(options)?)?;
    verify(&program).expect(notation);
    Ok(program)
}

/// The program of a notation that is right.
pub fn program(notation: &str) -> Program {
    program_with(notation, "").expect(notation)
}

/// An operand of hashed numbers.
pub fn filled(shape: &[usize], name: &str, seed: u32) -> ArrayD<f32> {
    let fill_kind = Fill::from_name(name).expect(name);
    let elements = fill(fill_kind, seed, shape.iter().product());
    ArrayD::from_shape_vec(shape, elements).expect("a shape and its elements")
}

/// An operand with the given elements.
pub fn array(shape: &[usize], elements: &[f32]) -> ArrayD<f32> {
    ArrayD::from_shape_vec(shape, elements.to_vec()).expect("a shape and its elements")
}

/// What the oracle says.
pub fn values_of(notation: &str, operands: &[ArrayViewD<'_, f32>]) -> Evaluation {
    evaluate(&program(notation), operands).expect(notation).remove(0)
}

/// The output's elements in row-major order, in f32.
pub fn elements(notation: &str, operands: &[ArrayViewD<'_, f32>]) -> Vec<f32> {
    values_of(notation, operands).rounded_to::<f32>().iter().copied().collect()
}

/// The first mistake.
pub fn first<T: std::fmt::Debug>(outcome: Result<T, Diagnostics>) -> Diagnostic {
    outcome.unwrap_err().0.remove(0)
}

/// Code and start of each mistake.
pub fn codes<T: std::fmt::Debug>(outcome: Result<T, Diagnostics>) -> Vec<(Code, Option<usize>)> {
    let mistakes = outcome.unwrap_err().0;
    mistakes.iter().map(|mistake| (mistake.code, mistake.span.map(|span| span.start))).collect()
}
