//! How a run ends badly: the host refuses, or a kernel breaks a rule of the IR. Made by the host's
//! steps and by the block interpreter, read by people.

use std::error::Error;
use std::fmt;

use mage_einsum::diagnostic::Code;

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// A requirement of the host does not hold: the caller's mistake.
    Host(HostFailure),
    /// A kernel broke a rule of the IR: our bug.
    Trap(Trap),
}

/// A requirement of the host that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFailure {
    /// The code under which the refusal is documented.
    pub code: Code,
    /// Names the label or the buffer, and both sides.
    pub message: String,
}

/// A rule of the IR that a kernel broke, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trap {
    /// The kernel's name; empty where no kernel was launched.
    pub kernel: String,
    /// The block; none where the rule is about the whole launch.
    pub block: Option<u64>,
    /// The thread in its block; none where the rule is about the whole block.
    pub thread: Option<u32>,
    /// The path to the statement: `2: for k_step > 0: load a`. Empty where the rule is about the
    /// whole launch.
    pub statement: String,
    /// What is wrong, with the array and the element.
    pub message: String,
}

/// A broken rule before its kernel, block and statement are known. Boxed, because it travels
/// through results of single elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The thread in its block; none where the rule is about the whole block.
    pub lane: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl Fault {
    /// A fault of one thread.
    #[cold]
    pub fn at(lane: usize, message: String) -> Box<Fault> {
        Box::new(Fault { lane: Some(lane), message })
    }

    /// A fault of the block.
    #[cold]
    pub fn of_block(message: String) -> Box<Fault> {
        Box::new(Fault { lane: None, message })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Host(failure) => failure.fmt(f),
            Failure::Trap(trap) => trap.fmt(f),
        }
    }
}

impl fmt::Display for HostFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.kernel.is_empty() {
            f.write_str("without a launch")?;
        } else {
            write!(f, "kernel `{}`", self.kernel)?;
        }
        if let Some(block) = self.block {
            write!(f, ", block {block}")?;
        }
        if let Some(thread) = self.thread {
            write!(f, ", thread {thread}")?;
        }
        if !self.statement.is_empty() {
            write!(f, ", at `{}`", self.statement)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Error for Failure {}
impl Error for HostFailure {}
impl Error for Trap {}

impl From<HostFailure> for Failure {
    fn from(failure: HostFailure) -> Failure {
        Failure::Host(failure)
    }
}

impl From<Trap> for Failure {
    fn from(trap: Trap) -> Failure {
        Failure::Trap(trap)
    }
}
