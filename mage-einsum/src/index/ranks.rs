//! Whether operands have as many dimensions as the notation has labels (rules R7 and R8). Lowering
//! asks about the option `ranks`, binding about the shapes of a run.

use super::{Program, TensorId};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};

/// Checks that there is one rank an input and that it is the number of its labels.
pub(crate) fn ranks_fit(program: &Program, ranks: &[usize]) -> Result<(), Diagnostics> {
    let inputs: Vec<TensorId> = program.given().map(|(id, _)| id).collect();
    if inputs.len() != ranks.len() {
        return Err(operand_count(&program.notation, inputs.len(), ranks.len()).into());
    }
    let mut mistakes = Vec::new();
    for (operand_idx, (input, rank)) in inputs.into_iter().zip(ranks).enumerate() {
        let n_labels = labels_of(program, input).len();
        if n_labels != *rank {
            mistakes.push(rank_mismatch(program, operand_idx, n_labels, *rank));
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}

/// The labels of a tensor's dimensions as the user wrote them, also where modes are merged.
pub(crate) fn labels_of(program: &Program, tensor: TensorId) -> Vec<&str> {
    let dims = program.tensor(tensor).dims.iter();
    let parts = dims.flat_map(|mode| &program.mode(*mode).parts);
    parts.map(|part| part.label.as_str()).collect()
}

fn operand_count(notation: &str, n_terms: usize, n_operands: usize) -> Diagnostic {
    let terms = if n_terms == 1 { "operand" } else { "operands" };
    let are = if n_operands == 1 { "is" } else { "are" };
    let message = format!("the notation has {n_terms} {terms} but {n_operands} {are} given");
    let inputs = notation.split("->").next().unwrap_or(notation);
    let is_spaced = !notation.contains(['[', ',']) && inputs.split_whitespace().count() > 1;
    Diagnostic::new(Code::OperandCount, message).help(match is_spaced {
        true => "separate operands by commas; spaces mean nothing",
        false => "give one for each operand of the notation",
    })
}

fn rank_mismatch(
    program: &Program,
    operand_idx: usize,
    n_labels: usize,
    rank: usize,
) -> Diagnostic {
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
    Diagnostic::new(Code::RankMismatch, message).place(place).help(help)
}

/// Three or more adjacent letters in a term of the classic form, which may be meant as a name
/// (rule R8).
fn word_of(notation: &str, operand_idx: usize) -> Option<&str> {
    let inputs = notation.split("->").next()?;
    let term = inputs.split(',').nth(operand_idx)?;
    let is_classic = !notation.contains('[');
    let mut words = term.split(|c: char| !c.is_ascii_alphabetic());
    words.find(|word| word.len() >= 3).filter(|_| is_classic)
}
