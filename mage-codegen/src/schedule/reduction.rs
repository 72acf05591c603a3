//! The types of a reduction: a sum without an M x N tile, whose terms are shared between threads.

use mage_einsum::index::ModeId;

use super::{Parts, VariantKind};

/// Threads that share an output take its terms in turn; their partial sums are combined in a fixed
/// order, by shuffles within a warp and through shared memory between warps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduction {
    /// What neighbouring lanes walk.
    pub lanes: Lanes,
    /// The mode that they walk.
    pub lane_mode: ModeId,
    /// The summed modes, outermost first; a term is a position in all of them taken together.
    pub terms: Vec<ModeId>,
    /// The modes of the output that lanes do not walk, outermost first.
    pub outer: Vec<ModeId>,
    /// Terms that a thread has in flight.
    pub ahead: u32,
    /// How many threads share an output, in the order in which the host tries them.
    pub splits: Vec<Split>,
    /// The variants of each split, in the order in which the host tries them.
    pub kinds: Vec<VariantKind>,
}

/// What neighbouring lanes walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lanes {
    /// The terms of one output.
    Terms,
    /// Outputs, along a mode of theirs.
    Outputs,
}

/// How many threads share an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Which extents it is for.
    pub range: Range,
    /// Threads of a block.
    pub block_threads: u32,
    /// Outputs of a block.
    pub block_outputs: u32,
    /// Blocks on a multiprocessor that registers are kept for.
    pub min_blocks: u32,
}

/// A range of extents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Range {
    /// Long sums of few outputs, in parts; without a workspace one of the others takes them.
    Long(Parts),
    /// At most so many terms an output.
    Short(u64),
    /// At most so many outputs.
    Few(u64),
    /// What no earlier split is for.
    Many,
    /// All: there is no other split.
    All,
}

impl Range {
    /// The end of a kernel's name; nothing where there is no other split.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Range::Long(_) => Some("long"),
            Range::Short(_) => Some("short"),
            Range::Few(_) => Some("few"),
            Range::Many => Some("many"),
            Range::All => None,
        }
    }

    /// The range in words.
    pub fn words(self) -> String {
        match self {
            Range::Long(parts) => parts.words(),
            Range::Short(limit) => format!("at most {limit} terms"),
            Range::Few(limit) => format!("at most {limit} outputs"),
            Range::Many => "everything else".to_string(),
            Range::All => "all extents".to_string(),
        }
    }
}

impl Reduction {
    /// Which sums are split over blocks; none where fixed extents rule it out.
    pub fn parts(&self) -> Option<&Parts> {
        self.splits.iter().find_map(|split| match &split.range {
            Range::Long(parts) => Some(parts),
            Range::Short(_) | Range::Few(_) | Range::Many | Range::All => None,
        })
    }

    /// Elements that a thread reads in one access along the lanes' mode.
    pub fn elems(kind: VariantKind) -> u32 {
        match kind {
            VariantKind::Wide => 4,
            VariantKind::Narrow => 1,
        }
    }

    /// Neighbouring threads that have different outputs.
    pub fn output_lanes(&self, split: &Split, kind: VariantKind) -> u32 {
        match self.lanes {
            Lanes::Terms => 1,
            Lanes::Outputs => split.block_outputs / Reduction::elems(kind),
        }
    }

    /// Threads that share an output.
    pub fn output_threads(&self, split: &Split, kind: VariantKind) -> u32 {
        match self.lanes {
            Lanes::Terms => split.block_threads / split.block_outputs,
            Lanes::Outputs => split.block_threads / self.output_lanes(split, kind),
        }
    }
}
