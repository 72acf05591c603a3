//! What `...` stands for, once the ranks of the operands are known (rule R12): the modes that an
//! operand has beyond its labels, aligned at the right. They are named `e0`, `e1`, ... from the
//! outermost of the longest ellipsis; no label of the classic form has two characters.

use std::ops::Range;

use super::desugar::labels_that_stand_once;
use super::{Classic, Item, Label, Term};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span};

/// `classic` with labels for every `...`, and the output written out.
///
/// # Errors
/// `EllipsisUnsupported` without `ranks`, `OperandCount` and `RankMismatch` where they do not fit
/// the terms, `EllipsisDropped` for an output that lacks the modes.
pub(crate) fn spelled_out(
    classic: &Classic,
    ranks: Option<&[usize]>,
) -> Result<Classic, Diagnostics> {
    let terms = classic.operands.iter().chain(&classic.output);
    let places: Vec<Span> = terms.filter_map(Term::ellipsis).collect();
    let [first, others @ ..] = places.as_slice() else { return Ok(classic.clone()) };
    let Some(ranks) = ranks else { return Err(unsupported(*first, others).into()) };
    let lengths = lengths(classic, ranks)?;
    let longest = lengths.iter().copied().max().unwrap_or(0);
    let operands = classic.operands.iter().zip(&lengths);
    let operands: Vec<Term> =
        operands.map(|(term, length)| spelled_term(term, longest - length..longest)).collect();
    let output = match &classic.output {
        Some(output) if output.ellipsis().is_none() && longest > 0 => {
            return Err(dropped(output, longest, *first).into());
        }
        Some(output) => spelled_term(output, 0..longest),
        None => implicit_output(classic, longest, *first),
    };
    Ok(Classic { operands, output: Some(output) })
}

/// The modes that each operand's ellipsis stands for; none where it has none.
fn lengths(classic: &Classic, ranks: &[usize]) -> Result<Vec<usize>, Diagnostics> {
    let n_operands = classic.operands.len();
    if ranks.len() != n_operands {
        let operands = if n_operands == 1 { "operand" } else { "operands" };
        let n_given = ranks.len();
        let message =
            format!("the notation has {n_operands} {operands} but ranks are given for {n_given}");
        let mistake = Diagnostic::new(Code::OperandCount, message);
        return Err(mistake.help("give one rank for each operand").into());
    }
    let mut mistakes = Vec::new();
    let mut lengths = Vec::new();
    for (operand_idx, (term, rank)) in classic.operands.iter().zip(ranks).enumerate() {
        let n_labels = term.labels().count();
        match (term.ellipsis(), rank.checked_sub(n_labels)) {
            (Some(_), Some(length)) => lengths.push(length),
            // A term without an ellipsis is compared with its rank like that of any notation.
            (None, _) => lengths.push(0),
            (Some(_), None) => {
                let noun = if n_labels == 1 { "label" } else { "labels" };
                let message = format!(
                    "operand {operand_idx} has {n_labels} {noun} beside `...` but rank {rank}"
                );
                let mistake = Diagnostic::new(Code::RankMismatch, message).at(term.span);
                let help = format!("give operand {operand_idx} a rank of {n_labels} or more");
                mistakes.push(mistake.place(format!("operand {operand_idx}")).help(help));
            }
        }
    }
    if mistakes.is_empty() { Ok(lengths) } else { Err(Diagnostics(mistakes)) }
}

fn spelled_term(term: &Term, modes: Range<usize>) -> Term {
    let items = term.items.iter().flat_map(|item| match item {
        Item::Label(label) => vec![Item::Label(label.clone())],
        Item::Ellipsis(span) => modes.clone().map(|mode| Item::Label(named(mode, *span))).collect(),
    });
    Term { items: items.collect(), span: term.span }
}

fn named(mode: usize, span: Span) -> Label {
    Label { name: format!("e{mode}"), span }
}

/// The modes of the ellipsis, then the labels that stand once over all inputs, as in numpy.
fn implicit_output(classic: &Classic, longest: usize, ellipsis: Span) -> Term {
    let modes = (0..longest).map(|mode| named(mode, ellipsis));
    let labels = modes.chain(labels_that_stand_once(classic));
    let end = classic.operands.last().map_or(0, |term| term.span.end);
    Term { items: labels.map(Item::Label).collect(), span: Span::new(end, end) }
}

fn unsupported(first: Span, others: &[Span]) -> Diagnostic {
    let message = "`...` needs the ranks of the operands, which are not known here";
    let mistake = Diagnostic::new(Code::EllipsisUnsupported, message)
        .at(first)
        .place(format!("byte {}", first.start))
        .help("give one rank an operand, as in `ranks = (3, 4)`, or write labels for `...`");
    others.iter().fold(mistake, |mistake, span| mistake.note(*span, "and here"))
}

fn dropped(output: &Term, longest: usize, first: Span) -> Diagnostic {
    let noun = if longest == 1 { "mode" } else { "modes" };
    let message = format!("`...` stands for {longest} {noun} but is not in the output");
    Diagnostic::new(Code::EllipsisDropped, message)
        .at(output.span)
        .place("output")
        .note(first, "an ellipsis stands here")
        .help("write `...` in the output, or labels for the modes that are to be summed")
}
