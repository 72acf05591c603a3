//! The rules on labels that hold for the text alone, before any extent is known: which labels the
//! output may have (rule R6) and which the sum takes.

use super::{Access, Classic, Expr, Label, Reduction, Statement, order};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};

/// Checks the output of the classic form.
pub(super) fn classic(classic: &Classic) -> Result<(), Diagnostics> {
    let inputs: Vec<&Label> = classic.operands.iter().flat_map(|term| term.labels()).collect();
    let output: Vec<&Label> = classic.output.iter().flat_map(|term| term.labels()).collect();
    all_or(output_labels(&output, &inputs))
}

/// Checks every statement of the index form.
pub(super) fn statements(statements: &[Statement]) -> Result<(), Diagnostics> {
    all_or(statements.iter().flat_map(statement).collect())?;
    all_or(order::mistakes(statements))
}

fn all_or(mistakes: Vec<Diagnostic>) -> Result<(), Diagnostics> {
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}

fn statement(statement: &Statement) -> Vec<Diagnostic> {
    let inputs: Vec<&Label> = statement.value.labels();
    let output: Vec<&Label> = statement.target.labels().collect();
    let mut mistakes = output_labels(&output, &inputs);
    for reduced in reductions_in(&statement.value) {
        mistakes.extend(reductions(&reduced, &output));
    }
    mistakes.extend(unbound_modes(statement, &output, &inputs));
    mistakes.extend(tensors(statement));
    mistakes
}

/// A reduction at its place in a statement.
struct Reduced<'s> {
    labels: &'s [Label],
    /// The labels of what it reduces.
    inputs: Vec<&'s Label>,
    /// The labels that reductions around it have reduced.
    around: Vec<&'s Label>,
}

fn reductions_in(value: &Expr) -> Vec<Reduced<'_>> {
    fn collect<'s>(value: &'s Expr, around: &[&'s Label], into: &mut Vec<Reduced<'s>>) {
        let mut within = around.to_vec();
        if let Expr::Reduction(Reduction { labels, .. }, inner) = value {
            let (inputs, around) = (inner.labels(), around.to_vec());
            into.push(Reduced { labels, inputs, around });
            within.extend(labels);
        }
        value.parts().into_iter().for_each(|part| collect(part, &within, into));
    }
    let mut found = Vec::new();
    collect(value, &[], &mut found);
    found
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

/// Each reduced label stands once in the reduction, in an access and not in the output, nor in a
/// reduction around this one. Of several mistakes with one label the first is told.
fn reductions(
    Reduced { labels, inputs, around }: &Reduced<'_>,
    output: &[&Label],
) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    for (position, label) in labels.iter().enumerate() {
        let name = &label.name;
        let n_before = labels[..position].iter().filter(|earlier| earlier.name == *name).count();
        let is_taken = has(output, name) || has(around, name);
        let is_right = has(inputs, name) && !is_taken;
        let problem = match (n_before, is_right) {
            (1, true) => format!("label `{name}` is reduced twice"),
            (0, false) if has(output, name) => {
                format!("label `{name}` is reduced but is in the output")
            }
            (0, false) if is_taken => {
                format!("label `{name}` is reduced within a reduction of `{name}`")
            }
            (0, false) => format!("label `{name}` is reduced but is in no operand"),
            (0, true) | (1.., _) => continue,
        };
        let misspelt = case_help(name, inputs).filter(|_| !has(inputs, name));
        let mistake = Diagnostic::new(Code::BadReduction, problem).at(label.span);
        let help = misspelt.unwrap_or_else(|| match is_taken {
            true => {
                format!("give the reduced mode a label of its own, or remove `{name}` from the sum")
            }
            false => format!("remove `{name}` from the sum"),
        });
        mistakes.push(mistake.place(format!("reduction, label {position}")).help(help));
    }
    mistakes
}

/// An access or a range with what the reductions around it have bound.
struct Read<'s> {
    labels: Vec<&'s Label>,
    bound: Vec<&'s Label>,
}

fn reads(value: &Expr) -> Vec<Read<'_>> {
    fn collect<'s>(value: &'s Expr, bound: &[&'s Label], into: &mut Vec<Read<'s>>) {
        let mut within = bound.to_vec();
        if let Expr::Access(access) = value {
            into.push(Read { labels: access.labels().collect(), bound: bound.to_vec() });
        }
        if let Expr::Reduction(Reduction { labels, range, .. }, _) = value {
            within.extend(labels);
            let row = range.iter().map(|range| &range.row).collect();
            into.push(Read { labels: row, bound: bound.to_vec() });
        }
        value.parts().into_iter().for_each(|part| collect(part, &within, into));
    }
    let mut found = Vec::new();
    collect(value, &[], &mut found);
    found.retain(|read| !read.labels.is_empty());
    found
}

/// Each label of an access is in the output or reduced around it; a label is told once. One that the
/// output or a reduction has in the other case was told as a mistake of theirs.
fn unbound_modes(statement: &Statement, output: &[&Label], inputs: &[&Label]) -> Vec<Diagnostic> {
    let all_reduced = reductions_in(&statement.value);
    let reduced: Vec<&Label> = all_reduced.iter().flat_map(|reduced| reduced.labels).collect();
    let is_misspelt = |name: &str| {
        let mut unknown = output.iter().chain(&reduced).filter(|label| !has(inputs, &label.name));
        unknown.any(|label| label.name.eq_ignore_ascii_case(name))
    };
    let mut unbound: Vec<(&Label, String)> = Vec::new();
    for (operand_idx, read) in reads(&statement.value).into_iter().enumerate() {
        for (position, label) in read.labels.iter().enumerate() {
            let is_told = unbound.iter().any(|(told, _)| told.name == label.name);
            let is_bound = has(output, &label.name) || has(&read.bound, &label.name);
            if !is_told && !is_bound && !is_misspelt(&label.name) {
                unbound.push((label, format!("operand {operand_idx}, label {position}")));
            }
        }
    }
    let is_right = |label: &&Label| has(inputs, &label.name) && !has(output, &label.name);
    let reduced = reduced.into_iter().filter(is_right);
    let mut names: Vec<&str> = Vec::new();
    for label in reduced.chain(unbound.iter().map(|(label, _)| *label)) {
        if !names.contains(&label.name.as_str()) {
            names.push(&label.name);
        }
    }
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
    let accesses = statement.value.accesses();
    for (operand_idx, factor) in accesses.iter().enumerate() {
        let name = &factor.tensor.name;
        let earlier = accesses[..operand_idx].iter().find(|f| f.tensor.name == *name);
        let mistake = if *name == target.name {
            let message = format!("tensor `{name}` is both read and written");
            Diagnostic::new(Code::SelfReference, message)
                .note(target.span, "written here")
                .help("give the output a name of its own")
        } else if let Some(earlier) = earlier.filter(|f| f.indices.len() != factor.indices.len()) {
            rank_conflict(factor, earlier)
        } else {
            continue;
        };
        mistakes.push(mistake.at(factor.tensor.span).place(format!("operand {operand_idx}")));
    }
    mistakes
}

fn rank_conflict(factor: &Access, earlier: &Access) -> Diagnostic {
    let (name, here, there) = (&factor.tensor.name, factor.indices.len(), earlier.indices.len());
    let message = format!("tensor `{name}` has {here} labels here but {there} before");
    Diagnostic::new(Code::RankMismatch, message)
        .note(earlier.tensor.span, "the first access")
        .help("give both accesses one label a dimension")
}
