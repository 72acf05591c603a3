//! The type of an elementwise launch: one value for each point of its target.

use mage_einsum::index::ModeId;

use super::VariantKind;

/// Lanes walk the target's last mode, and each thread takes a few positions of the mode before it,
/// so that their loads are in flight together and what does not vary along it is loaded once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elementwise {
    /// The target's last mode.
    pub lane_mode: ModeId,
    /// The mode before it; without one a thread takes positions of the last, a block's width apart.
    pub row_mode: Option<ModeId>,
    /// The other modes of the target, outermost first.
    pub outer: Vec<ModeId>,
    /// Positions that a thread takes.
    pub thread_rows: u32,
    /// Threads of a block.
    pub block_threads: u32,
    /// The variants, in the order in which the host tries them.
    pub kinds: Vec<VariantKind>,
}

impl Elementwise {
    /// The mode along which a thread takes several positions.
    pub fn unrolled_mode(&self) -> ModeId {
        self.row_mode.unwrap_or(self.lane_mode)
    }

    /// Neighbouring elements of a thread.
    pub fn elems(kind: VariantKind) -> u32 {
        match kind {
            VariantKind::Wide => 4,
            VariantKind::Narrow => 1,
        }
    }
}
