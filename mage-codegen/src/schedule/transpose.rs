//! The types of a transpose: a permutation in which the contiguous mode changes, so that a tile has
//! to go through shared memory for both its loads and its stores to be coalesced.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::ModeId;

use super::Tail;

/// A tile of the operand is loaded along one mode and stored along another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transpose {
    /// The operand's contiguous mode.
    pub load: TileSide,
    /// The output's contiguous mode.
    pub store: TileSide,
    /// Elements of the tile along either mode; a warp walks them.
    pub tile: u32,
    /// Elements from one row of the tile to the next in shared memory: the tile and a pad, which
    /// puts the elements of a column into different banks.
    pub row_elems: u32,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Threads of a block.
    pub block_threads: u32,
    /// The other modes, which the grid walks one by one, in the order of the output.
    pub outer: Vec<ModeId>,
}

/// One mode of the tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileSide {
    /// The mode.
    pub mode: ModeId,
    /// What becomes of its last tile.
    pub tail: Tail,
}

impl Transpose {
    /// Rows of the tile that a block moves at a time.
    pub fn rows_at_a_time(&self) -> u32 {
        self.block_threads / self.tile
    }

    /// Bytes of shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        self.tile * self.row_elems * self.dtype.size_bytes() as u32
    }
}
