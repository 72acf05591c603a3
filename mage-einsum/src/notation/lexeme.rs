//! The smallest pieces of the classic form, with their places. Everything that is not one of them
//! is a mistake that is told here; `classic` then reads terms from the rest.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::character::complete::{char, satisfy};
use nom::combinator::{map, recognize, value};
use nom::multi::many0_count;
use nom::{IResult, Parser};

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span, is_unseen, spelled};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slip {
    /// Dots that are not `...`.
    Dots,
    /// `-` and `>` with a space between them.
    SplitArrow,
    /// What people write for `->`, and its halves.
    ArrowLike,
    /// White space other than the ASCII space.
    Blank,
    /// Characters that a screen does not show.
    Unseen,
    /// Anything else; neighbours are one mistake.
    Strange,
}

/// Splits `text` into pieces without the spaces between them (rules R1 and R3). A slip that is made
/// again is a note on the first, because both have one help.
pub(super) fn lexemes(text: &str) -> Result<Vec<(Lexeme, Span)>, Diagnostics> {
    let mut lexemes = Vec::new();
    let mut slips: Vec<(Slip, Diagnostic)> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = text.len() - rest.len();
        let (after, found) = piece(rest).unwrap_or(("", Piece::Bad(Slip::Strange)));
        let span = Span::new(start, text.len() - after.len());
        let written = &text[span.start..span.end];
        match found {
            Piece::Space => {}
            Piece::Good(lexeme) => lexemes.push((lexeme, span)),
            Piece::Bad(slip) => match slips.iter_mut().find(|(told, _)| *told == slip) {
                Some((_, first)) => first.notes.push((span, again(slip, written))),
                None => slips.push((slip, mistake(slip, written, span))),
            },
        }
        rest = after;
    }
    if slips.is_empty() {
        return Ok(lexemes);
    }
    Err(Diagnostics(slips.into_iter().map(|(_, mistake)| mistake).collect()))
}

fn piece(input: &str) -> IResult<&str, Piece> {
    let spaces = || take_while1(|c| c == ' ');
    let letter = satisfy(|c| c.is_ascii_alphabetic());
    let dots = recognize((char('.'), many0_count(alt((spaces_then_dot, tag("."))))));
    alt((
        value(Piece::Space, spaces()),
        map(letter, |c| Piece::Good(Lexeme::Letter(c))),
        value(Piece::Good(Lexeme::Comma), char(',')),
        value(Piece::Good(Lexeme::Ellipsis), tag("...")),
        value(Piece::Bad(Slip::Dots), alt((dots, tag("…")))),
        value(Piece::Bad(Slip::SplitArrow), (char('-'), spaces(), char('>'))),
        arrow,
        value(Piece::Bad(Slip::Blank), take_while1(is_blank)),
        value(Piece::Bad(Slip::Unseen), take_while1(is_unseen)),
        value(Piece::Bad(Slip::Strange), take_while1(is_strange)),
    ))
    .parse(input)
}

fn spaces_then_dot(input: &str) -> IResult<&str, &str> {
    recognize((take_while1(|c| c == ' '), char('.'))).parse(input)
}

/// An arrow, or all that stands together in its place. Of several arrows it takes the first.
fn arrow(input: &str) -> IResult<&str, Piece> {
    let (after, run) = take_while1(is_arrow_part).parse(input)?;
    if run.replace("->", "").is_empty() {
        return map(tag("->"), |_| Piece::Good(Lexeme::Arrow)).parse(input);
    }
    Ok((after, Piece::Bad(Slip::ArrowLike)))
}

/// The characters of which people make arrows, a word processor's dashes among them.
pub(super) fn is_arrow_part(character: char) -> bool {
    "-=<>~→⇒⟶⟹←–—−".contains(character)
}

fn is_blank(character: char) -> bool {
    character.is_whitespace() && character != ' '
}

fn is_strange(character: char) -> bool {
    let is_known = character.is_ascii_alphabetic() || " ,.…".contains(character);
    let is_other = is_arrow_part(character) || is_blank(character) || is_unseen(character);
    !is_known && !is_other
}

fn mistake(slip: Slip, written: &str, span: Span) -> Diagnostic {
    let shown = spelled(written);
    let (code, message, help) = match slip {
        Slip::Dots if written == "." => {
            (Code::BadEllipsis, "a dot is not an ellipsis".to_owned(), "write `...`, or remove it")
        }
        Slip::Dots => (Code::BadEllipsis, format!("`{shown}` is not an ellipsis"), "write `...`"),
        Slip::SplitArrow => {
            (Code::BadChar, "the arrow has a space inside".to_owned(), "write `->`")
        }
        Slip::ArrowLike => (Code::BadChar, format!("`{shown}` is not the arrow"), "write `->`"),
        Slip::Blank => (Code::BadChar, no_part(&shown), "write an ASCII space"),
        Slip::Unseen => (Code::BadChar, no_part(&shown), "remove the unseen character"),
        Slip::Strange => (Code::BadChar, no_part(&shown), STRANGE_HELP),
    };
    Diagnostic::new(code, message).at(span).place(format!("byte {}", span.start)).help(help)
}

fn no_part(shown: &str) -> String {
    format!("`{shown}` is not part of einsum notation")
}

fn again(slip: Slip, written: &str) -> String {
    match slip {
        Slip::SplitArrow => "this one too".to_owned(),
        Slip::Dots | Slip::ArrowLike | Slip::Blank | Slip::Unseen | Slip::Strange => {
            format!("nor is `{}`", spelled(written))
        }
    }
}

const STRANGE_HELP: &str = "use single ASCII letters as labels, `,` and `->`, with ASCII spaces \
    between them; longer names need the index form, as in `C[row] = sum(k) A[row,k]`";
