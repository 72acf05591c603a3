//! The smallest pieces of the classic form, with their places. Everything that is not one of them
//! is a mistake that is told here; `classic` then reads terms from the rest.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{char, satisfy};
use nom::combinator::{map, recognize, value};
use nom::multi::many0_count;
use nom::{IResult, Parser};

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span};

/// A piece of the classic form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lexeme {
    Letter(char),
    Ellipsis,
    Comma,
    Arrow,
}

#[derive(Debug, Clone, Copy)]
enum Piece {
    Space,
    Good(Lexeme),
    Bad(Slip),
}

/// What may stand where a lexeme should.
#[derive(Debug, Clone, Copy)]
enum Slip {
    /// Dots that are not `...`.
    Dots,
    /// `-` and `>` with a space between them.
    SplitArrow,
    /// What people write for `->`, and its halves.
    ArrowLike,
    /// Anything else; neighbours are one mistake.
    Strange,
}

/// Splits `text` into pieces without the spaces between them (rules R1 and R3).
pub(super) fn lexemes(text: &str) -> Result<Vec<(Lexeme, Span)>, Diagnostics> {
    let mut lexemes = Vec::new();
    let mut mistakes = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = text.len() - rest.len();
        let (after, found) = piece(rest).unwrap_or(("", Piece::Bad(Slip::Strange)));
        let span = Span::new(start, text.len() - after.len());
        match found {
            Piece::Space => {}
            Piece::Good(lexeme) => lexemes.push((lexeme, span)),
            Piece::Bad(slip) => mistakes.push(mistake(slip, &text[span.start..span.end], span)),
        }
        rest = after;
    }
    if mistakes.is_empty() { Ok(lexemes) } else { Err(Diagnostics(mistakes)) }
}

fn piece(input: &str) -> IResult<&str, Piece> {
    let spaces = || take_while1(|c| c == ' ');
    let letter = satisfy(|c| c.is_ascii_alphabetic());
    let arrow_like = alt((tag("=>"), tag("→"), tag("⇒"), tag("-"), tag(">"), tag("=")));
    let dots = (char('.'), many0_count(alt((spaces_then_dot, tag(".")))));
    alt((
        value(Piece::Space, spaces()),
        map(letter, |c| Piece::Good(Lexeme::Letter(c))),
        value(Piece::Good(Lexeme::Comma), char(',')),
        value(Piece::Good(Lexeme::Arrow), tag("->")),
        value(Piece::Good(Lexeme::Ellipsis), tag("...")),
        value(Piece::Bad(Slip::Dots), dots),
        value(Piece::Bad(Slip::SplitArrow), (char('-'), spaces(), char('>'))),
        value(Piece::Bad(Slip::ArrowLike), arrow_like),
        value(Piece::Bad(Slip::Strange), take_while1(is_strange)),
    ))
    .parse(input)
}

fn spaces_then_dot(input: &str) -> IResult<&str, &str> {
    recognize((take_while1(|c| c == ' '), char('.'))).parse(input)
}

fn is_strange(character: char) -> bool {
    !character.is_ascii_alphabetic() && !" ,.->=→⇒".contains(character)
}

fn mistake(slip: Slip, written: &str, span: Span) -> Diagnostic {
    let strange_help = if written.chars().all(char::is_whitespace) {
        "write an ASCII space"
    } else {
        STRANGE_HELP
    };
    let written = written.escape_debug();
    let (code, message, help) = match slip {
        Slip::Dots => (Code::BadEllipsis, format!("`{written}` is not an ellipsis"), "write `...`"),
        Slip::SplitArrow => {
            (Code::BadChar, "the arrow has a space inside".to_owned(), "write `->`")
        }
        Slip::ArrowLike => (Code::BadChar, format!("`{written}` is not the arrow"), "write `->`"),
        Slip::Strange => {
            (Code::BadChar, format!("`{written}` is not part of einsum notation"), strange_help)
        }
    };
    Diagnostic::new(code, message).at(span).place(format!("byte {}", span.start)).help(help)
}

const STRANGE_HELP: &str = "use single ASCII letters as labels, `,` and `->`, with ASCII spaces \
    between them; longer names need the index form, as in `C[row] = sum(k) A[row,k]`";
