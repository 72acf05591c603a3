//! The layout of a tile over threads and registers: warps of a grid of lanes, each lane owning
//! quads of consecutive elements. The map from (thread, register) to element is one-to-one, which
//! `verify` checks by counting.

/// What each thread owns of the tile `[channel][row][col]`.
///
/// The row of a register is
/// `warp_row * warp_rows + quad * (lanes * quad_elems) + lane_row * quad_elems + element`, and
/// the same for columns, so that the lanes of a warp read shared memory side by side while a
/// lane's own elements come four at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadMap {
    /// Channels, each owned by its own threads.
    pub channels: u32,
    /// Warps along rows and columns.
    pub warps: [u32; 2],
    /// Lanes of a warp along rows and columns. Their product is 32, or the whole block where the
    /// tile is too small or too odd for warps.
    pub lanes: [u32; 2],
    /// Quads of a lane along rows and columns.
    pub quads: [u32; 2],
    /// Consecutive elements of a quad along rows and columns: 4 or 1; 1 and 2 where the tensor
    /// cores sum.
    pub quad_elems: [u32; 2],
    /// Whether the elements are sums of the tensor cores, whose instructions fix the lanes and the
    /// order of the registers ([`Fragment`](crate::fragment::Fragment)).
    pub fragments: bool,
}

/// An element of a block's tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    /// Channel in the tile.
    pub channel: u32,
    /// Row in the tile.
    pub row: u32,
    /// Column in the tile.
    pub col: u32,
}

impl ThreadMap {
    /// Threads of one channel.
    pub fn channel_threads(&self) -> u32 {
        self.warps[0] * self.warps[1] * self.warp_lanes()
    }

    /// Lanes of a warp.
    pub fn warp_lanes(&self) -> u32 {
        self.lanes[0] * self.lanes[1]
    }

    /// Threads of the block.
    pub fn block_threads(&self) -> u32 {
        self.channels * self.channel_threads()
    }

    /// Elements of a thread along rows (0) or columns (1).
    pub fn thread_elems(&self, direction: usize) -> u32 {
        self.quads[direction] * self.quad_elems[direction]
    }

    /// Distance from a lane's quad to its next one.
    pub fn quad_stride(&self, direction: usize) -> u32 {
        self.lanes[direction] * self.quad_elems[direction]
    }

    /// Elements of a warp along rows (0) or columns (1).
    pub fn warp_elems(&self, direction: usize) -> u32 {
        self.quads[direction] * self.quad_stride(direction)
    }

    /// Elements of the block along rows (0) or columns (1).
    pub fn tile(&self, direction: usize) -> u32 {
        self.warps[direction] * self.warp_elems(direction)
    }

    /// Whether pairs of rows are interleaved: see [`ThreadMap::lane_at`].
    pub fn interleaved(&self) -> bool {
        !self.fragments && self.lanes.iter().all(|count| count.is_multiple_of(2))
    }

    /// The row and the column of a lane in its warp.
    ///
    /// Where both counts are even, lane bit 0 is the row's and lane bit 1 the column's lowest bit.
    /// Then lanes `n` and `n ^ 1` read one quad of columns and lanes `n` and `n ^ 2` one quad of
    /// rows, and shared memory serves a 16-byte load of such pairs a half warp at a time instead of
    /// a quarter (the lane layout `RowMajorInterleaved<2>` of CUTLASS, `default_mma_core_simt.h`).
    pub fn lane_at(&self, lane: u32) -> [u32; 2] {
        let cols = self.lanes[1];
        if self.interleaved() {
            [lane / (2 * cols) * 2 + lane % 2, lane / 2 % cols]
        } else {
            [lane / cols, lane % cols]
        }
    }

    /// The element that a thread's register `(row, col)` holds.
    pub fn element(&self, thread: u32, register: [u32; 2]) -> Element {
        let channel = thread / self.channel_threads();
        let warp = thread % self.channel_threads() / self.warp_lanes();
        let lane = thread % self.warp_lanes();
        let warp_at = [warp / self.warps[1], warp % self.warps[1]];
        let lane_at = self.lane_at(lane);
        let position = |direction: usize| {
            let quad = register[direction] / self.quad_elems[direction];
            let elem = register[direction] % self.quad_elems[direction];
            warp_at[direction] * self.warp_elems(direction)
                + quad * self.quad_stride(direction)
                + lane_at[direction] * self.quad_elems[direction]
                + elem
        };
        Element { channel, row: position(0), col: position(1) }
    }
}
