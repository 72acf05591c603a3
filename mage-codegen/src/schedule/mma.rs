//! A tile for the tensor cores: what a warp owns of it, how a stage lies in shared memory, and what
//! keeps either from being.

use mage_einsum::dtype::Dtype;

use super::{Along, ThreadMap};
use crate::device::{BANKS, WARP_THREADS};
use crate::fragment::Fragment;

/// Bytes of a row of a matrix in shared memory, and of the largest asynchronous copy.
pub const CHUNK_BYTES: u32 = 16;

/// Rows and columns of a warp that one load of four matrices covers.
pub const WARP_UNIT: u32 = 16;

/// Stages: while one is read, the copies of two more steps are on their way.
pub const MOST_STAGES: u32 = 3;

/// Rows and columns of a warp, best first: the more of both, the fewer matrices it loads a product.
/// With 64x64 a thread has 128 sums, and a multiprocessor two blocks of 128 threads (evidence,
/// tensor-cores.md).
const WARP_TILES: [[u32; 2]; 7] =
    [[64, 64], [64, 32], [32, 64], [32, 32], [32, 16], [16, 32], [16, 16]];

/// Sums of a thread; in rounds there are two sets of half as many.
pub const MOST_SUMS: u32 = 128;

/// Terms of a round of TF32. Where f32 arithmetic rounds, the tensor cores of an H200 cut off, so
/// the error of a sum of positive terms grows with their number: by 0.06 to 0.10 of 2^-24 of the sum
/// a term (derived from evidence, check-before-rounds.txt).
pub const ROUND_TERMS: u32 = 512;

/// One warp for each of the four schedulers of a multiprocessor.
const WANTED_WARPS: u32 = 4;

/// Where the 16-byte chunks of a row of a stage lie: chunk `c` of row `r` at
/// `c ^ (r / rows % period * step)`, so that what a warp reads at once comes from all banks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swizzle {
    /// Rows that lie alike.
    pub rows: u32,
    /// How many ways there are.
    pub period: u32,
    /// From one way to the next.
    pub step: u32,
}

impl Swizzle {
    /// The way for rows of so many bytes. A load of matrices reads eight rows at one chunk, which
    /// must be eight different places of the 128 bytes that the banks have. An f32 across its rows
    /// is read element by element, from four rows at eight neighbours, two chunks.
    pub fn of(row_bytes: u32, dtype: Dtype, along: Along) -> Swizzle {
        let chunks = row_bytes / CHUNK_BYTES;
        let rows = (BANKS * 4 / row_bytes).max(1);
        if dtype == Dtype::F32 && along == Along::Side {
            return Swizzle { rows, period: (4 / rows).min(chunks / 2).max(1), step: 2 };
        }
        Swizzle { rows, period: (8 / rows).min(chunks), step: 1 }
    }

    /// The way of a row, in words: `row / 2 % 4`.
    pub fn way(&self) -> String {
        let over = if self.rows == 1 { String::new() } else { format!(" / {}", self.rows) };
        let times = if self.step == 1 { String::new() } else { format!(" * {}", self.step) };
        format!("row{over} % {}{times}", self.period)
    }

    /// Where a chunk of a row lies.
    pub fn place(&self, row: u32, chunk: u32) -> u32 {
        chunk ^ (row / self.rows % self.period * self.step)
    }

    /// Rows after which the ways begin again.
    pub fn turn(&self) -> u32 {
        self.rows * self.period
    }
}

/// Contracted positions that one product takes.
pub fn product_depth(dtype: Dtype) -> u32 {
    Fragment::of_bytes(dtype.size_bytes()).depth() as u32
}

/// Contracted positions of a stage: 64 bytes (kernels.md, "bf16, f16, tf32 with mma.sync").
pub fn stage_depth(dtype: Dtype) -> u32 {
    64 / dtype.size_bytes() as u32
}

/// Elements of a chunk.
pub fn chunk_elems(dtype: Dtype) -> u32 {
    CHUNK_BYTES / dtype.size_bytes() as u32
}

/// What the warps own of a tile; none where the tensor cores do not fit it.
pub fn fragment_map(sides: [u32; 2], most_sums: u32, block_threads: u32) -> Option<ThreadMap> {
    if sides.iter().any(|side| !side.is_power_of_two() || *side < WARP_UNIT) {
        return None;
    }
    let warps = |[rows, cols]: [u32; 2]| [sides[0] / rows, sides[1] / cols];
    let count = |tile: [u32; 2]| warps(tile).iter().product::<u32>();
    let fits = |tile: &[u32; 2]| {
        let sums = tile[0] * tile[1] / WARP_THREADS;
        sums <= most_sums && (1..=block_threads / WARP_THREADS).contains(&count(*tile))
    };
    let fitting: Vec<[u32; 2]> = WARP_TILES.into_iter().filter(fits).collect();
    let tile = fitting.iter().find(|tile| count(**tile) >= WANTED_WARPS).or(fitting.last())?;
    Some(ThreadMap {
        channels: 1,
        warps: warps(*tile),
        lanes: [8, 4],
        quads: [tile[0] / 8, tile[1] / 8],
        quad_elems: [1, 2],
        fragments: true,
    })
}
