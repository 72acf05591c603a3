//! Moves one factor's tile from global memory into shared memory, by copies or through registers:
//! which thread moves which elements, under which predicates, and where they land.

mod bring;
mod direction;

use mage_einsum::index::{Access, ModeId};

use super::builder::{Builder, all, buffer, reg};
use super::coordinates;
use crate::kernel::{Expr, Place, Pred, Reg, RegId, SharedId, Space, Stmt, Width};
use crate::schedule::{Along, Side, Swizzle, Tiled, chunk_elems};
use direction::{Direction, directions};

/// Single elements of a factor that a thread can hold in registers, next to sums and fragments, while
/// the tensor cores multiply.
const HELD: u32 = 16;

/// Where there are more, so many are under way at once.
const GROUP: u32 = 8;

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
    /// Accesses of a thread that are under way at once.
    group: u32,
    /// Accesses of the whole tile.
    n_accesses: u32,
    block_threads: u32,
    thread: Expr,
    /// Whether the passes do not fit the directions evenly, so that each position is computed
    /// from the access's number.
    uneven: bool,
    /// Whether the stage holds the factor across the walked direction.
    transposes: bool,
    /// Where the factor begins in a stage.
    stage_base: Expr,
    /// How the chunks of a stage's row change places, and the elements of a chunk.
    swizzle: Option<(Swizzle, u32)>,
    /// The cell of the thread's first access, if the others follow from it.
    cell: Option<Expr>,
    /// Registers on the way; none where copies need none.
    staged: Option<RegId>,
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

/// Where a thread's first access of a step is.
struct Reach {
    /// Its coordinates.
    first: Vec<(ModeId, Expr)>,
    /// For each mode with a predicate the elements there are from that coordinate on.
    left: Vec<(ModeId, Expr)>,
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
        let chunk = chunk_elems(tiled.dtype);
        let swizzle = side.staging.swizzle.map(|swizzle| (swizzle, chunk));
        // The smallest copy has four bytes.
        let copies = swizzle.is_some() && u64::from(elems) * tiled.dtype.size_bytes() >= 4;
        let most = if copies { GROUP } else { HELD };
        let many = swizzle.is_some() && elems == 1 && passes > most;
        let group = if many { GROUP } else { passes };
        let staged = (!copies).then(|| builder.registers(&format!("{stem}_staged"), group * elems));
        let mut walk = Walk {
            access: access.clone(),
            stem,
            directions,
            elems,
            passes,
            group,
            n_accesses,
            block_threads,
            thread: builder.thread(body),
            uneven: false,
            transposes: side.staging.along == Along::Contracted && swizzle.is_none(),
            stage_base,
            swizzle,
            cell: None,
            staged,
        };
        walk.share(builder, body);
        walk.bind_cell(builder, body);
        body.extend(staged.map(|reg| Stmt::Fill { reg, value: 0.0 }));
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

    /// Positions in the tile, in elements, one a direction: the thread's share and the pass's.
    fn positions(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        pass: &Expr,
        suffix: &str,
    ) -> Vec<[Expr; 2]> {
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
            positions.push([direction.thread_part.clone(), turn.times(stride)]);
        }
        positions
    }

    /// The same where only the access's number tells them.
    fn uneven_positions(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        pass: &Expr,
        suffix: &str,
    ) -> Vec<[Expr; 2]> {
        let name = format!("{}_access_{suffix}", self.stem);
        let mut rest = builder.bind(body, &name, self.number(pass));
        let mut positions = Vec::new();
        for (place, direction) in self.directions.iter().enumerate() {
            let last = place + 1 == self.directions.len();
            let radix = Expr::u32(direction.radix);
            let here = if last { rest.clone() } else { rest.clone().modulo(radix.clone()) };
            positions.push([here.times(Expr::u32(direction.scale)), Expr::u32(0)]);
            rest = rest.over(radix);
        }
        positions
    }

    /// The predicate that an access exists, where the last pass has fewer than threads.
    fn guard(&self, pass: &Expr) -> Option<Pred> {
        self.ragged().then(|| self.number(pass).less(Expr::u32(self.n_accesses)))
    }

    /// Loads this thread's elements of one step into registers; zero beyond the extents.
    pub fn load(&self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>, step: &Step<'_>) {
        let reach = self.counts_from_first().then(|| self.reach(builder, body, step));
        self.load_group(builder, body, (step, reach.as_ref()), &Expr::u32(0));
    }

    /// The same of the passes from `first` on that registers hold.
    fn load_group(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        (step, reach): (&Step<'_>, Option<&Reach>),
        first: &Expr,
    ) {
        let Some(staged) = self.staged else { return };
        let name = format!("{}_pass_{}", self.stem, step.suffix);
        builder.unrolled(body, &name, self.group, |builder, body, in_group| {
            let pass = first.clone().plus(in_group.clone());
            let positions = self.positions(builder, body, &pass, step.suffix);
            let mut preds: Vec<Pred> = step.exists.iter().cloned().collect();
            preds.extend(self.guard(&pass));
            let offset = match reach {
                Some(reach) => self.offset_from(builder, reach, &positions, &mut preds),
                None => self.offset(builder, body, step, &positions, &mut preds),
            };
            body.push(Stmt::Load {
                to: reg(staged, in_group.times(Expr::u32(self.elems))),
                from: Place { space: Space::Global(buffer(&self.access)), offset },
                width: Width::of(self.elems),
                when: all(preds),
            });
        });
    }

    /// The offset of an access from its coordinates, which have predicates.
    fn offset(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        step: &Step<'_>,
        positions: &[[Expr; 2]],
        preds: &mut Vec<Pred>,
    ) -> Expr {
        let mut coordinates = step.origins.to_vec();
        for (mode, [of_thread, of_pass]) in self.by_mode(positions) {
            let name = self.name_of(builder, mode, step.suffix);
            let at = coordinates::of(builder, step.origins, mode).plus(of_thread).plus(of_pass);
            let at = builder.bind(body, &name, at);
            if self.is_predicated(mode) {
                preds.push(at.clone().less(builder.extent(mode)));
            }
            coordinates.retain(|(id, _)| *id != mode);
            coordinates.push((mode, at));
        }
        builder.offset(&self.access, |mode| coordinates::of(builder, &coordinates, mode))
    }

    /// The offset of an access from where the thread's first one is: then what differs from pass
    /// to pass are numbers, of which one-wide accesses have so many that coordinates of their own
    /// would not fit the registers (evidence, experiments.md).
    fn offset_from(
        &self,
        builder: &Builder<'_>,
        reach: &Reach,
        positions: &[[Expr; 2]],
        preds: &mut Vec<Pred>,
    ) -> Expr {
        let mut steps = Vec::new();
        for (mode, [_, of_pass]) in self.by_mode(positions) {
            if let Some((_, left)) = reach.left.iter().find(|(id, _)| *id == mode) {
                preds.push(of_pass.clone().less(left.clone()));
            }
            steps.push((mode, of_pass));
        }
        let first =
            builder.offset(&self.access, |mode| coordinates::of(builder, &reach.first, mode));
        first.plus(builder.offset(&self.access, |mode| coordinates::of(builder, &steps, mode)))
    }

    /// Binds the thread's first coordinates in a step, and how far the extents reach from there.
    fn reach(&self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>, step: &Step<'_>) -> Reach {
        let of_thread = self.directions.iter().map(|direction| direction.thread_part.clone());
        let of_thread: Vec<[Expr; 2]> = of_thread.map(|part| [part, Expr::u32(0)]).collect();
        let mut reach = Reach { first: step.origins.to_vec(), left: Vec::new() };
        for (mode, [of_thread, _]) in self.by_mode(&of_thread) {
            let name = self.name_of(builder, mode, step.suffix);
            let first = coordinates::of(builder, step.origins, mode).plus(of_thread);
            let first = builder.bind(body, &name, first);
            if self.is_predicated(mode) {
                let left = builder.extent(mode).saturating_minus(first.clone());
                let name = self.name_of(builder, mode, &format!("left_{}", step.suffix));
                reach.left.push((mode, builder.bind(body, &name, left)));
            }
            reach.first.retain(|(id, _)| *id != mode);
            reach.first.push((mode, first));
        }
        reach
    }

    /// Whether offsets are counted from the thread's first access: where one-wide accesses are
    /// stored transposed, or for the tensor cores, and each row of the tile has its own coordinate.
    fn counts_from_first(&self) -> bool {
        self.elems == 1 && (self.transposes || self.swizzle.is_some()) && !self.uneven
    }

    fn is_predicated(&self, mode: ModeId) -> bool {
        self.directions.iter().any(|direction| direction.mode == Some(mode) && direction.predicated)
    }

    fn name_of(&self, builder: &Builder<'_>, mode: ModeId, suffix: &str) -> String {
        format!("{}_{}_{suffix}", self.stem, builder.names.mode(mode))
    }

    /// The position of each mode; that of a mode with two directions is their sum.
    fn by_mode(&self, positions: &[[Expr; 2]]) -> Vec<(ModeId, [Expr; 2])> {
        let mut modes: Vec<(ModeId, [Expr; 2])> = Vec::new();
        for (direction, position) in self.directions.iter().zip(positions) {
            let Some(mode) = direction.mode else {
                continue;
            };
            match modes.iter_mut().find(|(id, _)| *id == mode) {
                Some((_, sum)) => {
                    for (sum, part) in sum.iter_mut().zip(position) {
                        *sum = sum.clone().plus(part.clone());
                    }
                }
                None => modes.push((mode, position.clone())),
            }
        }
        modes
    }

    /// Stores the registers of [`Walk::load`] into the stage that begins at `stage`.
    pub fn store(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        place: (SharedId, &Expr),
        suffix: &str,
    ) {
        self.store_group(builder, body, place, (suffix, &Expr::u32(0)));
    }

    /// The same of the passes from `first` on that registers hold.
    fn store_group(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        (tiles, stage): (SharedId, &Expr),
        (suffix, first): (&str, &Expr),
    ) {
        let Some(staged) = self.staged else { return };
        let name = format!("{}_store_{suffix}", self.stem);
        builder.unrolled(body, &name, self.group, |builder, body, in_group| {
            let pass = first.clone().plus(in_group.clone());
            let positions = self.positions(builder, body, &pass, &format!("{suffix}_store"));
            let (cell, guard) = (self.cell(&positions, stage), self.guard(&pass));
            let first = reg(staged, in_group.times(Expr::u32(self.elems)));
            self.store_access(builder, body, tiles, (cell, first, guard), suffix);
        });
    }

    /// One access: four neighbours at once, or one after the other along the walked direction.
    fn store_access(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        tiles: SharedId,
        (cell, first, guard): (Expr, Reg, Option<Pred>),
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
                    let at = first.at.clone().plus(elem.clone()).plus(Expr::u32(next));
                    reg(first.array, at)
                })
                .collect();
            let offset = cell.plus(elem.times(stride.clone()));
            body.push(Stmt::Store {
                to: Place { space: Space::Shared(tiles), offset },
                from,
                width: Width::of(elems),
                when: guard,
            });
        });
    }
}
