//! A diagnostic as plain text in the manner of rustc: the code, the place in words, the line of
//! text with the place underlined, and the help. It is what the command line prints.

use super::{Diagnostic, Source, Span};

/// Renders one diagnostic over the two texts that it may point into.
pub fn render(diagnostic: &Diagnostic, notation_text: &str, options_text: &str) -> String {
    let text = match diagnostic.source {
        Source::Notation => Some(notation_text),
        Source::Options => Some(options_text),
        Source::Invocation => None,
    };
    let mut lines = vec![format!("error[{}]: {}", diagnostic.code.number(), diagnostic.message)];
    if let Some(place) = &diagnostic.place {
        lines.push(format!(" --> {place}"));
    }
    if let (Some(text), Some(span)) = (text, diagnostic.span) {
        lines.push("  |".to_owned());
        lines.extend(underlined(text, span, diagnostic));
    }
    if let Some(help) = &diagnostic.help {
        lines.push(format!("help: {help}"));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// The line that holds `span` with carets below it, then one line of dashes a note.
fn underlined(text: &str, span: Span, diagnostic: &Diagnostic) -> Vec<String> {
    let line = line_around(text, span.start);
    let mut lines = vec![shown(text, line), format!("  | {}", marks(text, line, span, '^'))];
    for (place, said) in &diagnostic.notes {
        let place_line = line_around(text, place.start);
        if place_line != line {
            lines.push(shown(text, place_line));
        }
        lines.push(format!("  | {} {said}", marks(text, place_line, *place, '-')));
    }
    lines
}

fn shown(text: &str, line: Span) -> String {
    let characters = text[line.start..line.end].chars().map(visible);
    format!("  | {}", characters.collect::<String>())
}

/// The line of `text` that holds byte `at`, without its line end.
fn line_around(text: &str, at: usize) -> Span {
    let at = boundary(text, at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    Span::new(start, end)
}

/// Spaces up to `span` and one mark a column of it; a point gets one mark.
fn marks(text: &str, line: Span, span: Span, mark: char) -> String {
    let start = boundary(text, span.start).clamp(line.start, line.end);
    let end = boundary(text, span.end).clamp(start, line.end);
    let n_marks = columns(&text[start..end]).max(1);
    " ".repeat(columns(&text[line.start..start])) + &mark.to_string().repeat(n_marks)
}

/// The last character boundary at or before `at`, so that a wrong span cannot split a character.
fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn columns(text: &str) -> usize {
    text.chars().map(|character| if is_wide(character) { 2 } else { 1 }).sum()
}

/// Characters that terminals draw two columns wide (the main ranges of Unicode's UAX #11).
fn is_wide(character: char) -> bool {
    matches!(u32::from(character),
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 | 0x1F300..=0x1FAFF)
}

/// What would move the carets is shown as a space.
fn visible(character: char) -> char {
    if character.is_control() || is_unseen(character) { ' ' } else { character }
}

/// `text` as a message quotes it: as it is, but characters that cannot be seen by their escapes.
pub(crate) fn spelled(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

/// Characters that take no column: soft hyphens, combining marks, joiners, directions, variation
/// selectors and byte order marks (Unicode's general categories Cf and Mn, the ranges that texts
/// are pasted with).
pub(crate) fn is_unseen(character: char) -> bool {
    matches!(u32::from(character),
        0xAD | 0x300..=0x36F | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064
        | 0xFE00..=0xFE0F | 0xFEFF)
}
