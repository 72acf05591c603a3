//! The right side of a statement. A reduction takes the product after it, so it binds tighter than
//! `+` and `-`.

use super::statement::{access, label, unsupported};
use super::{Access, Expr, Extreme, Index, Label, Number, Range, Reduction, Sign};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::function::Function;
use crate::reducer::Reducer;
use crate::token::{Cursor, Kind};

/// Parentheses, signs and functions may stand within one another this deep: far more than anyone
/// writes, and little enough for every level to walk through.
const MOST_NESTED: usize = 64;

/// Largest exponent: `x^64` is six products of squares and far above what anyone writes.
const MOST_EXPONENT: f64 = 64.0;

/// Reads an expression as far as it goes.
pub(crate) fn expression(cursor: &mut Cursor<'_>) -> Result<Expr, Diagnostic> {
    let mut value = product(cursor)?;
    loop {
        let sign = match cursor.peek() {
            Some(Kind::Mark('+')) => Sign::Plus,
            Some(Kind::Mark('-')) => Sign::Minus,
            Some(Kind::Mark(_) | Kind::Word(_) | Kind::Number(_)) | None => return Ok(value),
        };
        cursor.skip();
        value = Expr::Binary(sign, Box::new(value), Box::new(product(cursor)?));
    }
}

fn product(cursor: &mut Cursor<'_>) -> Result<Expr, Diagnostic> {
    let mut value = factor(cursor)?;
    loop {
        let sign = match cursor.peek() {
            Some(Kind::Mark('*')) => Sign::Times,
            Some(Kind::Mark('/')) => Sign::Over,
            Some(Kind::Mark(_) | Kind::Word(_) | Kind::Number(_)) | None => return Ok(value),
        };
        cursor.skip();
        value = Expr::Binary(sign, Box::new(value), Box::new(factor(cursor)?));
    }
}

/// A reduction with the rest of the product, or one factor of it.
fn factor(cursor: &mut Cursor<'_>) -> Result<Expr, Diagnostic> {
    if cursor.peek() == Some(Kind::Mark('-')) {
        let span = cursor.place();
        cursor.skip();
        let inner = nested(cursor, span, factor)?;
        return Ok(Expr::Negative(Box::new(inner)));
    }
    if let Some(reducer) = reducer_ahead(cursor) {
        let span = cursor.place();
        let over = reduction(cursor, reducer)?;
        let value = nested(cursor, span, product)?;
        return Ok(Expr::Reduction(over, Box::new(value)));
    }
    let base = atom(cursor)?;
    if !cursor.accept('^') {
        return Ok(base);
    }
    Ok(Expr::Power(Box::new(base), exponent(cursor)?))
}

/// Reads one more level, within the limit.
fn nested<T>(
    cursor: &mut Cursor<'_>,
    span: Span,
    read: fn(&mut Cursor<'_>) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    cursor.depth += 1;
    if cursor.depth > MOST_NESTED {
        let message = format!("more than {MOST_NESTED} expressions stand within one another");
        return Err(unsupported(message, span).help("write a part as a statement of its own"));
    }
    let read = read(cursor);
    cursor.depth -= 1;
    read
}

/// `max(j)` is a reduction and `max(a[i], b[i])` is none: within a reduction's parentheses stand
/// names and commas, or a range.
fn reducer_ahead(cursor: &Cursor<'_>) -> Option<Reducer> {
    let Some(Kind::Word(name)) = cursor.peek() else { return None };
    let reducer = Reducer::from_name(name)?;
    if cursor.peek_at(1) != Some(Kind::Mark('(')) {
        return None;
    }
    let mut ahead = 2;
    loop {
        match cursor.peek_at(ahead) {
            Some(Kind::Word("in")) | Some(Kind::Mark(')')) => return Some(reducer),
            Some(Kind::Word(_) | Kind::Mark(',')) => ahead += 1,
            // What is no list of names is the argument of a function, or a slip in a sum.
            Some(Kind::Number(_) | Kind::Mark(_)) | None => {
                return reducer.adds().then_some(reducer);
            }
        }
    }
}

fn reduction(cursor: &mut Cursor<'_>, reducer: Reducer) -> Result<Reduction, Diagnostic> {
    cursor.skip();
    cursor.expect('(')?;
    let mut labels = vec![label(cursor, "a label")?];
    if cursor.peek() == Some(Kind::Word("in")) {
        cursor.skip();
        let range = range(cursor)?;
        close(cursor, "`)`")?;
        return Ok(Reduction { reducer, labels, range: Some(range) });
    }
    while cursor.accept(',') {
        labels.push(label(cursor, "a label")?);
    }
    close(cursor, "`,` or `)`")?;
    Ok(Reduction { reducer, labels, range: None })
}

fn close(cursor: &mut Cursor<'_>, what: &str) -> Result<(), Diagnostic> {
    if cursor.accept(')') { Ok(()) } else { Err(cursor.expected(what)) }
}

/// `p[i]..p[i+1]`, the only place of arithmetic on an index.
fn range(cursor: &mut Cursor<'_>) -> Result<Range, Diagnostic> {
    let start = cursor.place();
    let pointers = label(cursor, "row pointers")?;
    cursor.expect('[')?;
    let row = label(cursor, "a row's label")?;
    cursor.expect(']')?;
    for _ in 0..2 {
        cursor.expect('.')?;
    }
    let (again, next) = (label(cursor, "row pointers")?, cursor.expect('[')?);
    let row_again = label(cursor, "a row's label")?;
    cursor.expect('+')?;
    let is_one = cursor.peek() == Some(Kind::Number("1"));
    let Label { name, .. } = &pointers;
    let shown = format!("{name}[{0}]..{name}[{0}+1]", row.name);
    if !is_one || again.name != *name || row_again.name != row.name {
        let span = Span::new(start.start, next.end);
        let message = "a range is not from one row's pointer to the next".to_owned();
        return Err(unsupported(message, span).help(format!("write `{shown}`")));
    }
    cursor.skip();
    cursor.expect(']')?;
    Ok(Range { pointers, row })
}

fn atom(cursor: &mut Cursor<'_>) -> Result<Expr, Diagnostic> {
    let span = cursor.place();
    match (cursor.peek(), cursor.peek_at(1)) {
        (Some(Kind::Number(_)), _) => Ok(Expr::Number(number(cursor)?)),
        (Some(Kind::Mark('(')), _) => {
            cursor.skip();
            let inner = nested(cursor, span, expression)?;
            close(cursor, "a sign or `)`")?;
            Ok(inner)
        }
        (Some(Kind::Word(name)), Some(Kind::Mark('('))) => call(cursor, name),
        (Some(Kind::Word(name)), _) if !cursor.bare.is_empty() => parameter(cursor, name),
        (Some(Kind::Word(_) | Kind::Mark(_)) | None, _) => Ok(Expr::Access(access(cursor)?)),
    }
}

/// An element that a closure names without labels.
fn parameter(cursor: &mut Cursor<'_>, name: &str) -> Result<Expr, Diagnostic> {
    let span = cursor.place();
    let known = cursor.bare.iter().find(|(known, _)| known.name == name);
    let Some((_, labels)) = known.cloned() else {
        let names: Vec<&str> = cursor.bare.iter().map(|(known, _)| known.name.as_str()).collect();
        return Err(cursor.expected(&format!("one of `{}`", names.join("`, `"))));
    };
    cursor.skip();
    let tensor = Label { name: name.to_owned(), span };
    let indices = labels.into_iter().map(Index::Label).collect();
    Ok(Expr::Access(Access { tensor, indices }))
}

fn call(cursor: &mut Cursor<'_>, name: &str) -> Result<Expr, Diagnostic> {
    let span = cursor.place();
    let extreme = [Extreme::Max, Extreme::Min].into_iter().find(|extreme| extreme.name() == name);
    let function = Function::from_name(name);
    if extreme.is_none() && function.is_none() {
        return Err(unknown_function(name, span));
    }
    cursor.skip();
    cursor.skip();
    let first = nested(cursor, span, expression)?;
    let value = match (extreme, function) {
        (Some(extreme), _) => {
            if !cursor.accept(',') {
                return Err(cursor.expected(&format!("`,` and a second value in `{name}(..)`")));
            }
            let second = nested(cursor, span, expression)?;
            Expr::Extreme(extreme, Box::new(first), Box::new(second))
        }
        (None, Some(function)) => Expr::Call(function, Box::new(first)),
        (None, None) => return Err(unknown_function(name, span)),
    };
    close(cursor, "a sign or `)`")?;
    Ok(value)
}

fn unknown_function(name: &str, span: Span) -> Diagnostic {
    let known = Function::ALL.into_iter().filter(|function| *function != Function::Negate);
    let known: Vec<&str> = known.map(Function::name).chain(["max", "min"]).collect();
    let help = match name {
        "gelu" => "write `gelu_tanh` or `gelu_erf`: they differ by up to 4.7e-4".to_owned(),
        "log" => "write `ln`".to_owned(),
        _ => format!("the functions are: {}", known.join(", ")),
    };
    Diagnostic::new(Code::UnknownFunction, format!("there is no function `{name}`"))
        .at(span)
        .place(format!("byte {}", span.start))
        .help(help)
}

fn number(cursor: &mut Cursor<'_>) -> Result<Number, Diagnostic> {
    let span = cursor.place();
    let Some(Kind::Number(text)) = cursor.peek() else { return Err(cursor.expected("a number")) };
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value.ok_or_else(|| {
        let message = format!("the number {text} is beyond the range of f64");
        unsupported(message, span).help("write a number below 1.8e308")
    })?;
    cursor.skip();
    Ok(Number::new(value))
}

/// A whole number or a half, perhaps with a sign and in parentheses.
fn exponent(cursor: &mut Cursor<'_>) -> Result<Number, Diagnostic> {
    let is_closed = cursor.accept('(');
    let is_negative = cursor.accept('-');
    let span = cursor.place();
    let value = number(cursor)?.value();
    if is_closed {
        close(cursor, "`)`")?;
    }
    let is_known = value == 0.5 || value.fract() == 0.0 && (1.0..=MOST_EXPONENT).contains(&value);
    if !is_known {
        let message =
            format!("the exponent {} is neither a whole number nor a half", Number::new(value));
        let help = format!("write one from 1 to {MOST_EXPONENT}, or `exp` and `ln` of a product");
        return Err(unsupported(message, span).help(help));
    }
    Ok(Number::new(if is_negative { -value } else { value }))
}
