//! Chooses the version of a tiled contraction whose sums have more than 2^16 terms: the running sums
//! of a round are added to those of all rounds, which needs a second set of accumulators.

use super::choose_epilogue::staged;
use super::choose_map::{TileShape, choose_map};
use super::choose_tiled::Groups;
use super::{Resources, Summing, Tiled};
use crate::device::{Device, WARP_THREADS};

/// Most terms of a sum without another level (rule R15 of the semantics).
pub const MOST_TERMS: u32 = 1 << 16;

/// Terms of a round: what rounding may cost grows with the longer of the rounds and their number,
/// and adding a round to the others costs next to nothing beside so many products.
const ROUND_TERMS: u32 = 1 << 12;

/// Most contracted positions of a stage where the tensor cores, whose stages have more, do not fit
/// the tile.
const MOST_DEPTH: u32 = 16;

/// Most rows or columns of a block: two sets of accumulators leave room for no larger tile with as
/// many threads.
const MOST_SIDE: u32 = 64;

/// The same contraction as `plain` in rounds, in its tile or a smaller one.
pub fn choose_deep(groups: &Groups<'_>, plain: &Tiled, device: &Device) -> Option<Tiled> {
    let mut sides = plain.sides().map(|side| halved(side.tile));
    if let Some(made) = groups.fragments(sides, None, true, device) {
        return made.ok();
    }
    let (channels, dtype) = (plain.batch.tile, groups.program.accumulator());
    let contracted = plain.contracted.tile.min(MOST_DEPTH);
    loop {
        let shape = TileShape { channels, sides, contracted, dtype };
        let mut tiled = groups.tiled(shape, choose_map(shape, device).ok()?);
        tiled.summing = Summing::Rounds((ROUND_TERMS / contracted).max(1));
        tiled.beside = staged(&groups.beside, &tiled, device);
        let Resources { threads, registers, residency, .. } = Resources::of(&tiled, device);
        let capability = &device.capability;
        let limit = capability.sm_registers / threads.next_multiple_of(WARP_THREADS);
        if registers <= limit.min(capability.thread_registers) {
            // Lanes that are no warps need more registers than the estimate says, and a second set
            // of accumulators a few more than twice: one block fewer leaves them room.
            let ragged = tiled.threads.warp_lanes() != WARP_THREADS;
            let roomy = residency.blocks.saturating_sub(1).max(1);
            tiled.min_blocks = if ragged { 1 } else { roomy };
            return Some(tiled);
        }
        let larger = if sides[0] > sides[1] { 0 } else { 1 };
        if !sides[larger].is_multiple_of(2) {
            return None;
        }
        sides[larger] /= 2;
    }
}

/// A side that is small enough.
fn halved(mut side: u32) -> u32 {
    while side > MOST_SIDE && side.is_multiple_of(2) {
        side /= 2;
    }
    side
}
