//! What a block takes of a multiprocessor, and in how many waves the grid runs.

use mage_codegen::device::Device;
use mage_codegen::schedule::{Launch, Resources, Strategy, Tiled};

/// A block on its device.
#[derive(Debug)]
pub struct BlockShare {
    /// Threads of a block.
    pub threads: u32,
    /// Shared memory of a block.
    pub shared_bytes: u32,
    /// Registers of a thread, an estimate; none where no estimate is made.
    pub registers: Option<u32>,
    /// Blocks on one multiprocessor.
    pub resident_blocks: u32,
    /// The limit that keeps it from being more.
    pub bound_by: &'static str,
    /// Resident threads as a share of what a multiprocessor holds.
    pub occupancy: f64,
}

/// A grid on its device.
#[derive(Debug)]
pub struct GridShare {
    /// Blocks of the grid.
    pub blocks: u64,
    /// Blocks that the whole device holds at once.
    pub device_blocks: u64,
    /// Rounds of the device until every block has run.
    pub waves: u64,
    /// Blocks of the last round as a share of what the device holds.
    pub last_wave: f64,
}

/// The share of a launch's blocks, with the given tile of its family.
pub fn block_share(launch: &Launch, tile: Option<&Tiled>, device: &Device) -> BlockShare {
    let (threads, shared_bytes, registers, residency) = match &launch.strategy {
        Strategy::Tiled(family) => {
            let Resources { threads, shared_bytes, registers, residency } =
                Resources::of(tile.unwrap_or(&family.largest.tiled), device);
            (threads, shared_bytes, Some(registers), residency)
        }
        Strategy::Transpose(transpose) => {
            let (threads, shared_bytes) = (transpose.block_threads, transpose.shared_bytes());
            (threads, shared_bytes, None, device.capability.residency(threads, 0, shared_bytes))
        }
        // The last split is for large extents, where residency matters.
        Strategy::Reduction(reduction) => {
            let threads = reduction.splits.last().map_or(1, |split| split.block_threads);
            (threads, 0, None, device.capability.residency(threads, 0, 0))
        }
        Strategy::Rows(rows) => {
            let threads = rows.widths.first().map_or(1, |width| width.block_threads());
            (threads, 0, None, device.capability.residency(threads, 0, 0))
        }
        Strategy::Segments(segments) => {
            let threads = segments.block_threads;
            (threads, 0, None, device.capability.residency(threads, 0, 0))
        }
        Strategy::Elementwise(elementwise) => {
            let threads = elementwise.block_threads;
            (threads, 0, None, device.capability.residency(threads, 0, 0))
        }
        Strategy::PerOutput(per_output) => {
            let threads = per_output.block_threads;
            (threads, 0, None, device.capability.residency(threads, 0, 0))
        }
    };
    let resident_threads = f64::from(threads * residency.blocks);
    BlockShare {
        threads,
        shared_bytes,
        registers,
        resident_blocks: residency.blocks,
        bound_by: residency.bound_by,
        occupancy: resident_threads / f64::from(device.capability.sm_threads),
    }
}

/// The share of a grid of `blocks`.
pub fn grid_share(blocks: u64, block: &BlockShare, device: &Device) -> GridShare {
    let device_blocks = u64::from(block.resident_blocks) * u64::from(device.n_sms);
    let held = device_blocks.max(1);
    let waves = blocks.div_ceil(held);
    let in_last = blocks - held * waves.saturating_sub(1);
    GridShare { blocks, device_blocks, waves, last_wave: in_last as f64 / held as f64 }
}
