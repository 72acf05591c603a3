//! The extents as words of the command line, `i=200 j=190`. They are bound at run time like a
//! caller's; which labels there are is not known yet.

use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics, Span};

use crate::refusal::{Refusal, Texts};

/// A label and its extent, as given.
pub type Pair = (String, u64);

/// Reads every word, or says what is wrong with each that cannot be read.
pub fn extents(words: &[String]) -> Result<Vec<Pair>, Refusal> {
    let line = words.join(" ");
    let mut pairs: Vec<Pair> = Vec::new();
    let mut mistakes = Vec::new();
    let mut start = 0;
    for word in words {
        let span = Span::new(start, start + word.len());
        start = span.end + 1;
        let is_doubled = |label: &str| pairs.iter().any(|(known, _)| known == label);
        match extent(word) {
            Ok((label, _)) if is_doubled(&label) => {
                let message = format!("the extent of label `{label}` is given twice");
                mistakes.push(at(span, Code::BadOption, message, "keep one of them"));
            }
            Ok(pair) => pairs.push(pair),
            Err((code, message)) => {
                mistakes.push(at(span, code, message, "write a label and its extent, as `i=64`"));
            }
        }
    }
    if mistakes.is_empty() {
        return Ok(pairs);
    }
    Err(Refusal::mistakes(&Diagnostics(mistakes), Texts { notation: "", options: &line }))
}

fn at(span: Span, code: Code, message: String, help: &str) -> Diagnostic {
    Diagnostic::option(code, message).at(span).place("extents on the command line").help(help)
}

fn extent(word: &str) -> Result<Pair, (Code, String)> {
    let malformed = || (Code::BadOption, format!("`{word}` is not the extent of a label"));
    let (label, digits) = word.split_once('=').ok_or_else(malformed)?;
    let (label, digits) = (label.trim(), digits.trim());
    if label.is_empty() || digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(malformed());
    }
    let extent = digits.parse::<u64>().map_err(|_| {
        (Code::SizeOverflow, format!("label `{label}` is {digits}, the limit is below 2^32"))
    })?;
    Ok((label.to_string(), extent))
}
