//! What a block of a tiled schedule takes of a multiprocessor.

use mage_einsum::dtype::Dtype;

use super::{Summing, ThreadMap, Tiled};
use crate::device::{Device, Residency, WARP_THREADS};
use crate::fragment::Fragment;

/// Registers of a thread beside accumulators, fragments and staged elements: pointers, extents
/// and coordinates. Fitted to ptxas: 128 registers for a tile of 128x128x16 and 256 threads, 96 for
/// 64x64x16 and 128 threads (evidence/2026-11-30-h200-tensor-cores, ptxas-sm_89.txt: `matmul_128_wide`,
/// `matmul_64_wide`).
const ADDRESS_REGISTERS: u32 = 28;

/// More of them where the tile has a side that is no power of two, because then the accesses of a
/// stage do not divide evenly and each has a position of its own. For a tile of 48x20x6, 96
/// registers left 132 bytes spilled where accesses are one-wide (evidence/2026-11-30-h200,
/// ptxas-sm_89.txt: `matmul_odd_tile_narrow`).
const RAGGED_REGISTERS: u32 = 48;

/// The same where the tensor cores multiply. It gives 106 for a tile of 64x64 and 128 threads, which
/// takes 110 (evidence/2026-11-30-h200-tensor-cores, ptxas-sm_89.txt: `matmul_f16_wide`); one of
/// 128x128 takes all that a thread can have.
const FRAGMENT_ADDRESS_REGISTERS: u32 = 38;

/// A block's share of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resources {
    /// Threads.
    pub threads: u32,
    /// Shared memory in bytes.
    pub shared_bytes: u32,
    /// Registers a thread, an estimate.
    pub registers: u32,
    /// Blocks on one multiprocessor and the limit that binds.
    pub residency: Residency,
}

impl Resources {
    /// The resources of `tiled` on `device`.
    pub fn of(tiled: &Tiled, device: &Device) -> Resources {
        let sides = [tiled.row.tile, tiled.col.tile];
        let depth = tiled.contracted.tile;
        let registers = match tiled.threads.fragments {
            true => Resources::of_fragments(&tiled.threads, tiled.summing),
            false => Resources::registers(&tiled.threads, sides, depth, tiled.dtype),
        };
        // Beside the accumulators of a round those of all rounds.
        let [rows, cols] = [0, 1].map(|direction| tiled.threads.thread_elems(direction));
        let of_rounds = rows * cols * register_words(tiled.dtype);
        let registers = registers + tiled.summing.round_steps().map_or(0, |_| of_rounds);
        let threads = tiled.threads.block_threads();
        let shared_bytes = tiled.shared_bytes();
        let residency = device.capability.residency(threads, registers, shared_bytes);
        Resources { threads, shared_bytes, registers, residency }
    }

    /// The same for the tensor cores: sums and the fragments of one product's depth.
    fn of_fragments(map: &ThreadMap, summing: Summing) -> u32 {
        let [rows, cols] = [0, 1].map(|direction| map.thread_elems(direction));
        let words = rows / 2 * Fragment::ROW_WORDS as u32 + cols / 2 * Fragment::COL_WORDS as u32;
        // What is summed apart has fragments of two products and sums of its own.
        let words = match summing {
            Summing::Apart => 2 * words + Fragment::SUMS as u32,
            Summing::Running | Summing::Rounds(_) => words,
        };
        rows * cols + words + FRAGMENT_ADDRESS_REGISTERS
    }

    /// An estimate of the registers a thread needs: accumulators, both fragments, the staged
    /// elements of the next stage and addresses.
    pub fn registers(map: &ThreadMap, sides: [u32; 2], contracted_tile: u32, dtype: Dtype) -> u32 {
        let [rows, cols] = [0, 1].map(|direction| map.thread_elems(direction));
        let staged: u32 = sides.iter().map(|side| staged_elems(map, *side, contracted_tile)).sum();
        let even = [sides[0], sides[1], contracted_tile].iter().all(|side| side.is_power_of_two());
        let ragged = if even && map.warp_lanes() == WARP_THREADS { 0 } else { RAGGED_REGISTERS };
        let values = rows * cols + rows + cols + staged;
        values * register_words(dtype) + ADDRESS_REGISTERS + ragged
    }
}

/// Registers of a value: one has 32 bits.
fn register_words(dtype: Dtype) -> u32 {
    u32::from(dtype == Dtype::F64) + 1
}

/// Elements of one factor that a thread holds while they are on their way to the next stage.
pub fn staged_elems(map: &ThreadMap, side: u32, contracted_tile: u32) -> u32 {
    let elems = u64::from(map.channels) * u64::from(side) * u64::from(contracted_tile);
    let per_thread = elems.div_ceil(u64::from(map.block_threads()));
    u32::try_from(per_thread).unwrap_or(u32::MAX)
}
