//! The steps of a mainloop: how many there are, and where in the contracted modes each is.

use mage_einsum::index::ModeId;

use super::Lowering;
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::grid;
use crate::kernel::lower::part::Part;
use crate::kernel::{Expr, Pred, RegId, Stmt, Ty, Value, VarId};
use crate::schedule::Tail;

impl Lowering<'_> {
    /// The loop over the steps of a block, in rounds where the schedule has any: the running sums
    /// of each are added to those of all.
    pub fn steps(
        &mut self,
        body: &mut Vec<Stmt>,
        (step, turn): (VarId, Vec<Stmt>),
        part: &Part,
        [acc, sums]: [RegId; 2],
    ) {
        let (begin, end) = (part.begin.clone(), part.end.clone());
        let Some(most) = self.tiled.summing.round_steps() else {
            body.push(Stmt::serial(step, [begin, end], 1, turn));
            return;
        };
        let round = self.builder.var("round", Ty::U32, false);
        let mut of_round = Vec::new();
        let last = Expr::Var(round).plus(Expr::named("ROUND", most)).min(end.clone());
        let last = self.builder.bind(&mut of_round, "round_end", last);
        of_round.push(Stmt::Fill { reg: acc, value: 0.0 });
        of_round.push(Stmt::serial(step, [Expr::Var(round), last], 1, turn));
        let map = &self.tiled.threads;
        let n_sums = map.thread_elems(0) * map.thread_elems(1);
        self.builder.unrolled(&mut of_round, "sum", n_sums, |_, body, sum| {
            let to = reg(sums, sum.clone());
            let value = Value::Add(to.clone(), reg(acc, sum));
            body.push(Stmt::Compute { to, value });
        });
        body.push(Stmt::serial(round, [begin, end], most, of_round));
    }

    /// A step past the last loads nothing. With a single predicated mode its own predicate says
    /// so; otherwise the step's number does.
    pub fn step_exists(&self, next: Option<&Expr>, part: &Part) -> Option<Pred> {
        let contracted = &self.tiled.contracted;
        let by_tail = contracted.tail == Tail::Predicated && contracted.outer.is_empty();
        // Copies are guarded as well: a guard costs less than copies of zeros (evidence,
        // tensor-cores.md).
        let told_by_predicate = by_tail && !self.tiled.threads.fragments;
        let never_empty = contracted.outer.is_empty();
        match next {
            _ if told_by_predicate && !part.is_part() => None,
            Some(next) => Some(next.clone().less(part.end.clone())),
            None if never_empty || part.is_part() => None,
            None => Some(Expr::u32(0).less(part.end.clone())),
        }
    }

    /// The origin of the contracted tile and the coordinates of the modes around it; `None` is
    /// the first step, where all are zero.
    pub fn contracted_origins(
        &mut self,
        body: &mut Vec<Stmt>,
        step: Option<&Expr>,
        suffix: &str,
    ) -> Vec<(ModeId, Expr)> {
        let contracted = &self.tiled.contracted;
        let (Some(mode), Some(step)) = (contracted.mode, step) else {
            return Vec::new();
        };
        let names = self.builder.names;
        let stem = names.mode(mode).to_string();
        let tile = Expr::named(&grid::tile_name(names, mode), contracted.tile);
        let mut origins = Vec::new();
        let mut rest = step.clone();
        if !contracted.outer.is_empty() {
            let tiles = grid::tiles(&self.builder, mode, contracted.tile);
            let tiles = self.builder.bind(body, &format!("{stem}_tiles_{suffix}"), tiles);
            let at = rest.clone().modulo(tiles.clone()).times(tile);
            origins.push((mode, self.builder.bind(body, &format!("{stem}_tile_{suffix}"), at)));
            rest = self.builder.bind(body, &format!("above_{stem}_{suffix}"), rest.over(tiles));
        } else {
            let at = rest.clone().times(tile);
            origins.push((mode, self.builder.bind(body, &format!("{stem}_tile_{suffix}"), at)));
        }
        for (position, outer) in contracted.outer.iter().enumerate().rev() {
            let stem = names.mode(*outer).to_string();
            let extent = self.builder.extent(*outer);
            let at = if position == 0 { rest.clone() } else { rest.clone().modulo(extent.clone()) };
            origins.push((*outer, self.builder.bind(body, &format!("{stem}_at_{suffix}"), at)));
            if position > 0 {
                let name = format!("above_{stem}_{suffix}");
                rest = self.builder.bind(body, &name, rest.over(extent));
            }
        }
        origins
    }

    /// How many steps all contracted modes take.
    pub fn n_steps(&self) -> Expr {
        let contracted = &self.tiled.contracted;
        let tiles = match contracted.mode {
            None => Expr::u32(1),
            Some(mode) => grid::tiles(&self.builder, mode, contracted.tile),
        };
        let outer = contracted.outer.iter();
        outer.fold(tiles, |steps, mode| steps.times(self.builder.extent(*mode)))
    }
}
