//! Why a macro's `emulate` gives no output.

use mage_codegen::emulate::Failure;
use mage_codegen::pipeline;
use mage_einsum::diagnostic::Diagnostics;

/// What went wrong between the embedded specification and the emulator's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmulateError {
    /// The specification does not compile here: the macro was another version of Mage.
    Compile(pipeline::Error),
    /// The specification compiles to a source other than the embedded one.
    OtherSource {
        /// Hash of the embedded source.
        embedded: String,
        /// Hash of the source that it compiles to here.
        compiled: String,
    },
    /// The operands' shapes do not fit the notation.
    Operands(Diagnostics),
    /// The host refused the extents or the operands, or the kernel broke a rule of its IR.
    Failure(Failure),
}

impl std::fmt::Display for EmulateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EmulateError::Compile(error) => write!(f, "{error}"),
            EmulateError::OtherSource { embedded, compiled } => write!(
                f,
                "the embedded source has hash {embedded} but the specification compiles to {compiled}"
            ),
            EmulateError::Operands(mistakes) => write!(f, "{mistakes}"),
            EmulateError::Failure(failure) => write!(f, "{failure}"),
        }
    }
}

impl std::error::Error for EmulateError {}
