//! The type of a reduction over the rows of a CSR matrix, with features along the lanes.

use mage_einsum::index::{ModeId, Segment};

use super::VariantKind;

/// Neighbouring lanes have a row's features and take its edges one after the other. Long rows are
/// cut into parts, which the handle of the row pointers lists and blocks of their own reduce before;
/// then the lanes combine the parts of their row in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    /// The rows: their mode and their pointers.
    pub segment: Segment,
    /// The features' mode, the target's last.
    pub lane_mode: ModeId,
    /// The mode of the edges.
    pub edge_mode: ModeId,
    /// Lanes of a row, in the order in which the host tries them: each for as many features as its
    /// lanes have four of, the last for all.
    pub row_lanes: Vec<u32>,
    /// Threads of a block of rows.
    pub block_threads: u32,
    /// Threads of the block of a part.
    pub part_threads: u32,
    /// Edges of a lane in flight.
    pub ahead: u32,
    /// Edges of a part; the last one of a row has what is left beside. A row with as many or more
    /// is long.
    pub part_edges: u32,
    /// The variants, in the order in which the host tries them.
    pub kinds: Vec<VariantKind>,
}

/// What a kernel does with long rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongRows {
    /// The same as with others.
    Whole,
    /// It combines their parts.
    Parts,
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
