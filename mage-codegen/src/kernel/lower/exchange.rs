//! Writes the accumulators of a tile whose channels are contiguous in the output: they change
//! threads in the stages' memory, so that neighbouring threads write neighbouring channels.

use mage_einsum::index::ModeId;

use super::builder::{Builder, Write, all, reg};
use super::coordinates;
use super::epilogue::Store;
use crate::kernel::{Expr, Place, RegId, SharedId, Space, Stmt, Width};
use crate::schedule::{Exchange, Tail, Tiled};

/// The exchange of one tile.
struct Exchanged<'s> {
    store: &'s Store<'s>,
    tiles: SharedId,
    exchange: Exchange,
    /// The thread's channel, and its place among the threads of one, when it reads.
    channel: Expr,
    place: Expr,
    moved: RegId,
}

/// Writes every accumulator whose element exists, a slice of each thread's rows at a time.
pub fn store(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    store: &Store<'_>,
    exchange: Exchange,
    tiles: SharedId,
) {
    let map = &store.tiled.threads;
    let thread = builder.thread(body);
    let channels = Expr::u32(map.channels);
    let stem = store.tiled.batch.mode.map_or("unit", |mode| builder.names.mode(mode)).to_string();
    let channel =
        builder.bind(body, &format!("{stem}_moved"), thread.clone().modulo(channels.clone()));
    let place = builder.bind(body, "place", thread.over(channels));
    let moved = builder.registers("moved", exchange.thread_rows * map.thread_elems(1));
    let exchanged = Exchanged { store, tiles, exchange, channel, place, moved };
    if store.tiled.stages == 1 {
        // The only stage was read last, without a barrier behind it.
        body.push(Stmt::Barrier);
    }
    let slices = map.thread_elems(0) / exchange.thread_rows;
    builder.unrolled(body, "slice", slices, |builder, body, slice| {
        let half = if slices == 1 {
            Expr::u32(0)
        } else {
            let half = Expr::named("HALF", store.tiled.exchange_elems(&exchange));
            slice.clone().modulo(Expr::u32(2)).times(half)
        };
        exchanged.give(builder, body, &slice, &half);
        body.push(Stmt::Barrier);
        exchanged.take(builder, body, &half);
        exchanged.write(builder, body, &slice);
    });
}

impl Exchanged<'_> {
    fn tiled(&self) -> &Tiled {
        self.store.tiled
    }

    /// Threads along the rows of a channel.
    fn row_owners(&self) -> u32 {
        self.tiled().row.tile / self.tiled().threads.thread_elems(0)
    }

    fn named_channel(&self) -> Expr {
        Expr::named("CHANNEL_OUT", self.exchange.channel_elems)
    }

    /// Stores the slice's accumulators as `[channel][row][column]`.
    fn give(&self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>, slice: &Expr, half: &Expr) {
        let (store, map) = (self.store, &self.tiled().threads);
        let [row_at, col_at] = store.owned.sides.clone();
        let owner = self.owner_of(row_at);
        let cols = map.thread_elems(1);
        let elems = map.quad_elems[1];
        let thread_rows = self.exchange.thread_rows;
        let first = half
            .clone()
            .plus(store.owned.channel.clone().times(self.named_channel()))
            .plus(owner.times(Expr::u32(self.tiled().col.tile)))
            .plus(col_at);
        let first = builder.bind(body, "give", first);
        builder.unrolled(body, "give_row", thread_rows, |builder, body, row| {
            builder.unrolled(body, "give_quad", map.quads[1], |_, body, quad| {
                let slice_rows = slice.clone().times(Expr::u32(thread_rows)).plus(row.clone());
                let register =
                    slice_rows.times(Expr::u32(cols)).plus(quad.clone().times(Expr::u32(elems)));
                let rows = Expr::u32(self.row_owners() * self.tiled().col.tile);
                let offset = first
                    .clone()
                    .plus(row.times(rows))
                    .plus(quad.times(Expr::u32(map.quad_stride(1))));
                let from = (0..elems)
                    .map(|next| reg(store.acc, register.clone().plus(Expr::u32(next))))
                    .collect();
                body.push(Stmt::Store {
                    to: Place { space: Space::Shared(self.tiles), offset },
                    from,
                    width: Width::of(elems),
                    when: None,
                });
            });
        });
    }

    /// The number among the row owners of the thread whose first row is `row_at`.
    fn owner_of(&self, row_at: Expr) -> Expr {
        let map = &self.tiled().threads;
        let lanes = Expr::u32(map.lanes[0]);
        let elems = Expr::u32(map.quad_elems[0]);
        if map.quads[0] == 1 || map.warps[0] == 1 {
            return row_at.over(elems);
        }
        let warp = row_at.clone().over(Expr::u32(map.warp_elems(0)));
        let lane = row_at.modulo(Expr::u32(map.warp_elems(0))).over(elems);
        warp.times(lanes).plus(lane)
    }

    /// Loads as many elements as the thread gave, channels fastest.
    fn take(&self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>, half: &Expr) {
        let first = half
            .clone()
            .plus(self.channel.clone().times(self.named_channel()))
            .plus(self.place.clone());
        let first = builder.bind(body, "take", first);
        let step = Expr::u32(self.tiled().threads.channel_threads());
        body.push(Stmt::Fill { reg: self.moved, value: 0.0 });
        builder.unrolled(body, "take_pass", self.passes(), |_, body, pass| {
            body.push(Stmt::Load {
                to: reg(self.moved, pass.clone()),
                from: Place {
                    space: Space::Shared(self.tiles),
                    offset: first.plus(pass.times(step)),
                },
                width: Width::One,
                when: None,
            });
        });
    }

    fn passes(&self) -> u32 {
        self.exchange.thread_rows * self.tiled().threads.thread_elems(1)
    }

    /// Stores them where they belong in the output.
    fn write(&self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>, slice: &Expr) {
        let (store, tiled) = (self.store, self.tiled());
        let [row_mode, col_mode] = [tiled.row.mode, tiled.col.mode];
        builder.unrolled(body, "write_pass", self.passes(), |builder, body, pass| {
            let [row, col] = self.position(&pass);
            let mut at = store.origins.to_vec();
            let mut preds = Vec::new();
            let row = self.tile_row(row, slice);
            let parts = [(row_mode, row, tiled.row.tail), (col_mode, col, tiled.col.tail)];
            let channel =
                tiled.batch.mode.map(|mode| (mode, self.channel.clone(), tiled.batch.tail));
            for (mode, part, tail) in parts.into_iter().chain(channel) {
                let name = format!("{}_out", builder.names.mode(mode));
                let value = builder.bind(
                    body,
                    &name,
                    coordinates::of(builder, store.origins, mode).plus(part),
                );
                if tail == Tail::Predicated {
                    preds.push(value.clone().less(builder.extent(mode)));
                }
                at.retain(|(id, _): &(ModeId, Expr)| *id != mode);
                at.push((mode, value));
            }
            let offset = builder.offset(store.target, |mode| coordinates::of(builder, &at, mode));
            let from = vec![reg(self.moved, pass)];
            let write = Write { offset, at, from, width: Width::One, when: all(preds) };
            builder.write(body, write);
        });
    }

    /// The row of the slice and the column of the tile that a pass writes.
    fn position(&self, pass: &Expr) -> [Expr; 2] {
        let threads = self.tiled().threads.channel_threads();
        let cols = self.tiled().col.tile;
        let (place, pass) = (self.place.clone(), pass.clone());
        if threads == cols {
            return [pass, place];
        }
        if threads.is_multiple_of(cols) {
            let rows = pass.times(Expr::u32(threads / cols));
            let cols = Expr::u32(cols);
            return [place.clone().over(cols.clone()).plus(rows), place.modulo(cols)];
        }
        if cols.is_multiple_of(threads) {
            let turns = Expr::u32(cols / threads);
            let col = place.plus(pass.clone().modulo(turns.clone()).times(Expr::u32(threads)));
            return [pass.over(turns), col];
        }
        let at = place.plus(pass.times(Expr::u32(threads)));
        [at.clone().over(Expr::u32(cols)), at.modulo(Expr::u32(cols))]
    }

    /// The row of the tile that a row of the slice is: `ThreadMap::element` for its owner.
    fn tile_row(&self, row: Expr, slice: &Expr) -> Expr {
        let map = &self.tiled().threads;
        let owners = Expr::u32(self.row_owners());
        let slice_rows = slice.clone().times(Expr::u32(self.exchange.thread_rows));
        let (register, owner) = match self.exchange.thread_rows {
            1 => (slice_rows, row),
            _ => (slice_rows.plus(row.clone().over(owners.clone())), row.modulo(owners)),
        };
        let elems = || Expr::u32(map.quad_elems[0]);
        let of_register = if map.quads[0] == 1 {
            register
        } else {
            let quad = register.clone().over(elems()).times(Expr::u32(map.quad_stride(0)));
            quad.plus(register.modulo(elems()))
        };
        if map.warps[0] == 1 {
            return of_register.plus(owner.times(elems()));
        }
        let lanes = Expr::u32(map.lanes[0]);
        let warp = owner.clone().over(lanes.clone()).times(Expr::u32(map.warp_elems(0)));
        of_register.plus(warp).plus(owner.modulo(lanes).times(elems()))
    }
}
