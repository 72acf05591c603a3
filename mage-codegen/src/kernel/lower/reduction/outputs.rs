//! Lanes that walk neighbouring outputs: sums of columns, vector times matrix.

use mage_einsum::index::ModeId;

use super::{Sum, digits, stores_wide};
use crate::kernel::lower::builder::{Write, reg};
use crate::kernel::lower::coordinates;
use crate::kernel::lower::grid;
use crate::kernel::lower::part::Part;
use crate::kernel::{Expr, Pred, RegId, Stmt, Width};

impl Sum<'_> {
    /// A tile of outputs for each block, whose warps share the terms.
    pub fn lanes_of_outputs(&mut self, body: &mut Vec<Stmt>, block: &Part) {
        let mode = self.reduction.lane_mode;
        let elems = self.elems();
        let lanes = Expr::named("LANES", self.reduction.output_lanes(self.split, self.kind));
        let digits = digits(self.reduction, self.split);
        let mut at = grid::bind(&mut self.builder, body, &digits, block.block.clone());
        self.bind_factor_strides(body);
        self.builder.bind_strides(body, &self.target);
        self.builder.bind_epilogue_strides(body);
        let thread = self.builder.thread(body);
        let lane = thread.clone().modulo(lanes.clone());
        let column = self.builder.bind(body, "column", lane.times(Expr::u32(elems)));
        let origin = coordinates::of(&self.builder, &at, mode);
        let (output, valid) = self.lane_output(body, origin.plus(column.clone().widen()));
        at.retain(|(other, _)| *other != mode);
        let outer = [at.clone(), vec![(mode, valid)]].concat();
        let first = thread.clone().over(lanes.clone()).widen();
        let first = self.builder.bind(body, "first", first);
        let threads = self.reduction.output_threads(self.split, self.kind);
        self.sum(body, block, (&first, threads), &outer);
        if elems == 1 {
            self.fold(body);
        }
        self.shuffle(body, elems);
        let partials = self.share(body, self.split.block_outputs, column);
        let mut then = Vec::new();
        let total = self.collect(&mut then, &partials, self.split.block_outputs);
        at.push((mode, output.clone()));
        self.store_outputs(&mut then, block, &at, total);
        let when = Pred::All(vec![thread.less(lanes), output.less(self.builder.extent(mode))]);
        body.push(Stmt::If { when, then, otherwise: Vec::new() });
    }

    /// Binds the thread's first output along the lanes' mode, and what it reads: lanes beyond the
    /// last output repeat it, so that warps stay whole.
    fn lane_output(&mut self, body: &mut Vec<Stmt>, at: Expr) -> (Expr, Expr) {
        let mode = self.reduction.lane_mode;
        let stem = self.builder.names.mode(mode).to_string();
        let output = self.builder.bind(body, &format!("{stem}_out"), at);
        let last = self.builder.extent(mode).minus(Expr::u64(u64::from(self.elems())));
        let last = self.builder.bind(body, &format!("{stem}_last"), last);
        let valid = self.builder.bind(body, &format!("{stem}_at"), output.clone().min(last));
        (output, valid)
    }

    /// Neighbouring outputs in one access where they are neighbours in memory.
    fn store_outputs(
        &mut self,
        body: &mut Vec<Stmt>,
        block: &Part,
        at: &[(ModeId, Expr)],
        total: RegId,
    ) {
        let together = if stores_wide(self.reduction, &self.target) { self.elems() } else { 1 };
        let mode = self.reduction.lane_mode;
        let target = self.target.clone();
        let first_place = block.first_place(&mut self.builder, body, &target);
        self.builder.unrolled(body, "store", self.elems() / together, |builder, body, store| {
            let offset = builder.offset(&target, |id| {
                let origin = coordinates::of(builder, at, id);
                if id == mode { origin.plus(store.clone().widen()) } else { origin }
            });
            let from = (0..together).map(|elem| reg(total, store.clone().plus(Expr::u32(elem))));
            let from = from.collect();
            let mut at = at.to_vec();
            if let Some((_, first)) = at.iter_mut().find(|(id, _)| *id == mode) {
                *first = first.clone().plus(store.widen());
            }
            let write = Write { offset, at, from, width: Width::of(together), when: None };
            block.write(builder, body, &first_place, write);
        });
    }
}
