//! The grammar of the option text without the meaning of its keys: entries `key = value`, where a
//! value is a word, a number or a group of values or entries in parentheses.

use super::epilogue::{self, Epilogue};
use crate::diagnostic::{Diagnostic, Source, Span};
use crate::token::{Cursor, Kind};

/// `key = value`.
#[derive(Debug)]
pub(super) struct Entry<'t> {
    pub(super) key: &'t str,
    pub(super) key_span: Span,
    pub(super) value: Value<'t>,
}

/// A value at its place.
#[derive(Debug)]
pub(super) struct Value<'t> {
    pub(super) kind: ValueKind<'t>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum ValueKind<'t> {
    Word(&'t str),
    Number(&'t str),
    /// `(64, 64, 16)`.
    List(Vec<Value<'t>>),
    /// `(k = 64, c = 128)`; also the empty `()`.
    Group(Vec<Entry<'t>>),
    /// `|acc, bias: j| acc + bias`.
    Closure(Epilogue),
}

/// Reads the whole text.
pub(super) fn parse(text: &str) -> Result<Vec<Entry<'_>>, Diagnostic> {
    let mut cursor = Cursor::new(text, Source::Options)?;
    let entries = separated(&mut cursor, entry)?;
    if cursor.is_at_end() {
        return Ok(entries);
    }
    let last = entries.last().map(|entry| &text[entry.key_span.start..entry.value.span.end]);
    let after = last.map_or(String::new(), |last| format!(" after `{last}`"));
    Err(cursor.expected(&format!("`,` or the end{after}")))
}

/// Items with commas between them and perhaps one after the last, up to `)` or the end.
fn separated<'t, T>(
    cursor: &mut Cursor<'t>,
    item: impl Fn(&mut Cursor<'t>) -> Result<T, Diagnostic>,
) -> Result<Vec<T>, Diagnostic> {
    let mut items = Vec::new();
    while !cursor.is_at_end() && cursor.peek() != Some(Kind::Mark(')')) {
        items.push(item(cursor)?);
        if !cursor.accept(',') {
            break;
        }
    }
    Ok(items)
}

fn entry<'t>(cursor: &mut Cursor<'t>) -> Result<Entry<'t>, Diagnostic> {
    let (key, key_span) = cursor.word("an option")?;
    cursor.expect('=')?;
    Ok(Entry { key, key_span, value: value(cursor)? })
}

fn value<'t>(cursor: &mut Cursor<'t>) -> Result<Value<'t>, Diagnostic> {
    let span = cursor.place();
    let kind = match cursor.peek() {
        Some(Kind::Word(text)) => ValueKind::Word(text),
        Some(Kind::Number(text)) => ValueKind::Number(text),
        Some(Kind::Mark('(')) => return group(cursor),
        Some(Kind::Mark('|')) => {
            let closure = epilogue::parse(cursor)?;
            let end = cursor.last_end();
            return Ok(Value {
                kind: ValueKind::Closure(closure),
                span: Span::new(span.start, end),
            });
        }
        Some(Kind::Mark('"')) => return Err(cursor.expected("a value without quotes")),
        Some(Kind::Mark(_)) | None => return Err(cursor.expected("a value")),
    };
    cursor.skip();
    Ok(Value { kind, span })
}

fn group<'t>(cursor: &mut Cursor<'t>) -> Result<Value<'t>, Diagnostic> {
    let open = cursor.expect('(')?;
    let kind = match (cursor.peek(), cursor.peek_at(1)) {
        (Some(Kind::Mark(')')), _) | (_, Some(Kind::Mark('='))) => {
            ValueKind::Group(separated(cursor, entry)?)
        }
        (Some(_) | None, _) => ValueKind::List(separated(cursor, value)?),
    };
    let close = cursor.place();
    if !cursor.accept(')') {
        return Err(cursor.expected("`,` or `)`"));
    }
    Ok(Value { kind, span: Span::new(open.start, close.end) })
}
