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

/// Each output label stands once in the output and at least once in an input. One that no input
/// has is told once, however often it stands there.
fn output_labels(output: &[&Label], inputs: &[&Label]) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    for (position, label) in output.iter().enumerate() {
        let name = &label.name;
        let place = format!("output, label {position}");
        let first = output[..position].iter().find(|earlier| earlier.name == *name);
        let is_known = has(inputs, name);
        if let Some(first) = first.filter(|_| is_known) {
            let message = format!("label `{name}` stands twice in the output");
            let mistake = Diagnostic::new(Code::DuplicateOutputLabel, message)
                .at(label.span)
                .place(place)
                .note(first.span, "the first stands here");
            mistakes.push(mistake.help(format!("keep one `{name}`")));
        } else if first.is_none() && !is_known {
            let message = format!("label `{name}` is in the output but in no operand");
            let mistake =
                Diagnostic::new(Code::UnknownOutputLabel, message).at(label.span).place(place);
            mistakes.push(mistake.help(unknown_help(name, inputs)));
        }
    }
    mistakes
}

fn unknown_help(name: &str, inputs: &[&Label]) -> String {
    case_help(name, inputs).unwrap_or_else(|| format!("remove `{name}`, or give it to an operand"))
}

/// What to do about a label that an operand has in the other case.
fn case_help(name: &str, inputs: &[&Label]) -> Option<String> {
    let label = inputs.iter().find(|label| label.name.eq_ignore_ascii_case(name))?;
    Some(format!("labels are case-sensitive: write `{}` for `{name}`", label.name))
}

/// Each reduced label stands once in the sum, in an access and not in the output. Of several
/// mistakes with one label the first is told.
fn reductions(reduced: &[Label], output: &[&Label], inputs: &[&Label]) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    for (position, label) in reduced.iter().enumerate() {
        let name = &label.name;
        let n_before = reduced[..position].iter().filter(|earlier| earlier.name == *name).count();
        let is_right = has(inputs, name) && !has(output, name);
        let problem = match (n_before, is_right) {
            (1, true) => format!("label `{name}` is reduced twice"),
            (0, false) if has(output, name) => {
                format!("label `{name}` is reduced but is in the output")
            }
            (0, false) => format!("label `{name}` is reduced but is in no operand"),
            (0, true) | (1.., _) => continue,
        };
        let misspelt = case_help(name, inputs).filter(|_| !has(inputs, name));
        let mistake = Diagnostic::new(Code::BadReduction, problem).at(label.span);
        let help = misspelt.unwrap_or_else(|| format!("remove `{name}` from the sum"));
        mistakes.push(mistake.place(format!("reduction, label {position}")).help(help));
    }
    mistakes
}

/// Each label of a factor is in the output or reduced; a label is told once. One that the output
/// or the sum has in the other case was told as a mistake of theirs.
fn unbound_modes(statement: &Statement, output: &[&Label], inputs: &[&Label]) -> Vec<Diagnostic> {
    let bound: Vec<&Label> = output.iter().copied().chain(&statement.reduced).collect();
    let is_misspelt = |name: &str| {
        let mut unknown = bound.iter().filter(|label| !has(inputs, &label.name));
        unknown.any(|label| label.name.eq_ignore_ascii_case(name))
    };
    let mut unbound: Vec<(&Label, String)> = Vec::new();
    for (operand_idx, factor) in statement.factors.iter().enumerate() {
        for (position, label) in factor.labels.iter().enumerate() {
            let is_told = unbound.iter().any(|(told, _)| told.name == label.name);
            if !is_told && !has(&bound, &label.name) && !is_misspelt(&label.name) {
                unbound.push((label, format!("operand {operand_idx}, label {position}")));
            }
        }
    }
    let is_right = |label: &&Label| has(inputs, &label.name) && !has(output, &label.name);
    let reduced = statement.reduced.iter().filter(is_right);
    let reduced = reduced.chain(unbound.iter().map(|(label, _)| *label));
    let names: Vec<&str> = reduced.map(|label| label.name.as_str()).collect();
    let help = format!("write `sum({})` before the product", names.join(","));
    let mistake = |(label, place): (&Label, String)| {
        let message = format!("label `{}` is neither in the output nor reduced", label.name);
        Diagnostic::new(Code::UnboundMode, message).at(label.span).place(place).help(help.clone())
    };
    unbound.into_iter().map(mistake).collect()
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
