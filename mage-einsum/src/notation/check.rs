//! The rules on labels that hold for the text alone, before any extent is known: which labels the
//! output may have (rule R6) and which the sum takes.

use super::{Access, Classic, Label, Statement};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};

/// Checks the output of the classic form.
pub(super) fn classic(classic: &Classic) -> Result<(), Diagnostics> {
    let inputs: Vec<&Label> = classic.operands.iter().flat_map(|term| term.labels()).collect();
    let output: Vec<&Label> = classic.output.iter().flat_map(|term| term.labels()).collect();
    all_or(output_labels(&output, &inputs))
}

/// Checks every statement of the index form.
pub(super) fn statements(statements: &[Statement]) -> Result<(), Diagnostics> {
    all_or(statements.iter().flat_map(statement).collect())
}

fn all_or(mistakes: Vec<Diagnostic>) -> Result<(), Diagnostics> {
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}

fn statement(statement: &Statement) -> Vec<Diagnostic> {
    let inputs: Vec<&Label> = statement.factors.iter().flat_map(|factor| &factor.labels).collect();
    let output: Vec<&Label> = statement.target.labels.iter().collect();
    let mut mistakes = output_labels(&output, &inputs);
    mistakes.extend(reductions(&statement.reduced, &output, &inputs));
    mistakes.extend(unbound_modes(statement, &output, &inputs));
    mistakes.extend(tensors(statement));
    mistakes
}

fn has(labels: &[&Label], name: &str) -> bool {
    labels.iter().any(|label| label.name == name)
}

/// Each output label stands once in the output and at least once in an input.
fn output_labels(output: &[&Label], inputs: &[&Label]) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    for (position, label) in output.iter().enumerate() {
        let name = &label.name;
        let place = format!("output, label {position}");
        let first = output[..position].iter().find(|earlier| earlier.name == *name);
        if let Some(first) = first {
            let message = format!("label `{name}` stands twice in the output");
            let mistake = Diagnostic::new(Code::DuplicateOutputLabel, message)
                .at(label.span)
                .place(place)
                .note(first.span, "the first stands here");
            mistakes.push(mistake.help(format!("keep one `{name}`")));
        } else if !has(inputs, name) {
            let message = format!("label `{name}` is in the output but in no operand");
            let mistake =
                Diagnostic::new(Code::UnknownOutputLabel, message).at(label.span).place(place);
            mistakes.push(mistake.help(unknown_help(name, inputs)));
        }
    }
    mistakes
}

fn unknown_help(name: &str, inputs: &[&Label]) -> String {
    let other_case = inputs.iter().find(|label| label.name.eq_ignore_ascii_case(name));
    match other_case {
        Some(label) => format!("labels are case-sensitive: write `{}` for `{name}`", label.name),
        None => format!("remove `{name}`, or give it to an operand"),
    }
}

/// Each reduced label stands once in the sum, in an access and not in the output.
fn reductions(reduced: &[Label], output: &[&Label], inputs: &[&Label]) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    for (position, label) in reduced.iter().enumerate() {
        let name = &label.name;
        let problem = if reduced[..position].iter().any(|earlier| earlier.name == *name) {
            format!("label `{name}` is reduced twice")
        } else if has(output, name) {
            format!("label `{name}` is reduced but is in the output")
        } else if !has(inputs, name) {
            format!("label `{name}` is reduced but is in no access")
        } else {
            continue;
        };
        let mistake = Diagnostic::new(Code::BadReduction, problem).at(label.span);
        let place = format!("reduction, label {position}");
        mistakes.push(mistake.place(place).help(format!("remove `{name}` from the sum")));
    }
    mistakes
}

/// Each label of a factor is in the output or reduced; a label is told once. One that the output
/// has in the other case was told as the output's mistake.
fn unbound_modes(statement: &Statement, output: &[&Label], inputs: &[&Label]) -> Vec<Diagnostic> {
    let is_misspelt = |name: &str| {
        let mut unknown = output.iter().filter(|label| !has(inputs, &label.name));
        unknown.any(|label| label.name.eq_ignore_ascii_case(name))
    };
    let reduced: Vec<&Label> = statement.reduced.iter().collect();
    let mut told: Vec<&Label> = Vec::new();
    let mut mistakes = Vec::new();
    for (operand_idx, factor) in statement.factors.iter().enumerate() {
        for (position, label) in factor.labels.iter().enumerate() {
            let name = &label.name;
            let is_bound = has(output, name) || has(&reduced, name);
            if is_bound || has(&told, name) || is_misspelt(name) {
                continue;
            }
            told.push(label);
            let message = format!("label `{name}` is neither in the output nor reduced");
            let mistake = Diagnostic::new(Code::UnboundMode, message)
                .at(label.span)
                .place(format!("operand {operand_idx}, label {position}"));
            mistakes.push(mistake.help(format!("write `sum({name})` before the product")));
        }
    }
    mistakes
}

/// The target is not read, and a tensor that is read twice has one rank.
fn tensors(statement: &Statement) -> Vec<Diagnostic> {
    let target = &statement.target.tensor;
    let mut mistakes = Vec::new();
    for (operand_idx, factor) in statement.factors.iter().enumerate() {
        let name = &factor.tensor.name;
        let earlier = statement.factors[..operand_idx].iter().find(|f| f.tensor.name == *name);
        let mistake = if *name == target.name {
            let message = format!("tensor `{name}` is both read and written");
            Diagnostic::new(Code::SelfReference, message)
                .note(target.span, "written here")
                .help("give the output a name of its own")
        } else if let Some(earlier) = earlier.filter(|f| f.labels.len() != factor.labels.len()) {
            rank_conflict(factor, earlier)
        } else {
            continue;
        };
        mistakes.push(mistake.at(factor.tensor.span).place(format!("operand {operand_idx}")));
    }
    mistakes
}

fn rank_conflict(factor: &Access, earlier: &Access) -> Diagnostic {
    let (name, here, there) = (&factor.tensor.name, factor.labels.len(), earlier.labels.len());
    let message = format!("tensor `{name}` has {here} labels here but {there} before");
    Diagnostic::new(Code::RankMismatch, message)
        .note(earlier.tensor.span, "the first access")
        .help("give both accesses one label a dimension")
}
