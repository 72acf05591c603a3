//! A schedule and the strategies it can choose from.

use mage_einsum::index::{PathReport, Program};

use super::{Family, Reduction, Transpose};
use crate::device::Device;

/// How a program is run: its launches in order, each covering one statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The canonical program, with adjacent modes merged; the levels below read nothing above.
    pub program: Program,
    /// How the product became a sequence of pairs, and what that costs; `None` where one launch
    /// takes it as written.
    pub path: Option<PathReport>,
    /// A Rust identifier for the whole, from the option `name` or from notation and tile.
    pub name: String,
    /// The options as text, kept for headers.
    pub options: String,
    /// The device it was chosen for.
    pub device: &'static Device,
    /// One a statement.
    pub launches: Vec<Launch>,
}

impl Schedule {
    /// The entry name of a launch's kernel, or what it begins with where the launch has several:
    /// each then adds its own `parts`, such as `wide`.
    pub fn kernel_name<'n>(
        &self,
        launch: &Launch,
        parts: impl IntoIterator<Item = &'n str>,
    ) -> String {
        let mut name = self.name.clone();
        if self.launches.len() > 1 {
            name.push_str(&format!("_step{}", launch.statement));
        }
        parts.into_iter().fold(name, |name, part| format!("{name}_{part}"))
    }
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
    /// A block computes a tile of the output from stages in shared memory; the host takes a tile
    /// of the family.
    Tiled(Family),
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
