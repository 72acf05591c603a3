//! Recognises a permutation that moves the contiguous mode, and chooses its tile.

use mage_einsum::index::{Expr, Extent, ModeId, Program, Statement};

use super::{Launch, Reason, Strategy, Tail, TileSide, Transpose};
use crate::device::WARP_THREADS;

/// Threads of a block: eight elements of a 32x32 tile for each, all of whose loads are in flight
/// together.
const BLOCK_THREADS: u32 = 128;

/// Least fixed extent of a mode of the tile: with fewer elements, which are less than a 32-byte
/// sector, most of a warp would have none.
const LEAST_EXTENT: u32 = 8;

/// The transpose of a statement that is one; nothing for any other.
pub fn choose_transpose(
    program: &Program,
    statement_idx: usize,
    statement: &Statement,
) -> Option<Launch> {
    // Whatever is computed of an element is another statement's, or no transpose.
    let Expr::Access(factor) = &statement.value else { return None };
    let has_diagonal =
        (1..factor.modes.len()).any(|place| factor.modes[..place].contains(&factor.modes[place]));
    let (load, store) = (*factor.modes.last()?, *statement.target.modes.last()?);
    if has_diagonal || !statement.reduced.is_empty() || load == store {
        return None;
    }
    let is_small = |mode: ModeId| matches!(program.mode(mode).extent, Extent::Fixed(extent) if extent < LEAST_EXTENT);
    if is_small(load) || is_small(store) {
        return None;
    }
    let tile = WARP_THREADS;
    let side = |mode: ModeId| TileSide { mode, tail: tail(program, mode, tile) };
    let outer = statement.target.modes.iter().filter(|mode| ![load, store].contains(mode));
    let transpose = Transpose {
        load: side(load),
        store: side(store),
        tile,
        row_elems: tile + 1,
        dtype: program.accumulator(),
        block_threads: BLOCK_THREADS,
        outer: outer.copied().collect(),
    };
    let reasons = reasons(program, &transpose);
    Some(Launch::of(statement_idx, Strategy::Transpose(transpose), reasons))
}

fn tail(program: &Program, mode: ModeId, tile: u32) -> Tail {
    match program.mode(mode).extent {
        Extent::Fixed(extent) if extent.is_multiple_of(tile) => Tail::Exact,
        Extent::Fixed(_) | Extent::Runtime => Tail::Predicated,
    }
}

fn reasons(program: &Program, transpose: &Transpose) -> Vec<Reason> {
    let name = |side: TileSide| &program.mode(side.mode).name;
    let (load, store) = (name(transpose.load), name(transpose.store));
    let (tile, row, threads) = (transpose.tile, transpose.row_elems, transpose.block_threads);
    let reason = |decision: String, because: String| Reason { decision, because };
    vec![
        reason(
            format!("a tile of {tile}x{tile} through shared memory"),
            format!(
                "nothing is summed; `{load}` is contiguous in the operand and `{store}` in the \
                 output, and a warp wants {tile} neighbours of each"
            ),
        ),
        reason(
            format!("rows of {row} elements"),
            "a column of the tile then lies in 32 different banks".to_string(),
        ),
        reason(
            format!("{threads} threads a block"),
            format!("each has {} loads in flight", tile * tile / threads),
        ),
    ]
}
