//! Chooses whether a tiled contraction has a version in parts, and which: for outputs of fewer tiles
//! than the device has multiprocessors.

use mage_einsum::index::{Extent, ModeId};
use mage_einsum::options::Options;

use super::choose_deep::MOST_TERMS;
use super::choose_tiled::Groups;
use super::{Long, Parts, Tiled, Unit};
use crate::device::Device;

/// Rows and columns of a block: small, because there are few outputs, and large enough that loads
/// do not outweigh products.
const SIDE: u32 = 64;

/// Sums of fewer terms are over before a second launch has begun.
const LEAST_TERMS: u32 = 512;

/// Terms of a part are a multiple of these: a part has to outweigh what it writes.
const PART_TERMS: u32 = 128;

/// Blocks a multiprocessor: with 128 threads each they hide the latency of their loads.
const SM_BLOCKS: u32 = 4;

/// The version in parts; none where a tile is asked for, which then is the only one, where a tile
/// has channels, and where fixed extents rule it out.
pub fn choose_long(groups: &Groups<'_>, options: &Options, device: &Device) -> Option<Long> {
    if options.tile.is_some() || groups.batch.is_some() {
        return None;
    }
    let mut tiled = groups.squares(SIDE, device)?;
    // No more are wanted, and fewer leave each thread more registers.
    tiled.min_blocks = tiled.min_blocks.min(SM_BLOCKS);
    let steps = |n_terms: u32| (n_terms / tiled.contracted.tile).max(1);
    let parts = Parts {
        unit: Unit::Steps,
        min_len: u64::from(steps(LEAST_TERMS)),
        max_blocks: device.n_sms,
        blocks: SM_BLOCKS * device.n_sms,
        unit_len: steps(PART_TERMS),
        max_len: Some(steps(MOST_TERMS)),
    };
    is_open(groups, &tiled, &parts).then_some(Long { parts, tiled })
}

/// Whether fixed extents leave room for sums that are long and outputs that are few.
fn is_open(groups: &Groups<'_>, tiled: &Tiled, parts: &Parts) -> bool {
    let fixed = |modes: &[(ModeId, u32)]| {
        modes.iter().try_fold(1_u64, |product, (mode, tile)| {
            match groups.program.mode(*mode).extent {
                Extent::Fixed(extent) => product.checked_mul(u64::from(extent.div_ceil(*tile))),
                Extent::Runtime => None,
            }
        })
    };
    let one_by_one = |modes: &[ModeId]| modes.iter().map(|mode| (*mode, 1)).collect::<Vec<_>>();
    let mut summed = one_by_one(&tiled.contracted.outer);
    summed.extend(tiled.contracted.mode.map(|mode| (mode, tiled.contracted.tile)));
    let outer = [&tiled.row.outer, &tiled.col.outer, &tiled.batch.outer];
    let mut kept: Vec<_> = outer.into_iter().flat_map(|modes| one_by_one(modes)).collect();
    kept.extend(tiled.sides().map(|side| (side.mode, side.tile)));
    fixed(&summed).is_none_or(|steps| steps >= parts.min_len)
        && fixed(&kept).is_none_or(|blocks| blocks <= u64::from(parts.max_blocks))
}
