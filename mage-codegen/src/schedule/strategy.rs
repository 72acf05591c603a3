//! A schedule and the strategies it can choose from.

use mage_einsum::index::Program;

use super::{Reduction, Tiled, Transpose};
use crate::device::Device;

/// How a program is run: its launches in order, each covering one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The canonical program, with adjacent modes merged; the levels below read nothing above.
    pub program: Program,
    /// A Rust identifier for the whole, from the option `name` or from notation and tile.
    pub name: String,
    /// The options as text, kept for headers.
    pub options: String,
    /// The device it was chosen for.
    pub device: &'static Device,
    /// One a statement.
    pub launches: Vec<Launch>,
}

/// One kernel launch (or one of several variants of it).
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// Position of the statement in the program.
    pub statement: usize,
    /// How it is mapped.
    pub strategy: Strategy,
    /// Why, one entry a decision, in the order they were taken.
    pub reasons: Vec<Reason>,
}

/// A decision and why it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What was decided, for example `tile 64x64x16`.
    pub decision: String,
    /// Why.
    pub because: String,
}

/// The mappings there are.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there is one a launch, so its size is of no account")]
pub enum Strategy {
    /// A block computes a tile of the output from stages in shared memory.
    Tiled(Tiled),
    /// A block moves a tile of a permutation through shared memory.
    Transpose(Transpose),
    /// Several threads share the terms of an output.
    Reduction(Reduction),
    /// A thread computes one output element from global memory.
    PerOutput(PerOutput),
}

/// One thread an output element of a statement that sums nothing: coalesced where the operands lie
/// as the output does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerOutput {
    /// Threads a block.
    pub block_threads: u32,
}
