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
    if cursor.accept(')') { Ok(reduced) } else { Err(cursor.expected("`,` or `)`")) }
}

fn factor(cursor: &mut Cursor<'_>) -> Result<Access, Diagnostic> {
    match (cursor.peek(), cursor.peek_at(1)) {
        (Some(Kind::Word(name)), Some(Kind::Mark('('))) => {
            Err(unsupported(call_refused(name), cursor.place()))
        }
        (Some(Kind::Mark('(' | '-' | '+') | Kind::Number(_)), _) => Err(beyond_a_product(cursor)),
        (Some(Kind::Word(_) | Kind::Mark(_)) | None, _) => access(cursor, gather),
    }
}

fn call_refused(name: &str) -> String {
    match name {
        "sum" => "`sum(..)` is not supported inside a product".to_owned(),
        _ => format!("the function `{name}(..)` is not supported"),
    }
}

/// How an index that is itself an access is refused.
type Refusal = fn(String, Span) -> Diagnostic;

/// `A[i,k]`, or `s[]` for a scalar.
fn access(cursor: &mut Cursor<'_>, indirect: Refusal) -> Result<Access, Diagnostic> {
    let tensor = label(cursor, "a tensor's name")?;
    if !cursor.accept('[') {
        return Err(cursor.expected(&format!("`[` after `{}`", tensor.name)));
    }
    let labels = if cursor.peek() == Some(Kind::Mark(']')) { Vec::new() } else { labels(cursor)? };
    match cursor.peek() {
        Some(Kind::Mark('[')) => {
            let inner = labels.last().map_or("", |label| label.name.as_str());
            let message = format!("`{}` is indexed through `{inner}[..]`", tensor.name);
            Err(indirect(message, cursor.place()))
        }
        Some(Kind::Mark('+' | '-' | '*' | '/') | Kind::Number(_)) => Err(index_arithmetic(cursor)),
        Some(Kind::Mark(']')) => {
            cursor.skip();
            Ok(Access { tensor, labels })
        }
        Some(Kind::Word(_) | Kind::Mark(_)) | None => Err(cursor.expected("`,` or `]`")),
    }
}

fn index_arithmetic(cursor: &Cursor<'_>) -> Diagnostic {
    let message = "arithmetic on an index is not supported".to_owned();
    unsupported(message, cursor.place()).help("index by labels alone, as in `A[i,k]`")
}

fn labels(cursor: &mut Cursor<'_>) -> Result<Vec<Label>, Diagnostic> {
    let mut labels = vec![index(cursor)?];
    while cursor.accept(',') {
        labels.push(index(cursor)?);
    }
    Ok(labels)
}

/// A label, and what other notations have in its place, by name.
fn index(cursor: &mut Cursor<'_>) -> Result<Label, Diagnostic> {
    match cursor.peek() {
        Some(Kind::Number(number)) => {
            let message = format!("the number {number} is not supported as an index");
            let mistake = unsupported(message, cursor.place());
            Err(mistake.help("index by labels alone, as in `A[i,k]`"))
        }
        Some(Kind::Mark('.')) => Err(ellipsis(cursor)),
        Some(Kind::Word(_) | Kind::Mark(_)) | None => label(cursor, "a label"),
    }
}

fn ellipsis(cursor: &Cursor<'_>) -> Diagnostic {
    Diagnostic::new(Code::EllipsisUnsupported, "the index form has no `...`")
        .at(cursor.place())
        .place(format!("byte {}", cursor.place().start))
        .help("write a label for each mode, or write the classic form with `ranks`")
}

fn label(cursor: &mut Cursor<'_>, what: &str) -> Result<Label, Diagnostic> {
    if cursor.peek() == Some(Kind::Word("_")) {
        // It is no name in Rust, and emitted code uses the names that are written.
        let help = "write a name with a letter, the same wherever it is meant";
        return Err(cursor.expected(what).help(help));
    }
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
        Some(Kind::Number(_)) => {
            unsupported("a number is not supported as a factor".to_owned(), cursor.place())
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

fn gather(message: String, span: Span) -> Diagnostic {
    unsupported(message, span).help("gather the elements first, and index what they are held in")
}

fn scatter(message: String, span: Span) -> Diagnostic {
    Diagnostic { code: Code::ScatterUnsupported, ..unsupported(message, span) }
        .help("sort the entries by their target and sum each target's own, as rows of a CSR matrix")
}
