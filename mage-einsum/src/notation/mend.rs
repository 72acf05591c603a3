//! Mistakes with one obvious mend: the help then shows the whole mended text. What is obvious is
//! decided by the parser: a mend is shown only if the text is right with it.

use super::Notation;
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span};

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
    let written = text.get(span.start..span.end)?;
    let replaced = |with: &str| [&text[..span.start], with, &text[span.end..]].concat();
    match mistake.code {
        Code::BadChar if is_arrow(written) => Some(replaced("->")),
        Code::BadChar if written.chars().all(char::is_whitespace) => Some(replaced(" ")),
        Code::BadEllipsis if written.chars().all(|c| c == '.' || c == ' ') => Some(replaced("...")),
        Code::CommaInOutput => Some(without_commas(text, span)),
        Code::UnknownOutputLabel => Some(replaced(other_case(text, span)?)),
        Code::BadChar
        | Code::BadEllipsis
        | Code::SecondArrow
        | Code::DuplicateOutputLabel
        | Code::EllipsisUnsupported
        | Code::EllipsisDropped
        | Code::Expected
        | Code::UnboundMode
        | Code::BadReduction
        | Code::SelfReference
        | Code::StatementUnsupported
        | Code::ScatterUnsupported
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

/// What people write for `->`, with a space inside or in Unicode.
fn is_arrow(written: &str) -> bool {
    let squeezed = written.replace(' ', "");
    ["->", "=>", "→", "⇒", "-", ">", "="].contains(&squeezed.as_str())
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
