//! What is on its way to the tensor cores: copies into a stage whose chunks change places.

use super::{Reach, Step, Walk};
use crate::kernel::lower::builder::{Builder, all, buffer};
use crate::kernel::{Expr, Place, Pred, SharedId, Space, Stmt, Ty};
use crate::schedule::Swizzle;

impl Walk {
    /// Whether copies bring the elements, and not registers.
    pub fn copies(&self) -> bool {
        self.staged.is_none()
    }

    /// Whether registers hold all elements of a step at once.
    pub fn holds_a_step(&self) -> bool {
        self.staged.is_some() && self.group == self.passes
    }

    /// Brings one step into the stage that begins at `stage`, single elements a few at a time: by
    /// copies, which have to be waited for, or through registers where they are too small for those.
    pub fn bring(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        step: &Step<'_>,
        (tiles, stage): (SharedId, &Expr),
    ) {
        let reach = self.counts_from_first().then(|| self.reach(builder, body, step));
        let group = |builder: &mut Builder<'_>, body: &mut Vec<Stmt>, first: &Expr| {
            if self.copies() {
                self.copy_group(builder, body, (step, reach.as_ref()), (tiles, stage), first);
            } else {
                self.load_group(builder, body, (step, reach.as_ref()), first);
                self.store_group(builder, body, (tiles, stage), (step.suffix, first));
            }
        };
        if self.group == self.passes {
            return group(builder, body, &Expr::u32(0));
        }
        let first = builder.var(&format!("{}_group_{}", self.stem, step.suffix), Ty::U32, false);
        let mut inner = Vec::new();
        group(builder, &mut inner, &Expr::Var(first));
        body.push(Stmt::serial(first, [0, self.passes].map(Expr::u32), self.group, inner));
    }

    /// Copies by the passes from `first` on.
    fn copy_group(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        (step, reach): (&Step<'_>, Option<&Reach>),
        (tiles, stage): (SharedId, &Expr),
        first: &Expr,
    ) {
        let name = format!("{}_pass_{}", self.stem, step.suffix);
        builder.unrolled(body, &name, self.group, |builder, body, in_group| {
            let pass = first.clone().plus(in_group);
            let positions = self.positions(builder, body, &pass, step.suffix);
            let mut preds: Vec<Pred> = step.exists.iter().cloned().collect();
            let offset = match reach {
                Some(reach) => self.offset_from(builder, reach, &positions, &mut preds),
                None => self.offset(builder, body, step, &positions, &mut preds),
            };
            let copy = Stmt::Copy {
                to: Place { space: Space::Shared(tiles), offset: self.cell(&positions, stage) },
                from: Place { space: Space::Global(buffer(&self.access)), offset },
                elems: self.elems,
                when: all(preds),
            };
            match self.guard(&pass) {
                None => body.push(copy),
                Some(when) => body.push(Stmt::If { when, then: vec![copy], otherwise: Vec::new() }),
            }
        });
    }

    /// The cell of an access in the stage that begins at `stage`.
    pub(super) fn cell(&self, positions: &[[Expr; 2]], stage: &Expr) -> Expr {
        let first = stage.clone().plus(self.stage_base.clone());
        let sum = |[of_thread, of_pass]: &[Expr; 2]| of_thread.clone().plus(of_pass.clone());
        let (Some((swizzle, chunk)), [place, line]) = (self.swizzle, positions) else {
            return self.directions.iter().zip(positions).fold(first, |cell, (direction, at)| {
                cell.plus(sum(at).times(direction.stage_stride.clone()))
            });
        };
        let row = self.directions[1].stage_stride.clone();
        if let Some(cell) = &self.cell {
            return first.plus(cell.clone()).plus(line[1].clone().times(row));
        }
        let place = swizzled(swizzle, chunk, (sum(line), sum(place)));
        first.plus(sum(line).times(row)).plus(place)
    }

    /// Binds the cell of the thread's first access, where the passes that follow it are whole turns
    /// of the swizzle along its rows.
    pub(super) fn bind_cell(&mut self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>) {
        let (Some((swizzle, chunk)), [place, line]) = (self.swizzle, self.directions.as_slice())
        else {
            return;
        };
        let turns = (line.thread_count * line.scale).is_multiple_of(swizzle.turn());
        if self.uneven || place.pass_radix > 1 || !turns {
            return;
        }
        let [place, line, row] = [&place.thread_part, &line.thread_part, &line.stage_stride];
        let at = swizzled(swizzle, chunk, (line.clone(), place.clone()));
        let cell = line.clone().times(row.clone()).plus(at);
        self.cell = Some(builder.bind(body, &format!("{}_load_cell", self.stem), cell));
    }
}

/// A place in a row after the row's chunks have changed places.
fn swizzled(swizzle: Swizzle, chunk: u32, (line, place): (Expr, Expr)) -> Expr {
    let way = line.over(Expr::u32(swizzle.rows)).modulo(Expr::u32(swizzle.period));
    place.xor(way.times(Expr::u32(swizzle.step * chunk)))
}
