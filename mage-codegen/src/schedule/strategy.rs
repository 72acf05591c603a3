//! A schedule and the strategies it can choose from.

use mage_einsum::index::Program;

use super::{Tiled, VariantKind};
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

impl Schedule {
    /// The entry name of a launch's kernel; `variant` is the one it is of several, if it is.
    pub fn kernel_name(&self, launch: &Launch, variant: Option<VariantKind>) -> String {
        let mut name = self.name.clone();
        if self.launches.len() > 1 {
            name.push_str(&format!("_step{}", launch.statement));
        }
        match (&launch.strategy, variant) {
            (Strategy::Tiled(tiled), Some(variant)) if tiled.variants.len() > 1 => {
                format!("{name}_{}", variant.name())
            }
            (Strategy::Tiled(_) | Strategy::PerOutput(_), Some(_) | None) => name,
        }
    }

    /// The entry names of all kernels of a launch, in the order of its variants.
    pub fn kernel_names(&self, launch: &Launch) -> Vec<String> {
        match &launch.strategy {
            Strategy::Tiled(tiled) => {
                let variants = tiled.variants.iter();
                variants.map(|variant| self.kernel_name(launch, Some(variant.kind))).collect()
            }
            Strategy::PerOutput(_) => vec![self.kernel_name(launch, None)],
        }
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
pub enum Strategy {
    /// A block computes a tile of the output from stages in shared memory.
    Tiled(Tiled),
    /// A thread computes one output element from global memory.
    PerOutput(PerOutput),
}

/// One thread an output element: right for every statement, fast for few.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerOutput {
    /// Threads a block.
    pub block_threads: u32,
    /// Terms in one partial sum. Partial sums are added in order, so that a long reduction is
    /// summed in two levels (semantics R15).
    pub chunk_terms: u32,
}
