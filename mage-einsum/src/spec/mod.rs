//! The whole of what a user writes for one kernel: a string literal with the notation, then the
//! options. The macro, the command line and the spec files hand their text in here.

mod file;
mod run;
mod literal;

use crate::diagnostic::{Code, Diagnostic, Diagnostics, Source, Span};
use crate::notation::{self, Notation};
use crate::options::{self, Options};

pub use file::{FileText, SpecFile, parse_file, split_file};
pub use literal::{Invocation, split_invocation};
pub use run::parse_run;

/// One kernel's specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The contraction.
    pub notation: Notation,
    /// How the kernel shall be made.
    pub options: Options,
    /// The notation as written, escapes decoded; spans of its diagnostics point into it.
    pub notation_text: String,
    /// The text after the literal and its comma; spans of option diagnostics point into it.
    pub options_text: String,
    /// Where the two texts stand in the invocation.
    pub places: Places,
}

/// How places in the notation and the options map back to the invocation's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// Byte of the invocation where the literal's content starts, after the quote.
    pub literal_start: usize,
    /// Whether the literal has no escapes, so that its bytes are the notation's bytes.
    pub is_verbatim: bool,
    /// Byte of the invocation where the option text starts.
    pub options_start: usize,
}

impl Places {
    /// The byte of the invocation that holds byte `at` of the notation, unless escapes shift it.
    pub fn of_notation(&self, at: usize) -> Option<usize> {
        self.is_verbatim.then_some(self.literal_start + at)
    }

    /// The byte of the invocation that holds byte `at` of the option text.
    pub fn of_options(&self, at: usize) -> usize {
        self.options_start + at
    }
}

impl Spec {
    /// Reads a notation and an option text that stand by themselves, as on a command line.
    ///
    /// # Errors
    /// The mistakes of both together.
    pub fn from_texts(notation_text: &str, options_text: &str) -> Result<Spec, Diagnostics> {
        match (notation::parse(notation_text), options::parse(options_text)) {
            (Ok(notation), Ok(options)) => Ok(Spec {
                notation,
                options,
                notation_text: notation_text.to_owned(),
                options_text: options_text.to_owned(),
                places: Places { literal_start: 0, is_verbatim: true, options_start: 0 },
            }),
            (Ok(_), Err(mistakes)) | (Err(mistakes), Ok(_)) => Err(mistakes),
            (Err(Diagnostics(mut mistakes)), Err(Diagnostics(more))) => {
                mistakes.extend(more);
                Err(Diagnostics(mistakes))
            }
        }
    }
}

/// Reads what stands between the macro's parentheses, for example
/// `"ik,kj->ij", tile = 64`.
///
/// # Errors
/// `BadSpec` where the text is not a literal and options; else the mistakes of the notation and
/// of the options together. [`split_invocation`] gives the two texts to render them over.
pub fn parse_invocation(text: &str) -> Result<Spec, Diagnostics> {
    let Invocation { notation_text, options_text, places } = split_invocation(text)?;
    Ok(Spec { places, ..Spec::from_texts(&notation_text, &options_text)? })
}

/// A mistake at a byte of the invocation.
fn bad_spec(message: &str, at: usize) -> Diagnostic {
    let mistake = Diagnostic::new(Code::BadSpec, message).at(Span::new(at, at));
    Diagnostic { source: Source::Invocation, ..mistake }.place(format!("byte {at}"))
}
