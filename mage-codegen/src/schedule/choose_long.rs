//! Chooses whether a tiled contraction has a version in parts, and which: for outputs of so few tiles
//! that multiprocessors would idle.

use mage_einsum::index::{Extent, ModeId};
use mage_einsum::options::Options;

use super::choose_deep::MOST_TERMS;
use super::choose_family::{self, Candidate, MATRIX_TILES, MMA_TILES};
use super::choose_tiled::Groups;
use super::{Family, Long, Member, Parts, Size, Tiled, Unit};
use crate::device::Device;

/// Microseconds that a launch in parts takes beside its steps: the second kernel, and the beginning
/// and the end of more blocks. Source: evidence/2026-11-30-h200-thin, sweep.json: 23.5 for 64 x 64
/// outputs of 65536 terms, of which 64 tiles of 1024 terms explain 13.6 (`MATRIX_TILES`).
const OVERHEAD: u32 = 12;

/// Outputs whose parts take another microsecond to be written and added. Source: the same, 79.9 for
/// 64 x 4096 outputs of 4096 terms, of which the tiles explain 54.3, and 52.1 for 768^3, of which
/// they explain 22.9.
const OUTPUTS_A_MICROSECOND: u32 = 24 * COST_TERMS;

/// Terms of the sums that costs are given for.
const COST_TERMS: u32 = 1024;

/// Half as many blocks as there should be make two parts.
const LEAST_PARTS: u32 = 2;

/// Terms of a part are a multiple of these: a part has to outweigh what it writes.
const PART_TERMS: u32 = 128;

/// Blocks a multiprocessor: with 128 threads each they hide the latency of their loads.
const SM_BLOCKS: u32 = 4;

/// The version in parts; none where a tile is asked for, which then is the only one, where a tile
/// has channels, and where fixed extents rule it out.
pub fn choose_long(
    groups: &Groups<'_>,
    family: &Family,
    options: &Options,
    device: &Device,
) -> Option<Long> {
    if options.tile.is_some() || groups.batch.is_some() {
        return None;
    }
    // Small tiles, because there are few outputs, and large enough that loads do not outweigh
    // products.
    let tiles: &[Candidate] = if groups.on_tensor_cores() { &MMA_TILES } else { &MATRIX_TILES };
    let small: Vec<Candidate> =
        tiles.iter().copied().filter(|candidate| candidate.size == Size::Small).collect();
    let made = groups.suited(&small).into_iter().filter_map(|(candidate, sides)| {
        let mut tiled = groups.matrix(sides, device)?;
        // No more are wanted, and fewer leave each thread more registers.
        tiled.min_blocks = tiled.min_blocks.min(SM_BLOCKS * candidate.size.of_a_block() as u32);
        Some(choose_family::member(candidate, tiled))
    });
    let made: Vec<Member> = made.collect();
    let depth = made.first()?.tiled.contracted.tile;
    let steps = |n_terms: u32| (n_terms / depth).max(1);
    let parts = Parts {
        unit: Unit::Steps,
        min_len: u64::from(steps(LEAST_PARTS * PART_TERMS)),
        max_blocks: SM_BLOCKS * device.n_sms / LEAST_PARTS,
        blocks: SM_BLOCKS * device.n_sms,
        unit_len: steps(PART_TERMS),
        max_len: Some(steps(MOST_TERMS)),
    };
    let same_steps = |member: &Member| member.tiled.contracted.tile == depth;
    let open = |member: &Member| same_steps(member) && is_open(groups, member, &parts);
    let mut tiles: Vec<Member> = made.into_iter().filter(open).collect();
    let in_all = |member: &Member| {
        Some(groups.tiles(&member.tiled)?.saturating_mul(u64::from(member.least_cost().each)))
    };
    let known: Option<Vec<u64>> = tiles.iter().map(in_all).collect();
    let overhead_outputs = OUTPUTS_A_MICROSECOND / COST_TERMS;
    let overhead = OVERHEAD * COST_TERMS;
    if let Some(known) = known {
        let least = (0..known.len()).min_by_key(|at| known[*at])?;
        tiles = vec![tiles.swap_remove(least)];
        if let (Some(n_outputs), Some(n_terms)) = (groups.n_outputs(), groups.n_terms()) {
            let share = known[least].saturating_mul(n_terms).div_ceil(u64::from(device.n_sms));
            let of_outputs = n_outputs.div_ceil(u64::from(overhead_outputs));
            let in_parts = share.saturating_add(of_outputs).saturating_add(u64::from(overhead));
            let n_tiles = groups.tiles(&family.largest.tiled)?;
            let whole =
                family.largest.least_cost().time(n_tiles, device.n_sms).saturating_mul(n_terms);
            if in_parts > whole {
                return None;
            }
        }
    }
    (!tiles.is_empty()).then_some(Long { parts, tiles, overhead, overhead_outputs })
}

/// Whether fixed extents leave room for sums that are long and outputs that are few.
fn is_open(groups: &Groups<'_>, member: &Member, parts: &Parts) -> bool {
    let tiled: &Tiled = &member.tiled;
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
        && fixed(&kept).is_none_or(|tiles| {
            tiles.div_ceil(member.size.of_a_block()) <= u64::from(parts.max_blocks)
        })
}
