//! The macro's tokens as the text that the one parser reads, with the way back from a byte of
//! that text to a place in the caller's file.

use std::ops::Range;

use proc_macro2::{Delimiter, Literal, Span, TokenStream, TokenTree};

/// What stands between the macro's parentheses.
pub struct Invocation {
    /// Its tokens, spaced as people do.
    pub text: String,
    tokens: Vec<Token>,
}

/// A token and the bytes of the text that it fills.
struct Token {
    bytes: Range<usize>,
    span: Span,
    /// Kept where it is a literal: a nightly compiler can underline a part of it.
    literal: Option<Literal>,
}

impl Invocation {
    /// Writes the tokens down.
    pub fn new(tokens: TokenStream) -> Invocation {
        let mut invocation = Invocation { text: String::new(), tokens: Vec::new() };
        invocation.push_all(tokens);
        invocation
    }

    fn push_all(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = marks(group.delimiter());
                    self.push(open, group.span_open(), None);
                    self.push_all(group.stream());
                    self.push(close, group.span_close(), None);
                }
                TokenTree::Ident(ident) => self.push(&ident.to_string(), ident.span(), None),
                TokenTree::Punct(punct) => self.push(&punct.to_string(), punct.span(), None),
                TokenTree::Literal(literal) => {
                    self.push(&literal.to_string(), literal.span(), Some(literal));
                }
            }
        }
    }

    fn push(&mut self, text: &str, span: Span, literal: Option<Literal>) {
        if text.is_empty() {
            return;
        }
        let is_apart = !matches!(text, "," | ")") && !self.text.ends_with('(');
        if is_apart && !self.text.is_empty() {
            self.text.push(' ');
        }
        let start = self.text.len();
        self.text.push_str(text);
        self.tokens.push(Token { bytes: start..self.text.len(), span, literal });
    }

    /// The places of the first and the last of `bytes`; the whole invocation without bytes.
    pub fn spans(&self, bytes: Option<&Range<usize>>) -> (Span, Span) {
        let Some(bytes) = bytes else {
            return (Span::call_site(), Span::call_site());
        };
        let last = bytes.end.saturating_sub(1).max(bytes.start);
        (self.span(bytes.start, bytes), self.span(last, bytes))
    }

    /// The place of the token that holds byte `at`, or of its part within `bytes`.
    fn span(&self, at: usize, bytes: &Range<usize>) -> Span {
        let holder = self.tokens.iter().find(|token| at < token.bytes.end);
        let Some(token) = holder.or(self.tokens.last()) else {
            return Span::call_site();
        };
        let within =
            |byte: usize| byte.clamp(token.bytes.start, token.bytes.end) - token.bytes.start;
        let part = within(bytes.start)..within(bytes.end);
        let literal = token.literal.as_ref();
        literal.and_then(|literal| literal.subspan(part)).unwrap_or(token.span)
    }
}

/// A group without marks is what a `macro_rules!` fragment leaves around its tokens.
fn marks(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}
