//! The index form, `C[i,j] = sum(k) A[i,k] * B[k,j]`: statements with an access on the left and an
//! expression on the right, `;` between them. `expression` reads the right sides.

use super::check;
use super::expression::expression;
use super::{Access, Index, Label, Statement};
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
        return Err(cursor.expected("a sign, `;` or the end").into());
    }
    check::statements(&statements)?;
    Ok(statements)
}

fn statement(cursor: &mut Cursor<'_>) -> Result<Statement, Diagnostic> {
    let target = access(cursor)?;
    let through = target.indices.iter().find_map(|index| match index {
        Index::Label(_) => None,
        Index::Through { tensor, .. } => Some(tensor),
    });
    if let Some(through) = through {
        return Err(scatter(&target.tensor.name, through));
    }
    cursor.expect('=')?;
    Ok(Statement { target, value: expression(cursor)? })
}

/// `A[i,k]`, `X[s[e],f]`, or `s[]` for a scalar.
pub(super) fn access(cursor: &mut Cursor<'_>) -> Result<Access, Diagnostic> {
    let tensor = label(cursor, "a tensor's name")?;
    if !cursor.accept('[') {
        return Err(cursor.expected(&format!("`[` after `{}`", tensor.name)));
    }
    let indices = list(cursor, index)?;
    Ok(Access { tensor, indices })
}

/// Items with commas between them, up to `]`.
fn list<T>(
    cursor: &mut Cursor<'_>,
    item: fn(&mut Cursor<'_>) -> Result<T, Diagnostic>,
) -> Result<Vec<T>, Diagnostic> {
    let mut items = Vec::new();
    if cursor.accept(']') {
        return Ok(items);
    }
    loop {
        items.push(item(cursor)?);
        match cursor.peek() {
            Some(Kind::Mark(',')) => cursor.skip(),
            Some(Kind::Mark(']')) => {
                cursor.skip();
                return Ok(items);
            }
            Some(Kind::Mark('+' | '-' | '*' | '/') | Kind::Number(_)) => {
                return Err(index_arithmetic(cursor));
            }
            Some(Kind::Word(_) | Kind::Mark(_)) | None => return Err(cursor.expected("`,` or `]`")),
        }
    }
}

fn index(cursor: &mut Cursor<'_>) -> Result<Index, Diagnostic> {
    let name = plain_index(cursor)?;
    if !cursor.accept('[') {
        return Ok(Index::Label(name));
    }
    let labels = list(cursor, plain_index)?;
    Ok(Index::Through { tensor: name, labels })
}

/// A label, and what other notations have in its place, by name.
fn plain_index(cursor: &mut Cursor<'_>) -> Result<Label, Diagnostic> {
    match cursor.peek() {
        Some(Kind::Number(number)) => {
            let message = format!("the number {number} is not supported as an index");
            Err(unsupported(message, cursor.place()).help("index by labels, as in `A[i,k]`"))
        }
        Some(Kind::Mark('.')) => Err(ellipsis(cursor)),
        Some(Kind::Word(_) | Kind::Mark(_)) | None => label(cursor, "a label"),
    }
}

fn index_arithmetic(cursor: &Cursor<'_>) -> Diagnostic {
    let message = "arithmetic on an index is not supported".to_owned();
    unsupported(message, cursor.place())
        .help("index by labels; `p[i+1]` stands only in a range, as in `sum(e in p[i]..p[i+1])`")
}

fn ellipsis(cursor: &Cursor<'_>) -> Diagnostic {
    Diagnostic::new(Code::EllipsisUnsupported, "the index form has no `...`")
        .at(cursor.place())
        .place(format!("byte {}", cursor.place().start))
        .help("write a label for each mode, or write the classic form with `ranks`")
}

/// A name; not `_`, which is none in Rust, and emitted code uses the names that are written.
pub(super) fn label(cursor: &mut Cursor<'_>, what: &str) -> Result<Label, Diagnostic> {
    if cursor.peek() == Some(Kind::Word("_")) {
        let help = "write a name with a letter, the same wherever it is meant";
        return Err(cursor.expected(what).help(help));
    }
    let (name, span) = cursor.word(what)?;
    Ok(Label { name: name.to_owned(), span })
}

/// What the notation leaves out, told apart from a slip of the pen.
pub(super) fn unsupported(message: String, span: Span) -> Diagnostic {
    Diagnostic::new(Code::StatementUnsupported, message)
        .at(span)
        .place(format!("byte {}", span.start))
}

fn scatter(target: &str, through: &Label) -> Diagnostic {
    let message = format!("`{target}` is written through the index `{}[..]`", through.name);
    Diagnostic { code: Code::ScatterUnsupported, ..unsupported(message, through.span) }.help(
        "sort the entries by their target and sum each target's own, as rows of a CSR matrix: \
         `Y[i,f] = sum(e in p[i]..p[i+1]) X[s[e],f]`",
    )
}
