//! A classic einsum is sugar for one statement of the index form: operands get the names `A`,
//! `B`, ..., the output is made explicit, and every label that is not in it is summed (rule R11).

use std::collections::BTreeMap;

use super::{Access, Classic, Label, Statement, Term};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span};

/// The statement that `classic` stands for. Spans still point into the classic text.
///
/// # Errors
/// `EllipsisUnsupported`: what `...` stands for follows from the operands' ranks, which the text
/// does not have (rule R12).
pub(crate) fn desugar(classic: &Classic) -> Result<Statement, Diagnostics> {
    no_ellipsis(classic)?;
    let labels: Vec<&Label> = classic.operands.iter().flat_map(|term| term.labels()).collect();
    let output: Vec<Label> = match &classic.output {
        Some(term) => term.labels().cloned().collect(),
        None => implicit_output(&labels),
    };
    let mut reduced: Vec<Label> = Vec::new();
    for label in labels {
        let is_known = output.iter().chain(&reduced).any(|known| known.name == label.name);
        if !is_known {
            reduced.push(label.clone());
        }
    }
    let operands = classic.operands.iter().enumerate();
    let factors = operands.map(|(operand_idx, term)| access(operand_name(operand_idx), term));
    let last_term = classic.output.as_ref().or(classic.operands.last());
    let span = last_term.map_or(Span::new(0, 0), |term| term.span);
    let tensor = Label { name: "out".to_owned(), span };
    Ok(Statement { target: Access { tensor, labels: output }, reduced, factors: factors.collect() })
}

fn access(name: String, term: &Term) -> Access {
    let tensor = Label { name, span: term.span };
    Access { tensor, labels: term.labels().cloned().collect() }
}

/// `A` to `Z`, then `A1` to `Z1`, and so on.
fn operand_name(operand_idx: usize) -> String {
    let letter = ('A'..='Z').nth(operand_idx % 26).unwrap_or('A');
    match operand_idx / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// Labels that stand exactly once over all inputs, in ASCII order (rule R5). The ordered map
/// gives the order.
fn implicit_output(labels: &[&Label]) -> Vec<Label> {
    let mut counts: BTreeMap<&str, (usize, &Label)> = BTreeMap::new();
    for label in labels {
        counts.entry(&label.name).or_insert((0, label)).0 += 1;
    }
    counts.into_values().filter(|(n, _)| *n == 1).map(|(_, label)| label.clone()).collect()
}

fn no_ellipsis(classic: &Classic) -> Result<(), Diagnostics> {
    let terms = classic.operands.iter().chain(&classic.output);
    let mut ellipses = terms.filter_map(Term::ellipsis);
    let Some(first) = ellipses.next() else { return Ok(()) };
    let message = "`...` needs the ranks of the operands, which are not known here";
    let mistake = Diagnostic::new(Code::EllipsisUnsupported, message)
        .at(first)
        .place(format!("byte {}", first.start))
        .help("write a label for each mode that `...` stands for");
    Err(ellipses.fold(mistake, |mistake, span| mistake.note(span, "and here")).into())
}
