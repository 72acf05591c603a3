//! The type of a reduction over the rows of a CSR matrix, with features along the lanes.

use mage_einsum::index::ModeId;

use super::VariantKind;

/// Neighbouring lanes have a row's features and take its edges one after the other. A row with many
/// edges is taken by all threads of its block instead, whose results are combined in a fixed order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    /// The mode of the rows.
    pub row_mode: ModeId,
    /// The features' mode, the target's last.
    pub lane_mode: ModeId,
    /// The mode of the edges.
    pub edge_mode: ModeId,
    /// Lanes of a row, in the order in which the host tries them: each for as many features as its
    /// lanes have four of, the last for all.
    pub row_lanes: Vec<u32>,
    /// Threads of a block.
    pub block_threads: u32,
    /// Edges of a lane in flight.
    pub ahead: u32,
    /// A row with more edges is long.
    pub long_edges: u32,
    /// The variants, in the order in which the host tries them.
    pub kinds: Vec<VariantKind>,
}

/// Whether a kernel has to look out for long rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// There are none.
    Short,
    /// There may be some.
    Any,
}

impl Length {
    /// What the name of a kernel says.
    pub fn name(self) -> &'static str {
        match self {
            Length::Short => "short",
            Length::Any => "any",
        }
    }
}

impl Segments {
    /// Neighbouring features of a lane.
    pub fn elems(kind: VariantKind) -> u32 {
        match kind {
            VariantKind::Wide => 4,
            VariantKind::Narrow => 1,
        }
    }
}
