//! The classic form, `ik,kj->ij`: terms separated by commas, then perhaps an arrow and the output
//! (rules R4 to R7).

use super::check;
use super::lexeme::{Lexeme, lexemes};
use super::{Classic, Item, Label, Term};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span};

/// Reads the whole text.
pub(super) fn parse(text: &str) -> Result<Classic, Diagnostics> {
    let lexemes = lexemes(text)?;
    let sides: Vec<&[(Lexeme, Span)]> =
        lexemes.split(|(lexeme, _)| *lexeme == Lexeme::Arrow).collect();
    let arrows: Vec<Span> = places(&lexemes, Lexeme::Arrow);
    let mut mistakes = Vec::new();

    let inputs = sides.first().copied().unwrap_or_default();
    let inputs_end = arrows.first().map_or(text.len(), |arrow| arrow.start);
    let operands = terms(inputs, inputs_end);
    let output = sides.get(1).map(|side| {
        mistakes.extend(comma_in_output(side));
        let end = arrows.get(1).map_or(text.len(), |arrow| arrow.start);
        term(side, end)
    });
    mistakes.extend(second_arrow(&arrows));
    for (operand_idx, operand) in operands.iter().enumerate() {
        mistakes.extend(second_ellipsis(operand, &format!("operand {operand_idx}")));
    }
    if let Some(output) = &output {
        mistakes.extend(second_ellipsis(output, "output"));
    }
    if mistakes.is_empty() {
        let classic = Classic { operands, output };
        check::classic(&classic)?;
        return Ok(classic);
    }
    Err(Diagnostics(mistakes))
}

fn places(lexemes: &[(Lexeme, Span)], wanted: Lexeme) -> Vec<Span> {
    lexemes.iter().filter(|(lexeme, _)| *lexeme == wanted).map(|(_, span)| *span).collect()
}

/// The terms of the input side; `end` is where the side ends.
fn terms(side: &[(Lexeme, Span)], end: usize) -> Vec<Term> {
    let mut ends: Vec<usize> =
        places(side, Lexeme::Comma).iter().map(|comma| comma.start).collect();
    ends.push(end);
    let between_commas = side.split(|(lexeme, _)| *lexeme == Lexeme::Comma);
    between_commas.zip(ends).map(|(lexemes, end)| term(lexemes, end)).collect()
}

/// One term. An empty one is the point at its `end`.
fn term(lexemes: &[(Lexeme, Span)], end: usize) -> Term {
    let item = |(lexeme, span): &(Lexeme, Span)| match lexeme {
        Lexeme::Letter(letter) => {
            Some(Item::Label(Label { name: letter.to_string(), span: *span }))
        }
        Lexeme::Ellipsis => Some(Item::Ellipsis(*span)),
        Lexeme::Comma | Lexeme::Arrow => None,
    };
    let span = match (lexemes.first(), lexemes.last()) {
        (Some((_, first)), Some((_, last))) => Span::new(first.start, last.end),
        (None, _) | (_, None) => Span::new(end, end),
    };
    Term { items: lexemes.iter().filter_map(item).collect(), span }
}

fn comma_in_output(output: &[(Lexeme, Span)]) -> Option<Diagnostic> {
    let comma = *places(output, Lexeme::Comma).first()?;
    let mistake = Diagnostic::new(Code::CommaInOutput, "there is a comma in the output")
        .at(comma)
        .place(format!("output, byte {}", comma.start))
        .help("write the labels of the output without commas");
    Some(mistake)
}

fn second_arrow(arrows: &[Span]) -> Option<Diagnostic> {
    let second = *arrows.get(1)?;
    let mistake = Diagnostic::new(Code::SecondArrow, "there is a second `->`")
        .at(second)
        .place(format!("byte {}", second.start))
        .note(*arrows.first()?, "the first stands here")
        .help("keep one `->`, before the output");
    Some(mistake)
}

fn second_ellipsis(term: &Term, place: &str) -> Option<Diagnostic> {
    let mut ellipses = term.items.iter().filter_map(|item| match item {
        Item::Ellipsis(span) => Some(*span),
        Item::Label(_) => None,
    });
    let (first, second) = (ellipses.next()?, ellipses.next()?);
    let mistake = Diagnostic::new(Code::BadEllipsis, "there is a second `...` in one term")
        .at(second)
        .place(format!("{place}, byte {}", second.start))
        .note(first, "the first stands here")
        .help("keep one `...` in a term");
    Some(mistake)
}
