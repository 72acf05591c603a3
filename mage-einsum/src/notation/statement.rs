//! The index form, `C[i,j] = sum(k) A[i,k] * B[k,j]`: statements whose right side is a sum of
//! products. What is beyond that is refused by name.

use super::check;
use super::{Access, Label, Statement};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Source, Span};
use crate::token::{Cursor, Kind};

/// Reads the whole text.
pub(super) fn parse(text: &str) -> Result<Vec<Statement>, Diagnostics> {
    let mut cursor = Cursor::new(text, Source::Notation)?;
    let mut statements = vec![statement(&mut cursor)?];
    while cursor.accept(';') && !cursor.is_at_end() {
        statements.push(statement(&mut cursor)?);
    }
    if !cursor.is_at_end() {
        return Err(beyond_a_product(&cursor).into());
    }
    check::statements(&statements)?;
    Ok(statements)
}

fn statement(cursor: &mut Cursor<'_>) -> Result<Statement, Diagnostic> {
    let target = access(cursor, scatter)?;
    cursor.expect('=')?;
    let reduced = if is_call(cursor, "sum") { reduction(cursor)? } else { Vec::new() };
    let mut factors = vec![factor(cursor)?];
    while cursor.accept('*') {
        factors.push(factor(cursor)?);
    }
    Ok(Statement { target, reduced, factors })
}

/// `sum(k)` or `sum(k,l)`.
fn reduction(cursor: &mut Cursor<'_>) -> Result<Vec<Label>, Diagnostic> {
    cursor.word("`sum`")?;
    cursor.expect('(')?;
    let reduced = labels(cursor)?;
    cursor.expect(')')?;
    Ok(reduced)
}

fn factor(cursor: &mut Cursor<'_>) -> Result<Access, Diagnostic> {
    match (cursor.peek(), cursor.peek_at(1)) {
        (Some(Kind::Word(name)), Some(Kind::Mark('('))) => {
            let message = format!("`{name}(..)` is not supported inside a product");
            Err(unsupported(message, cursor.place()))
        }
        (Some(Kind::Mark('(') | Kind::Number(_)), _) => Err(beyond_a_product(cursor)),
        (Some(Kind::Word(_) | Kind::Mark(_)) | None, _) => access(cursor, unsupported),
    }
}

/// How an index that is itself an access is refused.
type Refusal = fn(String, Span) -> Diagnostic;

/// `A[i,k]`, or `s[]` for a scalar.
fn access(cursor: &mut Cursor<'_>, indirect: Refusal) -> Result<Access, Diagnostic> {
    let tensor = label(cursor, "a tensor's name")?;
    cursor.expect('[')?;
    let labels = if cursor.peek() == Some(Kind::Mark(']')) { Vec::new() } else { labels(cursor)? };
    if cursor.peek() == Some(Kind::Mark('[')) {
        let inner = labels.last().map_or("", |label| label.name.as_str());
        let message = format!("`{}` is indexed through `{inner}[..]`", tensor.name);
        return Err(indirect(message, cursor.place()));
    }
    cursor.expect(']')?;
    Ok(Access { tensor, labels })
}

fn labels(cursor: &mut Cursor<'_>) -> Result<Vec<Label>, Diagnostic> {
    let mut labels = vec![label(cursor, "a label")?];
    while cursor.accept(',') {
        labels.push(label(cursor, "a label")?);
    }
    Ok(labels)
}

fn label(cursor: &mut Cursor<'_>, what: &str) -> Result<Label, Diagnostic> {
    let (name, span) = cursor.word(what)?;
    Ok(Label { name: name.to_owned(), span })
}

fn is_call(cursor: &Cursor<'_>, name: &str) -> bool {
    cursor.peek() == Some(Kind::Word(name)) && cursor.peek_at(1) == Some(Kind::Mark('('))
}

/// Arithmetic that the design has but this version lacks is told apart from a slip of the pen.
fn beyond_a_product(cursor: &Cursor<'_>) -> Diagnostic {
    match cursor.peek() {
        Some(Kind::Mark(mark @ ('+' | '-' | '/' | '^' | '('))) => {
            unsupported(format!("`{mark}` is not supported on the right side"), cursor.place())
        }
        Some(Kind::Number(number)) => {
            unsupported(format!("the number {number} is not supported as a factor"), cursor.place())
        }
        Some(Kind::Word(_) | Kind::Mark(_)) | None => cursor.expected("`*`, `;` or the end"),
    }
}

fn unsupported(message: String, span: Span) -> Diagnostic {
    Diagnostic::new(Code::StatementUnsupported, message)
        .at(span)
        .place(format!("byte {}", span.start))
        .help("write one sum of products, as in `C[i,j] = sum(k) A[i,k] * B[k,j]`")
}

fn scatter(message: String, span: Span) -> Diagnostic {
    Diagnostic { code: Code::ScatterUnsupported, ..unsupported(message, span) }
        .help("sort the entries by their target and sum each target's own, as rows of a CSR matrix")
}
