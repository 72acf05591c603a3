//! What is computed from each result of a classic einsum while it is at hand, written as a closure:
//! `|acc, bias: j| gelu_tanh(acc + bias)`. Operands beside the result are typed by their labels.

use crate::diagnostic::{Code, Diagnostic, Source, Span};
use crate::notation::{self, Expr, Label};
use crate::token::{Cursor, Kind};

/// An epilogue as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epilogue {
    /// The name of the result.
    pub result: Label,
    /// The operands beside it, each with its labels.
    pub operands: Vec<(Label, Vec<Label>)>,
    /// What the output becomes. The result has no labels here: it has those of the output.
    pub value: Expr,
}

impl std::fmt::Display for Epilogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "|{}", self.result.name)?;
        for (operand, labels) in &self.operands {
            let labels: Vec<&str> = labels.iter().map(|label| label.name.as_str()).collect();
            let are_letters = !labels.is_empty() && labels.iter().all(|label| label.len() == 1);
            let labels =
                if are_letters { labels.concat() } else { format!("({})", labels.join(", ")) };
            write!(f, ", {}: {labels}", operand.name)?;
        }
        write!(f, "| {}", notation::print_bare(&self.value))
    }
}

/// Reads a closure.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<Epilogue, Diagnostic> {
    cursor.expect('|')?;
    let result = name(cursor, "the name of the result")?;
    let mut operands: Vec<(Label, Vec<Label>)> = Vec::new();
    while cursor.accept(',') {
        let operand = name(cursor, "the name of an operand")?;
        let is_taken = operands.iter().map(|(taken, _)| taken).chain([&result]);
        if let Some(taken) = is_taken.into_iter().find(|taken| taken.name == operand.name) {
            return Err(doubled(&operand, taken.span));
        }
        cursor.expect(':')?;
        operands.push((operand, labels(cursor)?));
    }
    cursor.expect('|')?;
    cursor.bare = [(result.clone(), Vec::new())].into_iter().chain(operands.clone()).collect();
    let value = notation::expression(cursor)
        .map_err(|mistake| Diagnostic { source: Source::Options, ..mistake });
    cursor.bare.clear();
    let value = value?;
    if let Some(span) = reduction(&value) {
        let mistake = Diagnostic::option(Code::BadOption, "an epilogue reduces nothing".to_owned());
        return Err(mistake.at(span).help("write the statements of the index form"));
    }
    Ok(Epilogue { result, operands, value })
}

fn name(cursor: &mut Cursor<'_>, what: &str) -> Result<Label, Diagnostic> {
    let (name, span) = cursor.word(what)?;
    Ok(Label { name: name.to_owned(), span })
}

/// `ij`, a letter a mode; `(row, col)` for longer labels; `()` for a scalar.
fn labels(cursor: &mut Cursor<'_>) -> Result<Vec<Label>, Diagnostic> {
    if cursor.accept('(') {
        let mut labels = Vec::new();
        while cursor.peek() != Some(Kind::Mark(')')) {
            labels.push(name(cursor, "a label")?);
            if !cursor.accept(',') {
                break;
            }
        }
        cursor.expect(')')?;
        return Ok(labels);
    }
    let (word, span) = cursor.word("labels, as in `bias: j`")?;
    let letter = |(at, letter): (usize, char)| {
        let start = span.start + at;
        Label { name: letter.to_string(), span: Span::new(start, start + letter.len_utf8()) }
    };
    Ok(word.char_indices().map(letter).collect())
}

fn doubled(operand: &Label, first: Span) -> Diagnostic {
    let message = format!("two operands of the epilogue are called `{}`", operand.name);
    let mistake = Diagnostic::option(Code::BadOption, message).at(operand.span);
    mistake.note(first, "the first stands here").help("give each a name of its own")
}

/// The place of a reduction's label, where there is one.
fn reduction(value: &Expr) -> Option<Span> {
    match value {
        Expr::Reduction(reduction, _) => reduction.labels.first().map(|label| label.span),
        Expr::Access(_)
        | Expr::Number(_)
        | Expr::Negative(_)
        | Expr::Binary(..)
        | Expr::Power(..)
        | Expr::Call(..)
        | Expr::Extreme(..) => value.parts().into_iter().find_map(reduction),
    }
}
