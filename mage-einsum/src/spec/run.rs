//! The extents of a run as text, `i=65 j=63`: what follows `run:` in a spec file, and the words of
//! the command line. Which labels there are is not known here; `binding` checks that.

use std::collections::BTreeMap;

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span, spelled};

/// Reads extents with white space between them.
///
/// # Errors
/// `BadSpec` for words that are not the extent of a label, neighbours together, and for one that
/// repeats a label; `SizeOverflow` for a number beyond 64 bits. Spans point into `text`, as into an
/// option text.
pub fn parse_run(text: &str) -> Result<BTreeMap<String, u64>, Diagnostics> {
    let mut extents = BTreeMap::new();
    let mut mistakes = Vec::new();
    let mut strange: Option<Span> = None;
    for word in text.split_whitespace() {
        let start = word.as_ptr().addr() - text.as_ptr().addr();
        let span = Span::new(start, start + word.len());
        let Some((label, digits)) = word.split_once('=').filter(|(label, _)| is_label(label))
        else {
            let start = strange.map_or(span.start, |before| before.start);
            strange = Some(Span::new(start, span.end));
            continue;
        };
        mistakes.extend(strange.take().map(|span| no_extent(text, span)));
        match extent(label, digits, span) {
            Ok(_) if extents.contains_key(label) => {
                let message = format!("the extent of label `{label}` is given twice");
                mistakes.push(at(span, Code::BadSpec, message, "keep one of them"));
            }
            Ok(extent) => {
                extents.insert(label.to_owned(), extent);
            }
            Err(mistake) => mistakes.push(mistake),
        }
    }
    mistakes.extend(strange.take().map(|span| no_extent(text, span)));
    if mistakes.is_empty() { Ok(extents) } else { Err(Diagnostics(mistakes)) }
}

fn is_label(label: &str) -> bool {
    let starts = label.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn extent(label: &str, digits: &str, span: Span) -> Result<u64, Diagnostic> {
    let shown = spelled(digits);
    if digits.contains([',', ';']) {
        let message = format!("`{shown}` is not the extent of label `{label}`");
        return Err(at(span, Code::BadSpec, message, "write a space between two extents"));
    }
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = match digits {
            "" => format!("the extent of label `{label}` is missing"),
            _ => format!("the extent of label `{label}` is `{shown}`, which is no whole number"),
        };
        let help = format!("write digits alone, as in `{label}=64`");
        return Err(at(span, Code::BadSpec, message, help));
    }
    digits.parse().map_err(|_| {
        let message = format!("label `{label}` is {digits}, the limit is below 2^32");
        at(span, Code::SizeOverflow, message, "give a smaller extent")
    })
}

fn no_extent(text: &str, span: Span) -> Diagnostic {
    let shown = spelled(&text[span.start..span.end]);
    let message = format!("`{shown}` is not the extent of a label");
    at(span, Code::BadSpec, message, "write a label and its extent without a space, as in `i=64`")
}

fn at(span: Span, code: Code, message: String, help: impl Into<String>) -> Diagnostic {
    Diagnostic::option(code, message).at(span).place("extents").help(help)
}
