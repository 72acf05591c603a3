//! Extents from the shapes of the operands.

use super::bind::{Bindings, Origin};
use super::{Extents, sizes};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::{Program, TensorId, TensorKind};

/// Binds every label of `program` from the inputs' `shapes`.
pub(super) fn bind(program: &Program, shapes: &[&[usize]]) -> Result<Extents, Diagnostics> {
    let inputs: Vec<TensorId> = program.tensors_of(TensorKind::Input).map(|(id, _)| id).collect();
    operand_count(inputs.len(), shapes.len())?;
    ranks(program, &inputs, shapes)?;

    let mut bindings = Bindings::new(program);
    for (operand_idx, (input, shape)) in inputs.iter().zip(shapes).enumerate() {
        for (dim, (label, extent)) in labels(program, *input).iter().zip(*shape).enumerate() {
            bindings.bind(label, *extent as u64, Origin::Operand { operand_idx, dim });
        }
    }
    for same in &program.same_extents {
        let operand_idx = inputs.iter().position(|input| *input == same.tensor);
        let before = &program.tensor(same.tensor).dims[..same.dim];
        let dim = before.iter().map(|mode| program.mode(*mode).parts.len()).sum();
        if let Some(operand_idx) = operand_idx
            && let Some(extent) = shapes[operand_idx].get(dim)
        {
            let origin = Origin::Operand { operand_idx, dim };
            bindings.bind(&program.mode(same.other).name, *extent as u64, origin);
        }
    }
    if bindings.mistakes.is_empty() {
        return sizes::checked(program, bindings.finish());
    }
    Err(Diagnostics(bindings.mistakes.into_values().collect()))
}

/// The labels of a tensor's dimensions as the user wrote them, also where modes are merged.
fn labels(program: &Program, tensor: TensorId) -> Vec<&str> {
    let dims = program.tensor(tensor).dims.iter();
    let parts = dims.flat_map(|mode| &program.mode(*mode).parts);
    parts.map(|part| part.label.as_str()).collect()
}

fn operand_count(n_terms: usize, n_operands: usize) -> Result<(), Diagnostics> {
    if n_terms == n_operands {
        return Ok(());
    }
    let terms = if n_terms == 1 { "operand" } else { "operands" };
    let message = format!("the notation has {n_terms} {terms} but {n_operands} are given");
    Err(Diagnostic::new(Code::OperandCount, message).help(format!("give {n_terms}")).into())
}

fn ranks(program: &Program, inputs: &[TensorId], shapes: &[&[usize]]) -> Result<(), Diagnostics> {
    let mut mistakes = Vec::new();
    for (operand_idx, (input, shape)) in inputs.iter().zip(shapes).enumerate() {
        let (n_labels, rank) = (labels(program, *input).len(), shape.len());
        if n_labels == rank {
            continue;
        }
        let noun = if n_labels == 1 { "label" } else { "labels" };
        let message = format!("operand {operand_idx} has {n_labels} {noun} but rank {rank}");
        let help = match word_of(&program.notation, operand_idx) {
            Some(word) => format!(
                "labels are single letters, so `{word}` is {} labels; write one letter a mode",
                word.len()
            ),
            None => "write one label for each mode of the operand".to_owned(),
        };
        let place = format!("operand {operand_idx}");
        mistakes.push(Diagnostic::new(Code::RankMismatch, message).place(place).help(help));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}

/// Three or more adjacent letters in a term of the classic form, which may be meant as a name
/// (rule R8).
fn word_of(notation: &str, operand_idx: usize) -> Option<&str> {
    let inputs = notation.split("->").next()?;
    let term = inputs.split(',').nth(operand_idx)?;
    let is_classic = !notation.contains('[');
    term.split(' ').find(|word| word.len() >= 3).filter(|_| is_classic)
}
