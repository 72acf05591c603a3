//! The whole compiler in one function: five levels, each made once from the one before it,
//! verified and kept.

use mage_einsum::diagnostic::Diagnostics;
use mage_einsum::index::{self, Program};
use mage_einsum::notation::Notation;
use mage_einsum::spec::Spec;

use crate::emit;
use crate::kernel::{self, Module};
use crate::schedule::{self, Schedule};

/// Every level of one specification.
#[derive(Debug, Clone)]
pub struct Levels {
    /// Level 1: what the user wrote.
    pub notation: Notation,
    /// Level 2: what it means.
    pub program: Program,
    /// Level 3: how it is mapped.
    pub schedule: Schedule,
    /// Level 4: the host's steps and the kernels.
    pub module: Module,
    /// Level 5: the source, formatted.
    pub source: String,
}

/// Why there are no levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The user's mistakes, all of one level.
    Mistakes(Diagnostics),
    /// A level that is not well formed: a bug of Mage.
    Bug(String),
}

/// Compiles one specification.
///
/// # Errors
/// The user's mistakes of the first level that has any.
pub fn compile(spec: &Spec) -> Result<Levels, Error> {
    let notation = spec.notation.clone();

    let program = index::lower(&notation, &spec.options).map_err(Error::Mistakes)?;
    index::verify(&program).map_err(Error::Bug)?;

    let schedule = schedule::choose(&program, &spec.options).map_err(Error::Mistakes)?;
    schedule::verify(&schedule).map_err(Error::Bug)?;

    let module = kernel::lower::lower(&schedule);
    kernel::verify(&module).map_err(Error::Bug)?;

    let source = emit::source(&module).map_err(|why| Error::Bug(why.to_string()))?;
    Ok(Levels { notation, program, schedule, module, source })
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Mistakes(diagnostics) => write!(f, "{diagnostics}"),
            Error::Bug(why) => write!(f, "a bug in Mage, please report it: {why}"),
        }
    }
}

impl std::error::Error for Error {}
