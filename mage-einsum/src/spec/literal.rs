//! The string literal at the front of an invocation: Rust's plain and raw string literals, with
//! the simple escapes of the former.

use super::{Places, bad_spec};
use crate::diagnostic::{Diagnostic, Diagnostics};

/// An invocation taken apart but not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The literal's content, escapes decoded.
    pub notation_text: String,
    /// What follows the literal and its comma.
    pub options_text: String,
    /// Where both stand.
    pub places: Places,
}

/// A literal that was read: its content, and the byte after its last quote.
struct Literal {
    content: String,
    start: usize,
    end: usize,
    is_verbatim: bool,
}

/// Takes the notation's literal and the option text apart.
///
/// # Errors
/// `BadSpec` where there is no complete literal, an unknown escape, or something other than a
/// comma after it.
pub fn split_invocation(text: &str) -> Result<Invocation, Diagnostics> {
    let start = text.len() - text.trim_start().len();
    let literal = literal(text, start)?;
    let after = &text[literal.end..];
    let options = after.trim_start();
    let options_text = match options.strip_prefix(',') {
        Some(options) => options.trim_start(),
        None if options.is_empty() => "",
        None => {
            let at = text.len() - options.len();
            let mistake = bad_spec("expected `,` after the string literal", at);
            return Err(mistake.help("write `\"ik,kj->ij\", tile = 64`").into());
        }
    };
    let places = Places {
        literal_start: literal.start,
        is_verbatim: literal.is_verbatim,
        options_start: text.len() - options_text.len(),
    };
    let options_text = options_text.trim_end().to_owned();
    Ok(Invocation { notation_text: literal.content, options_text, places })
}

fn literal(text: &str, start: usize) -> Result<Literal, Diagnostic> {
    let rest = &text[start..];
    if rest.starts_with('"') {
        return plain(text, start + 1);
    }
    let hashes: String = rest.chars().skip(1).take_while(|c| *c == '#').collect();
    if rest.starts_with(&format!("r{hashes}\"")) {
        return raw(text, start + 2 + hashes.len(), &format!("\"{hashes}"));
    }
    let mistake = bad_spec("expected a string literal with the notation", start);
    Err(mistake.help("write the notation in quotes, as in `\"ik,kj->ij\"`"))
}

fn raw(text: &str, start: usize, close: &str) -> Result<Literal, Diagnostic> {
    let length = text[start..].find(close).ok_or_else(|| unclosed(start))?;
    let content = text[start..start + length].to_owned();
    Ok(Literal { content, start, end: start + length + close.len(), is_verbatim: true })
}

fn plain(text: &str, start: usize) -> Result<Literal, Diagnostic> {
    let mut content = String::new();
    let mut is_verbatim = true;
    let mut characters = text[start..].char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        match character {
            '"' => return Ok(Literal { content, start, end: start + offset + 1, is_verbatim }),
            '\\' => {
                is_verbatim = false;
                let escaped = characters.next().map(|(_, escaped)| escaped);
                if matches!(escaped, Some('\n' | '\r')) {
                    // The literal goes on behind the white space of the next lines.
                    while characters.next_if(|(_, next)| " \t\r\n".contains(*next)).is_some() {}
                    continue;
                }
                content.push(unescape(escaped).ok_or_else(|| unknown_escape(start + offset))?);
            }
            other => content.push(other),
        }
    }
    Err(unclosed(start))
}

/// The simple escapes of Rust's string literals (The Rust Reference, Tokens).
fn unescape(escaped: Option<char>) -> Option<char> {
    match escaped? {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '0' => Some('\0'),
        same @ ('\\' | '"' | '\'') => Some(same),
        _ => None,
    }
}

fn unclosed(start: usize) -> Diagnostic {
    bad_spec("the string literal has no end", start).help("close the quote")
}

fn unknown_escape(at: usize) -> Diagnostic {
    bad_spec("the string literal has an escape that is not supported", at)
        .help("write the character itself, or use a raw literal `r\"..\"`")
}
