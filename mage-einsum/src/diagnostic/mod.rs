//! What a user is told when an input is wrong: a code, one sentence, the place twice (as a span
//! and in words) and one thing to do. Every level reports through these types; the command line
//! and the macro render them.

mod codes;
mod explanation;
mod render;

pub use codes::Code;
pub use render::render;
pub(crate) use render::{is_unseen, spelled};

/// A byte range in one [`Source`] text. `start == end` marks a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte, on a character boundary.
    pub start: usize,
    /// One past the last byte, on a character boundary.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start, end }
    }
}

/// Which text a [`Span`] points into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The notation string, for example `ik,kj->ij`.
    Notation,
    /// The option text, for example `tile = 64, name = matmul`.
    Options,
    /// Both together as they were written, where they could not be told apart.
    Invocation,
}

/// One mistake in a user's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The named error, a row of the table in `codes.rs`.
    pub code: Code,
    /// One sentence in lower case without a full stop that names the label and both sides.
    pub message: String,
    /// The text that [`Diagnostic::span`] and [`Diagnostic::notes`] point into.
    pub source: Source,
    /// The offending bytes, where there are any (run-time extents have none).
    pub span: Option<Span>,
    /// The place in words, for example `operand 1, label 0`; both count from 0.
    pub place: Option<String>,
    /// Further places of the same mistake, each with what stands there.
    pub notes: Vec<(Span, String)>,
    /// One thing to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic about the notation without a place.
    pub fn new(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            message: message.into(),
            source: Source::Notation,
            span: None,
            place: None,
            notes: Vec::new(),
            help: None,
        }
    }

    /// The same about the option text.
    pub fn option(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { source: Source::Options, ..Diagnostic::new(code, message) }
    }

    /// Points at `span`.
    pub fn at(mut self, span: Span) -> Diagnostic {
        self.span = Some(span);
        self
    }

    /// Tells the place in words.
    pub fn place(mut self, place: impl Into<String>) -> Diagnostic {
        self.place = Some(place.into());
        self
    }

    /// Adds a second place.
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.notes.push((span, text.into()));
        self
    }

    /// Adds one thing to do.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// All mistakes of one level; never empty when it is an `Err`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl From<Diagnostic> for Diagnostics {
    fn from(one: Diagnostic) -> Diagnostics {
        Diagnostics(vec![one])
    }
}

impl std::fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (position, diagnostic) in self.0.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            write!(f, "{diagnostic}")?;
        }
        Ok(())
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.number(), self.message)?;
        if let Some(place) = &self.place {
            write!(f, " ({place})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
impl std::error::Error for Diagnostic {}
