//! What a thread owns of the tile, and how its accumulators get into the output.

use mage_einsum::index::{Access, ModeId};

use super::builder::{Builder, Write, all, reg};
use super::coordinates;
use super::part::Part;
use crate::kernel::{Expr, Pred, RegId, Stmt, Width};
use crate::schedule::{Tail, ThreadMap, Tiled, Variant};

/// The thread's place in the tile.
pub struct Owned {
    /// Its channel.
    pub channel: Expr,
    /// Its first row and its first column.
    pub sides: [Expr; 2],
    /// Its warp's.
    pub warps: [Expr; 2],
    /// Its lane.
    pub lane: Expr,
}

/// Binds the thread's place: channel, then warp, then lane (`ThreadMap::element`).
pub fn bind_owned(builder: &mut Builder<'_>, body: &mut Vec<Stmt>, tiled: &Tiled) -> Owned {
    let map = &tiled.threads;
    let thread = builder.thread(body);
    let per_channel = Expr::u32(map.channel_threads());
    let one_channel = map.channels == 1;
    let channel = if one_channel { Expr::u32(0) } else { thread.clone().over(per_channel.clone()) };
    let stem = tiled.batch.mode.map_or("unit", |mode| builder.names.mode(mode));
    let channel = builder.bind(body, &format!("{stem}_thread"), channel);
    let in_channel = if one_channel { thread.clone() } else { thread.clone().modulo(per_channel) };
    let one_warp = map.warps == [1, 1];
    let warp = if one_warp {
        Expr::u32(0)
    } else {
        builder.bind(body, "warp", in_channel.clone().over(Expr::u32(map.warp_lanes())))
    };
    let lane = if one_warp { in_channel } else { thread.modulo(Expr::u32(map.warp_lanes())) };
    let lane = builder.bind(body, "lane", lane);
    let stems = [tiled.row.mode, tiled.col.mode].map(|mode| builder.names.mode(mode).to_string());
    let mut warps = [0, 1].map(|direction| {
        digit(&warp, map.warps, direction).times(Expr::u32(map.warp_elems(direction)))
    });
    if map.fragments {
        warps = [0, 1].map(|direction| {
            builder.bind(body, &format!("{}_warp", stems[direction]), warps[direction].clone())
        });
    }
    let sides = [0, 1].map(|direction| {
        let lane_at = lane_digit(&lane, map, direction);
        let place =
            warps[direction].clone().plus(lane_at.times(Expr::u32(map.quad_elems[direction])));
        builder.bind(body, &format!("{}_thread", stems[direction]), place)
    });
    Owned { channel, sides, warps, lane }
}

/// The row (0) or the column (1) of an index into a row-major grid of `counts`.
fn digit(index: &Expr, counts: [u32; 2], direction: usize) -> Expr {
    match (direction, counts) {
        (0, [1, _]) | (1, [_, 1]) => Expr::u32(0),
        (0, [_, cols]) => index.clone().over(Expr::u32(cols)),
        (_, [1, _]) => index.clone(),
        (_, [_, cols]) => index.clone().modulo(Expr::u32(cols)),
    }
}

/// The row (0) or the column (1) of a lane, as `ThreadMap::lane_at` says.
fn lane_digit(lane: &Expr, map: &ThreadMap, direction: usize) -> Expr {
    let cols = map.lanes[1];
    if !map.interleaved() {
        return digit(lane, map.lanes, direction);
    }
    let two = || Expr::u32(2);
    match direction {
        0 if map.lanes[0] == 2 => lane.clone().modulo(two()),
        0 => {
            let pair = lane.clone().over(Expr::u32(2 * cols)).times(two());
            pair.plus(lane.clone().modulo(two()))
        }
        _ => lane.clone().over(two()).modulo(Expr::u32(cols)),
    }
}

/// What the epilogue needs to know.
pub struct Store<'s> {
    /// The schedule.
    pub tiled: &'s Tiled,
    /// The variant.
    pub variant: &'s Variant,
    /// The output.
    pub target: &'s Access,
    /// Where the sums go.
    pub part: &'s Part,
    /// Tile origins and coordinates of the block.
    pub origins: &'s [(ModeId, Expr)],
    /// The thread's place.
    pub owned: &'s Owned,
    /// The accumulators.
    pub acc: RegId,
}

/// Writes every accumulator whose element exists.
pub fn store(builder: &mut Builder<'_>, body: &mut Vec<Stmt>, store: &Store<'_>) {
    let map = &store.tiled.threads;
    let first_place = store.part.first_place(builder, body, store.target);
    let row_stem = builder.names.mode(store.tiled.row.mode).to_string();
    let channel = store.tiled.batch.mode.map(|mode| {
        let stem = builder.names.mode(mode).to_string();
        let at = coordinates::of(builder, store.origins, mode).plus(store.owned.channel.clone());
        (mode, builder.bind(body, &format!("{stem}_out"), at))
    });
    builder.unrolled(body, &format!("{row_stem}_quad"), map.quads[0], |builder, body, quad| {
        let name = format!("{row_stem}_elem");
        builder.unrolled(body, &name, map.quad_elems[0], |builder, body, elem| {
            let register = quad.clone().times(Expr::u32(map.quad_elems[0])).plus(elem.clone());
            let row = coordinates::of(builder, store.origins, store.tiled.row.mode)
                .plus(store.owned.sides[0].clone())
                .plus(quad.times(Expr::u32(map.quad_stride(0))))
                .plus(elem);
            let row = builder.bind(body, &format!("{row_stem}_out"), row);
            let mut fixed = vec![(store.tiled.row.mode, row.clone())];
            fixed.extend(channel.iter().cloned());
            let when = exists(builder, store.tiled, &fixed);
            let mut then = Vec::new();
            store_row(builder, &mut then, (store, &first_place), (register, &fixed));
            match when {
                None => body.extend(then),
                Some(when) => body.push(Stmt::If { when, then, otherwise: Vec::new() }),
            }
        });
    });
}

/// The predicates of a row and of a channel, as far as their tails need them.
fn exists(builder: &Builder<'_>, tiled: &Tiled, fixed: &[(ModeId, Expr)]) -> Option<Pred> {
    let tail = |mode: ModeId| match mode {
        mode if mode == tiled.row.mode => tiled.row.tail,
        _ => tiled.batch.tail,
    };
    let preds = fixed
        .iter()
        .filter(|(mode, _)| tail(*mode) == Tail::Predicated)
        .map(|(mode, at)| at.clone().less(builder.extent(*mode)));
    all(preds.collect())
}

/// Writes one row of a thread's accumulators, a quad at a time where the variant is wide.
fn store_row(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    (store, first_place): (&Store<'_>, &Expr),
    (register, fixed): (Expr, &[(ModeId, Expr)]),
) {
    let (map, col_mode) = (&store.tiled.threads, store.tiled.col.mode);
    let stem = builder.names.mode(col_mode).to_string();
    let cols = map.thread_elems(1);
    let elems = store.variant.store_elems;
    let width = Width::of(elems);
    builder.unrolled(body, &format!("{stem}_quad"), map.quads[1], |builder, body, quad| {
        let turns = map.quad_elems[1] / elems;
        builder.unrolled(body, &format!("{stem}_elem"), turns, |builder, body, elem| {
            let first = quad.clone().times(Expr::u32(map.quad_elems[1])).plus(elem.clone());
            let col = coordinates::of(builder, store.origins, col_mode)
                .plus(store.owned.sides[1].clone())
                .plus(quad.clone().times(Expr::u32(map.quad_stride(1))))
                .plus(elem.clone());
            let col = builder.bind(body, &format!("{stem}_out"), col);
            let mut at = store.origins.to_vec();
            at.retain(|(mode, _)| *mode != col_mode && fixed.iter().all(|(id, _)| id != mode));
            at.extend(fixed.iter().cloned());
            at.push((col_mode, col.clone()));
            let offset = builder.offset(store.target, |mode| coordinates::of(builder, &at, mode));
            let first = if map.fragments {
                of_fragment(register, [quad.clone(), elem.clone()], map.quads[1])
            } else {
                register.times(Expr::u32(cols)).plus(first)
            };
            let from = (0..elems)
                .map(|next| reg(store.acc, first.clone().plus(Expr::u32(next))))
                .collect();
            let predicated = store.tiled.col.tail == Tail::Predicated;
            let when = predicated.then(|| col.less(builder.extent(col_mode)));
            let write = Write { offset, at, from, width, when };
            store.part.write(builder, body, first_place, write);
        });
    });
}

/// The register of a thread's row and of an element of a pair of columns, where the sums of one
/// instruction are two rows of two columns (`Fragment::sum`).
fn of_fragment(row: Expr, [pair, elem]: [Expr; 2], pairs: u32) -> Expr {
    let two = || Expr::u32(2);
    let fragment = row.clone().over(two()).times(Expr::u32(pairs)).plus(pair);
    fragment.times(Expr::u32(4)).plus(row.modulo(two()).times(two())).plus(elem)
}
