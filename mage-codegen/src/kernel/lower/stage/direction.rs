//! The directions in which a block's threads walk one factor's tile, and in which order.

use mage_einsum::index::ModeId;

use crate::device::SECTOR_BYTES;
use crate::kernel::Expr;
use crate::schedule::{Along, Side, Tail, Tiled};

/// f32 elements of a sector of global memory.
const SECTOR_ELEMS: u32 = SECTOR_BYTES / 4;

/// A direction of the tile as a stage holds it.
#[derive(Debug, Clone)]
pub struct Direction {
    /// The mode; `None` for a direction of one element that no mode has.
    pub mode: Option<ModeId>,
    /// How many positions it has.
    pub radix: u32,
    /// Elements from one position to the next in the tile.
    pub scale: u32,
    /// Elements from one position to the next in the stage.
    pub stage_stride: Expr,
    /// Whether a load beyond the extent must be kept from happening.
    pub predicated: bool,
    /// This thread's share of the position, in elements, and how many values that share has.
    pub thread_part: Expr,
    pub thread_count: u32,
    /// How the pass is taken apart for this direction: `pass / divisor % radix`.
    pub pass_divisor: u32,
    pub pass_radix: u32,
}

/// The directions of a factor's tile, the walked one first. Of the others the side comes before
/// the contracted mode, so that the lanes of a transposing store fall into different banks.
pub fn directions(tiled: &Tiled, side: &Side, elems: u32, upper: &str) -> Vec<Direction> {
    let direction = |mode: Option<ModeId>, tile: u32, stride: Expr, tail: Tail| Direction {
        mode,
        radix: tile,
        scale: 1,
        stage_stride: stride,
        predicated: tail == Tail::Predicated,
        thread_part: Expr::u32(0),
        thread_count: 1,
        pass_divisor: 1,
        pass_radix: 1,
    };
    let row = Expr::named(&format!("{upper}_ROW"), side.staging.row_elems);
    let channel = Expr::named(&format!("{upper}_CHANNEL"), side.staging.channel_elems);
    // A stage for the tensor cores has rows along the walked direction.
    let [side_stride, row] = match (side.staging.swizzle, side.staging.along) {
        (Some(_), Along::Contracted) => [row, Expr::u32(1)],
        (None, Along::Contracted) | (_, Along::Side | Along::Batch) => [Expr::u32(1), row],
    };
    let of_side = direction(Some(side.mode), side.tile, side_stride, side.tail);
    let contracted = &tiled.contracted;
    let of_contracted = direction(contracted.mode, contracted.tile, row, contracted.tail);
    let of_batch = direction(tiled.batch.mode, tiled.batch.tile, channel, tiled.batch.tail);
    let mut directions = match side.staging.along {
        Along::Side => vec![of_side, of_contracted, of_batch],
        Along::Contracted => vec![of_contracted, of_side, of_batch],
        Along::Batch => vec![of_batch, of_side, of_contracted],
    };
    directions.retain(|direction| direction.mode.is_some());
    split_walked(&mut directions, elems);
    directions
}

/// Counts the walked direction in accesses. Where one-wide accesses are stored transposed, a warp
/// takes one sector a row and as many rows as that leaves; the other sectors of a row come last.
/// Four-wide accesses take whole rows, because twice as many cache lines a request would cost them
/// more than the banks of their stores (evidence, experiments.md, for both).
fn split_walked(directions: &mut Vec<Direction>, elems: u32) {
    let Some(walked) = directions.first_mut() else {
        return;
    };
    walked.radix /= elems;
    walked.scale = elems;
    let transposed = walked.stage_stride.as_const() != Some(1);
    let sectors = walked.radix.is_multiple_of(SECTOR_ELEMS) && walked.radix > SECTOR_ELEMS;
    if elems == 1 && transposed && sectors {
        let mut rest = walked.clone();
        walked.radix = SECTOR_ELEMS;
        rest.radix /= SECTOR_ELEMS;
        rest.scale = SECTOR_ELEMS;
        directions.push(rest);
    }
}
