//! Moves one factor's tile from global memory through registers into shared memory: which thread
//! moves which elements, under which predicates, and where they land.

use mage_einsum::index::{Access, ModeId};

use super::builder::{Builder, all, buffer, reg};
use crate::device::SECTOR_BYTES;
use crate::kernel::{Expr, Place, Pred, RegId, SharedId, Space, Stmt, Ty, Width};
use crate::schedule::{Along, Side, Tail, Tiled};

/// f32 elements of a sector of global memory.
const SECTOR_ELEMS: u32 = SECTOR_BYTES / 4;

/// A direction of the tile as a stage holds it.
#[derive(Debug, Clone)]
struct Direction {
    /// The mode; `None` for a direction of one element that no mode has.
    mode: Option<ModeId>,
    /// How many positions it has.
    radix: u32,
    /// Elements from one position to the next in the tile.
    scale: u32,
    /// Elements from one position to the next in the stage.
    stage_stride: Expr,
    /// Whether a load beyond the extent must be kept from happening.
    predicated: bool,
    /// This thread's share of the position, in elements, and how many values that share has.
    thread_part: Expr,
    thread_count: u32,
    /// How the pass is taken apart for this direction: `pass / divisor % radix`.
    pass_divisor: u32,
    pass_radix: u32,
}

/// How a block's threads walk one factor's tile.
pub struct Walk {
    /// The factor.
    access: Access,
    /// The name that its variables begin with.
    stem: String,
    /// The walked direction first; a mode may have two, which add up.
    directions: Vec<Direction>,
    /// Elements an access.
    elems: u32,
    /// Accesses a thread.
    passes: u32,
    /// Accesses of the whole tile.
    n_accesses: u32,
    block_threads: u32,
    thread: Expr,
    /// Whether the passes do not fit the directions evenly, so that each position is computed
    /// from the access's number.
    uneven: bool,
    /// Where the factor begins in a stage.
    stage_base: Expr,
    staged: RegId,
}

/// The place of a load in the walk over the contracted modes.
pub struct Step<'s> {
    /// `first` or `next`, which tells the variables of the two places apart.
    pub suffix: &'s str,
    /// Tile origins and the coordinates of the modes walked one by one.
    pub origins: &'s [(ModeId, Expr)],
    /// A further condition, where the origin alone does not tell that the step exists.
    pub exists: Option<Pred>,
}

impl Walk {
    /// Plans the walk of `side`'s factor, whose names begin with the given stem, with `elems`
    /// elements an access, and binds what does not change from step to step.
    pub fn new(
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        tiled: &Tiled,
        side: &Side,
        factor: (&Access, &str),
        elems: u32,
        stage_base: Expr,
    ) -> Walk {
        let (access, stem) = factor;
        let stem = stem.to_string();
        let upper = stem.to_uppercase();
        let directions = directions(tiled, side, elems, &upper);
        let n_accesses: u32 = directions.iter().map(|direction| direction.radix).product();
        let block_threads = tiled.threads.block_threads();
        let passes = n_accesses.div_ceil(block_threads);
        let staged = builder.registers(&format!("{stem}_staged"), passes * elems);
        let mut walk = Walk {
            access: access.clone(),
            stem,
            directions,
            elems,
            passes,
            n_accesses,
            block_threads,
            thread: builder.thread(body),
            uneven: false,
            stage_base,
            staged,
        };
        walk.share(builder, body);
        body.push(Stmt::Fill { reg: staged, value: 0.0 });
        walk
    }

    /// Gives each direction its part of the thread's index and of the pass, if both fit.
    fn share(&mut self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>) {
        let mut threads = self.block_threads;
        let mut divisor = 1;
        let mut pass_divisor = 1;
        for direction in &mut self.directions {
            let count = if threads.is_multiple_of(direction.radix) {
                direction.radix
            } else if direction.radix.is_multiple_of(threads) {
                threads
            } else {
                self.uneven = true;
                return;
            };
            threads /= count;
            let above = Expr::u32(divisor);
            let mut part = self.thread.clone().over(above);
            if threads > 1 {
                part = part.modulo(Expr::u32(count));
            }
            direction.thread_part = if count == 1 { Expr::u32(0) } else { part };
            direction.thread_count = count;
            direction.pass_divisor = pass_divisor;
            direction.pass_radix = direction.radix / count;
            divisor *= count;
            pass_divisor *= direction.pass_radix;
        }
        self.bind_parts(builder, body);
    }

    fn bind_parts(&mut self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>) {
        for direction in &mut self.directions {
            let mode = direction.mode.map_or("unit", |mode| builder.names.mode(mode));
            let name = format!("{}_load_{mode}", self.stem);
            let part = direction.thread_part.clone().times(Expr::u32(direction.scale));
            direction.thread_part = builder.bind(body, &name, part);
        }
    }

    /// Whether the last pass has fewer accesses than threads; then an access's number is checked.
    fn ragged(&self) -> bool {
        !self.n_accesses.is_multiple_of(self.block_threads)
    }

    fn number(&self, pass: &Expr) -> Expr {
        self.thread.clone().plus(pass.clone().times(Expr::named("THREADS", self.block_threads)))
    }

    /// Positions in the tile, in elements, one a direction.
    fn positions(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        pass: &Expr,
        suffix: &str,
    ) -> Vec<Expr> {
        if self.uneven {
            return self.uneven_positions(builder, body, pass, suffix);
        }
        let mut positions = Vec::new();
        for direction in &self.directions {
            let turn = if direction.pass_radix == 1 {
                Expr::u32(0)
            } else {
                let mut turn = pass.clone().over(Expr::u32(direction.pass_divisor));
                if direction.pass_divisor * direction.pass_radix < self.passes {
                    turn = turn.modulo(Expr::u32(direction.pass_radix));
                }
                turn
            };
            let stride = Expr::u32(direction.thread_count * direction.scale);
            positions.push(direction.thread_part.clone().plus(turn.times(stride)));
        }
        positions
    }

    fn uneven_positions(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        pass: &Expr,
        suffix: &str,
    ) -> Vec<Expr> {
        let name = format!("{}_access_{suffix}", self.stem);
        let mut rest = builder.bind(body, &name, self.number(pass));
        let mut positions = Vec::new();
        for (place, direction) in self.directions.iter().enumerate() {
            let last = place + 1 == self.directions.len();
            let radix = Expr::u32(direction.radix);
            let here = if last { rest.clone() } else { rest.clone().modulo(radix.clone()) };
            positions.push(here.times(Expr::u32(direction.scale)));
            rest = rest.over(radix);
        }
        positions
    }

    /// Loads this thread's elements of one step into registers; zero beyond the extents.
    pub fn load(&self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>, step: &Step<'_>) {
        let name = format!("{}_pass_{}", self.stem, step.suffix);
        builder.unrolled(body, &name, self.passes, |builder, body, pass| {
            let positions = self.positions(builder, body, &pass, step.suffix);
            let mut preds: Vec<Pred> = step.exists.iter().cloned().collect();
            if self.ragged() {
                preds.push(self.number(&pass).less(Expr::u32(self.n_accesses)));
            }
            let mut coordinates = step.origins.to_vec();
            for (mode, position, predicated) in self.by_mode(positions) {
                let stem = builder.names.mode(mode).to_string();
                let name = format!("{}_{stem}_{}", self.stem, step.suffix);
                let at = position_in(step.origins, mode).plus(position);
                let at = builder.bind(body, &name, at);
                if predicated {
                    preds.push(at.clone().less(builder.extent(mode)));
                }
                coordinates.retain(|(id, _)| *id != mode);
                coordinates.push((mode, at));
            }
            let offset = builder.offset(&self.access, |mode| position_in(&coordinates, mode));
            body.push(Stmt::Load {
                to: reg(self.staged, pass.times(Expr::u32(self.elems))),
                from: Place { space: Space::Global(buffer(&self.access)), offset },
                width: width(self.elems),
                when: all(preds),
            });
        });
    }

    /// The position of each mode, with whether it is predicated.
    fn by_mode(&self, positions: Vec<Expr>) -> Vec<(ModeId, Expr, bool)> {
        let mut modes: Vec<(ModeId, Expr, bool)> = Vec::new();
        for (direction, position) in self.directions.iter().zip(positions) {
            let Some(mode) = direction.mode else {
                continue;
            };
            match modes.iter_mut().find(|(id, _, _)| *id == mode) {
                Some((_, sum, _)) => *sum = sum.clone().plus(position),
                None => modes.push((mode, position, direction.predicated)),
            }
        }
        modes
    }

    /// Stores the registers of [`Walk::load`] into the stage that begins at `stage`.
    pub fn store(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        tiles: SharedId,
        stage: &Expr,
        suffix: &str,
    ) {
        let name = format!("{}_store_{suffix}", self.stem);
        builder.unrolled(body, &name, self.passes, |builder, body, pass| {
            let positions = self.positions(builder, body, &pass, &format!("{suffix}_store"));
            let cell = self.directions.iter().zip(positions).fold(
                stage.clone().plus(self.stage_base.clone()),
                |cell, (direction, position)| {
                    cell.plus(position.times(direction.stage_stride.clone()))
                },
            );
            let guard = self.ragged().then(|| self.number(&pass).less(Expr::u32(self.n_accesses)));
            let first = pass.times(Expr::u32(self.elems));
            self.store_access(builder, body, tiles, (cell, first, guard), suffix);
        });
    }

    /// One access: four neighbours at once, or one after the other along the walked direction.
    fn store_access(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        tiles: SharedId,
        (cell, first, guard): (Expr, Expr, Option<Pred>),
        suffix: &str,
    ) {
        let stride = &self.directions[0].stage_stride;
        let together = stride.as_const() == Some(1);
        let elems = if together { self.elems } else { 1 };
        let name = format!("{}_elem_{suffix}", self.stem);
        let cell = builder.bind(body, &format!("{}_cell_{suffix}", self.stem), cell);
        builder.unrolled(body, &name, self.elems / elems, |_, body, elem| {
            let from = (0..elems)
                .map(|next| {
                    reg(self.staged, first.clone().plus(elem.clone()).plus(Expr::u32(next)))
                })
                .collect();
            let offset = cell.plus(elem.times(stride.clone()));
            body.push(Stmt::Store {
                to: Place { space: Space::Shared(tiles), offset },
                from,
                width: width(elems),
                when: guard,
            });
        });
    }
}

/// The directions of a factor's tile, the walked one first. Of the others the side comes before
/// the contracted mode, so that the lanes of a transposing store fall into different banks.
fn directions(tiled: &Tiled, side: &Side, elems: u32, upper: &str) -> Vec<Direction> {
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
    let of_side = direction(Some(side.mode), side.tile, Expr::u32(1), side.tail);
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

fn width(elems: u32) -> Width {
    if elems == 4 { Width::Four } else { Width::One }
}

/// The coordinate of a mode, 0 for one that the list lacks.
pub fn position_in(coordinates: &[(ModeId, Expr)], mode: ModeId) -> Expr {
    let found = coordinates.iter().find(|(id, _)| *id == mode);
    found.map_or_else(|| Expr::Const { value: 0, ty: Ty::U32, name: None }, |(_, at)| at.clone())
}
