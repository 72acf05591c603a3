//! Lanes that walk the terms of one output: sums of rows, dot products, matrix times vector.

use mage_einsum::index::ModeId;

use super::Sum;
use crate::device::WARP_THREADS;
use crate::kernel::lower::builder::{Write, all, reg};
use crate::kernel::lower::coordinates;
use crate::kernel::lower::part::Part;
use crate::kernel::{Expr, Pred, RegId, Stmt, Width};

impl Sum<'_> {
    /// A warp, a part of one, or a whole block for each output.
    pub fn lanes_of_terms(&mut self, body: &mut Vec<Stmt>, block: &Part) {
        let threads = self.reduction.output_threads(self.split, self.kind);
        let (output, exists) = self.output(body, threads, &block.block);
        // Spare threads of the last block repeat its last output, so that warps stay whole.
        let valid = match &exists {
            None => output.clone(),
            Some((_, last)) => {
                let valid = output.clone().min(last.clone());
                self.builder.bind(body, "valid", valid)
            }
        };
        let target = self.reduction.outer.clone();
        let at = coordinates::take_apart(&mut self.builder, body, &target, valid, "at");
        self.bind_factor_strides(body);
        self.builder.bind_epilogue_strides(body);
        let part = self.part(body, threads);
        let first = part.clone().times(Expr::u32(self.elems())).widen();
        let first = self.builder.bind(body, "first", first);
        self.sum(body, block, (&first, threads * self.elems()), &at);
        self.fold(body);
        self.shuffle(body, 1);
        if threads > WARP_THREADS {
            let partials = self.share(body, 1, Expr::u32(0));
            let mut then = Vec::new();
            let total = self.collect(&mut then, &partials, 1);
            self.store(&mut then, block, (output, at, total), None);
            let when = part.less(Expr::u32(1));
            body.push(Stmt::If { when, then, otherwise: Vec::new() });
            return;
        }
        let mut preds = vec![part.less(Expr::u32(1))];
        preds.extend(exists.map(|(exists, _)| exists));
        self.store(body, block, (output, at, self.acc), all(preds));
    }

    /// The thread's output, and where a block has several, that it exists and the last that does.
    fn output(
        &mut self,
        body: &mut Vec<Stmt>,
        threads: u32,
        block: &Expr,
    ) -> (Expr, Option<(Pred, Expr)>) {
        let outputs = self.split.block_outputs;
        let modes = &self.reduction.outer;
        if modes.is_empty() {
            return (Expr::u64(0), None);
        }
        if outputs == 1 {
            return (self.builder.bind(body, "output", block.clone().widen()), None);
        }
        let n_outputs = coordinates::count(&self.builder, modes);
        let n_outputs = self.builder.bind(body, "n_outputs", n_outputs);
        let thread = self.builder.thread(body);
        let in_block = thread.over(Expr::named("THREADS", threads)).widen();
        let block = block.clone().widen().times(self.builder.named("OUTPUTS", outputs));
        let output = self.builder.bind(body, "output", block.plus(in_block));
        let last = n_outputs.clone().minus(Expr::u64(1));
        let last = self.builder.bind(body, "last", last);
        (output.clone(), Some((output.less(n_outputs), last)))
    }

    /// The thread's number among those that share its output.
    fn part(&mut self, body: &mut Vec<Stmt>, threads: u32) -> Expr {
        let thread = self.builder.thread(body);
        if threads == self.split.block_threads {
            return thread;
        }
        self.builder.bind(body, "part", thread.modulo(Expr::named("THREADS", threads)))
    }

    fn store(
        &mut self,
        body: &mut Vec<Stmt>,
        block: &Part,
        (offset, at, from): (Expr, Vec<(ModeId, Expr)>, RegId),
        when: Option<Pred>,
    ) {
        let first = block.first_place(&mut self.builder, body, &self.target);
        let from = vec![reg(from, Expr::u32(0))];
        let write = Write { offset, at, from, width: Width::One, when };
        block.write(&mut self.builder, body, &first, write);
    }
}
