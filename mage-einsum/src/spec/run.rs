//! The extents of a run as text, `i=65 j=63`: what follows `run:` in a spec file, and the words of
//! the command line. Which labels there are is not known here; `binding` checks that.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span};

/// Reads extents with white space between them.
///
/// # Errors
/// `BadSpec` for each word that is not the extent of a label or repeats one, `SizeOverflow` for a
/// number beyond 64 bits. Spans point into `text`, as into an option text.
pub fn parse_run(text: &str) -> Result<BTreeMap<String, u64>, Diagnostics> {
    let mut extents = BTreeMap::new();
    let mut mistakes = Vec::new();
    for word in text.split_whitespace() {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        let span = Span::new(start, start + word.len());
        match extent(word, span) {
            Ok((label, _)) if extents.contains_key(label) => {
                let message = format!("the extent of label `{label}` is given twice");
                mistakes.push(at(span, Code::BadSpec, message, "keep one of them"));
            }
            Ok((label, extent)) => {
                extents.insert(label.to_owned(), extent);
            }
            Err(mistake) => mistakes.push(mistake),
        }
    }
    if mistakes.is_empty() { Ok(extents) } else { Err(Diagnostics(mistakes)) }
}

fn extent(word: &str, span: Span) -> Result<(&str, u64), Diagnostic> {
    let is_label = |label: &str| {
        let starts = label.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        starts && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let is_number =
        |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    match word.split_once('=') {
        Some((label, digits)) if is_label(label) && is_number(digits) => {
            let extent = digits.parse::<u64>().map_err(|_| {
                let message = format!("label `{label}` is {digits}, the limit is below 2^32");
                at(span, Code::SizeOverflow, message, "give a smaller extent")
            })?;
            Ok((label, extent))
        }
        Some(_) | None => {
            let message = format!("`{word}` is not the extent of a label");
            Err(at(span, Code::BadSpec, message, "write a label and its extent, as in `i=64`"))
        }
    }
}

fn at(span: Span, code: Code, message: String, help: &str) -> Diagnostic {
    Diagnostic::option(code, message).at(span).place("extents").help(help)
}
