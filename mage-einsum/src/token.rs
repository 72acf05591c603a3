//! Tokens with their places, shared by the index form of the notation and the option text, and
//! the cursor that both parsers read them through.

use nom::branch::alt;
use nom::bytes::complete::{take_while, take_while1};
use nom::character::complete::{char, one_of, satisfy};
use nom::combinator::{map, opt, recognize};
use nom::{IResult, Parser};

use crate::diagnostic::{Code, Diagnostic, Source, Span, spelled};
use crate::notation::Label;

/// One word, number or mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind<'t>,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind<'t> {
    /// A letter or `_`, then letters, digits and `_`.
    Word(&'t str),
    /// Decimal digits, perhaps with a fraction and an exponent.
    Number(&'t str),
    /// One ASCII punctuation character.
    Mark(char),
}

impl std::fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Word(text) | Kind::Number(text) => write!(f, "`{text}`"),
            Kind::Mark(mark) => write!(f, "`{mark}`"),
        }
    }
}

/// Reads tokens in order. Every refusal says what was expected and what stands there.
pub(crate) struct Cursor<'t> {
    tokens: Vec<Token<'t>>,
    next: usize,
    end: usize,
    source: Source,
    /// How deep a parser stands in what it reads, for the parser to count.
    pub(crate) depth: usize,
    /// Names that stand for elements without labels behind them, and the labels that they have: the
    /// parameters of a closure. None outside of one.
    pub(crate) bare: Vec<(Label, Vec<Label>)>,
}

impl<'t> Cursor<'t> {
    /// Splits `text` into tokens. Between tokens the notation allows spaces (rule R3), the option
    /// text any ASCII white space.
    pub(crate) fn new(text: &'t str, source: Source) -> Result<Cursor<'t>, Diagnostic> {
        let is_space = |c: char| match source {
            Source::Notation => c == ' ',
            Source::Options | Source::Invocation => c.is_ascii_whitespace(),
        };
        let mut tokens = Vec::new();
        let mut rest = text.trim_start_matches(is_space);
        while let Some(character) = rest.chars().next() {
            let start = text.len() - rest.len();
            let Ok((after, kind)) = token(rest) else {
                return Err(bad_char(character, start, source));
            };
            tokens.push(Token { kind, span: Span::new(start, text.len() - after.len()) });
            rest = after.trim_start_matches(is_space);
        }
        Ok(Cursor { tokens, next: 0, end: text.len(), source, depth: 0, bare: Vec::new() })
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.next >= self.tokens.len()
    }

    /// The place of the next token, or the end of the text.
    pub(crate) fn place(&self) -> Span {
        self.tokens.get(self.next).map_or(Span::new(self.end, self.end), |token| token.span)
    }

    /// Where the last token that was taken ends.
    pub(crate) fn last_end(&self) -> usize {
        self.next
            .checked_sub(1)
            .and_then(|at| self.tokens.get(at))
            .map_or(0, |token| token.span.end)
    }

    pub(crate) fn peek(&self) -> Option<Kind<'t>> {
        self.peek_at(0)
    }

    /// The kind of the token that is `ahead` tokens further on.
    pub(crate) fn peek_at(&self, ahead: usize) -> Option<Kind<'t>> {
        self.tokens.get(self.next + ahead).map(|token| token.kind)
    }

    /// Takes whatever stands next.
    pub(crate) fn skip(&mut self) {
        self.next += 1;
    }

    /// Takes `mark` if it stands next.
    pub(crate) fn accept(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(Kind::Mark(mark));
        if found {
            self.skip();
        }
        found
    }

    /// Takes `mark`, or says that it was expected.
    pub(crate) fn expect(&mut self, mark: char) -> Result<Span, Diagnostic> {
        let span = self.place();
        if self.accept(mark) { Ok(span) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    /// Takes a word, or says that `what` was expected.
    pub(crate) fn word(&mut self, what: &str) -> Result<(&'t str, Span), Diagnostic> {
        let span = self.place();
        if let Some(Kind::Word(text)) = self.peek() {
            self.skip();
            return Ok((text, span));
        }
        Err(self.expected(what))
    }

    /// The mistake that something other than `what` stands next.
    pub(crate) fn expected(&self, what: &str) -> Diagnostic {
        let found = self.peek().map_or("the end".to_owned(), |kind| kind.to_string());
        let message = format!("expected {what}, found {found}");
        Diagnostic { source: self.source, ..Diagnostic::new(Code::Expected, message) }
            .at(self.place())
            .place(byte(self.place().start, self.source))
            .help(match self.source {
                Source::Notation => "write a statement such as `C[i,j] = sum(k) A[i,k] * B[k,j]`",
                Source::Options | Source::Invocation => {
                    "write options such as `tile = 64, extents = (k = 64)`"
                }
            })
    }
}

/// A place in words.
fn byte(at: usize, source: Source) -> String {
    match source {
        Source::Notation | Source::Invocation => format!("byte {at}"),
        Source::Options => format!("byte {at} of the options"),
    }
}

fn token(input: &str) -> IResult<&str, Kind<'_>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let word = (satisfy(|c| c.is_ascii_alphabetic() || c == '_'), take_while(is_word));
    alt((
        map(recognize(word), Kind::Word),
        map(number, Kind::Number),
        map(satisfy(|c| c.is_ascii_punctuation()), Kind::Mark),
    ))
    .parse(input)
}

/// `64`, `0.5`, `1e-5`. A point without a digit behind it belongs to what follows, as in `1..2`.
fn number(input: &str) -> IResult<&str, &str> {
    let digits = || take_while1(|c: char| c.is_ascii_digit());
    let fraction = opt((char('.'), digits()));
    let exponent = opt((one_of("eE"), opt(one_of("+-")), digits()));
    recognize((digits(), fraction, exponent)).parse(input)
}

fn bad_char(character: char, start: usize, source: Source) -> Diagnostic {
    let message = format!("character `{}` cannot stand here", spelled(&character.to_string()));
    let help = match ascii_for(character) {
        Some(ascii) => format!("write `{ascii}`"),
        None if character == '\n' && source == Source::Notation => {
            "end the line with `\\`, or write one line".to_owned()
        }
        None => "use ASCII letters, digits and marks, with spaces between them".to_owned(),
    };
    Diagnostic { source, ..Diagnostic::new(Code::BadChar, message) }
        .at(Span::new(start, start + character.len_utf8()))
        .place(byte(start, source))
        .help(help)
}

/// What the index form writes for a sign of mathematics.
pub(crate) fn ascii_for(sign: char) -> Option<&'static str> {
    match sign {
        'Σ' | '∑' => Some("sum"),
        '×' | '·' | '⋅' | '∗' => Some("*"),
        _ => None,
    }
}
