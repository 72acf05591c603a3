//! Mistakes with one obvious mend: the help then shows the whole mended text. What is obvious is
//! decided by the parser: a mend is shown only if the text is right with it.

use super::Notation;
use super::lexeme::is_arrow_part;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span, is_unseen};
use crate::token;

/// Adds the mended text to the help of a mistake that stands alone.
pub(super) fn with_mend(
    text: &str,
    Diagnostics(mistakes): Diagnostics,
    read: impl Fn(&str) -> Result<Notation, Diagnostics>,
) -> Diagnostics {
    let [mistake] = mistakes.as_slice() else { return Diagnostics(mistakes) };
    match mended(text, mistake).filter(|mended| read(mended).is_ok()) {
        Some(mended) => {
            let help = mistake.help.as_deref().unwrap_or("write it otherwise");
            Diagnostics(vec![mistake.clone().help(format!("{help}, as in `{mended}`"))])
        }
        None => Diagnostics(mistakes),
    }
}

fn mended(text: &str, mistake: &Diagnostic) -> Option<String> {
    let span = mistake.span?;
    match mistake.code {
        Code::BadChar | Code::BadEllipsis => replaced(text, mistake),
        Code::CommaInOutput => Some(without_commas(text, span)),
        Code::UnknownOutputLabel => {
            let right = other_case(text, span)?;
            Some([&text[..span.start], right, &text[span.end..]].concat())
        }
        Code::SecondArrow
        | Code::DuplicateOutputLabel
        | Code::EllipsisUnsupported
        | Code::EllipsisDropped
        | Code::Expected
        | Code::UnboundMode
        | Code::BadReduction
        | Code::SelfReference
        | Code::StatementUnsupported
        | Code::ScatterUnsupported
        | Code::StatementOrder
        | Code::UnknownFunction
        | Code::IndexOperand
        | Code::BadOption
        | Code::BadTile
        | Code::DtypeUnsupported
        | Code::BadSpec
        | Code::OperandCount
        | Code::RankMismatch
        | Code::ExtentMismatch
        | Code::UnboundExtent
        | Code::LengthMismatch
        | Code::SizeOverflow
        | Code::LaunchLimit
        | Code::UnsupportedStride
        | Code::IndexOutOfRange => None,
    }
}

/// The text with what is meant in every place of the mistake.
fn replaced(text: &str, mistake: &Diagnostic) -> Option<String> {
    let mut places: Vec<Span> = mistake.notes.iter().map(|(span, _)| *span).collect();
    places.extend(mistake.span);
    places.sort_unstable();
    let mut mended = String::new();
    let mut done = 0;
    for place in places {
        mended.push_str(text.get(done..place.start)?);
        let written = text.get(place.start..place.end)?;
        let sign = written.chars().next().and_then(token::ascii_for);
        mended.push_str(meant(written).or(sign.filter(|_| text.contains('[')))?);
        done = place.end;
    }
    mended.push_str(text.get(done..)?);
    Some(mended)
}

fn meant(written: &str) -> Option<&'static str> {
    if written.chars().all(|c| is_arrow_part(c) || c == ' ') {
        Some("->")
    } else if written.chars().all(char::is_whitespace) {
        Some(" ")
    } else if written.chars().all(is_unseen) {
        Some("")
    } else if written != "." && written.chars().all(|c| c == '.' || c == ' ' || c == '…') {
        Some("...")
    } else {
        None
    }
}

/// The text with no comma from the first in the output on.
fn without_commas(text: &str, first: Span) -> String {
    let (before, after) = text.split_at(first.start);
    before.to_owned() + &after.replace(',', "")
}

/// The same label in the case that an operand has it in.
fn other_case(text: &str, label: Span) -> Option<&str> {
    let written = &text[label.start..label.end];
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_classic = !text.contains('[');
    let mut words: Vec<&str> = text.split(|c: char| !is_name(c)).collect();
    if is_classic {
        words = words.iter().flat_map(|word| word.split_inclusive(is_name)).collect();
    }
    words.into_iter().find(|word| *word != written && word.eq_ignore_ascii_case(written))
}
