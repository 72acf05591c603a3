//! Combines partial sums: those of a thread, then those of a warp's lanes by shuffles, then those of
//! a block's warps through shared memory. The order is fixed, so every run gives the same result.

use super::Sum;
use crate::device::WARP_THREADS;
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::reduce;
use crate::kernel::{Expr, Place, Pred, Reg, RegId, SharedId, Space, Stmt, Width};

/// The partial sums of a block's warps in shared memory.
pub struct Partials {
    cells: SharedId,
    /// The thread's element in the row of a warp.
    column: Expr,
}

impl Sum<'_> {
    /// Adds up the partial sums of one output in a thread, in pairs.
    pub fn fold(&self, body: &mut Vec<Stmt>) {
        let mut distance = self.n_acc() / 2;
        while distance > 0 {
            for place in 0..distance {
                reduce::combine(body, self.statement, &self.acc(place), self.acc(place + distance));
            }
            distance /= 2;
        }
    }

    /// Adds up the partial sums of the first `n_sums` outputs over the lanes of a warp that share
    /// them; every lane gets the result.
    pub fn shuffle(&mut self, body: &mut Vec<Stmt>, n_sums: u32) {
        let lanes = self.reduction.output_lanes(self.split, self.kind);
        let threads = lanes * self.reduction.output_threads(self.split, self.kind);
        let masks: Vec<u32> =
            [16, 8, 4, 2, 1].into_iter().filter(|mask| (lanes..threads).contains(mask)).collect();
        if masks.is_empty() {
            return;
        }
        let other = self.builder.registers("other", 1);
        body.push(Stmt::Fill { reg: other, value: 0.0 });
        let (acc, other, statement) = (self.acc, reg(other, Expr::u32(0)), self.statement);
        self.builder.unrolled(body, "sum", n_sums, |_, body, sum| {
            for lane_mask in masks {
                let sum = reg(acc, sum.clone());
                body.push(Stmt::ShuffleXor { to: other.clone(), from: sum.clone(), lane_mask });
                reduce::combine(body, statement, &sum, other.clone());
            }
        });
    }

    /// Puts each warp's sums of `n_outputs` outputs into shared memory; `column` is the first of
    /// the thread's.
    pub fn share(&mut self, body: &mut Vec<Stmt>, n_outputs: u32, column: Expr) -> Partials {
        let n_sums = n_outputs / self.reduction.output_lanes(self.split, self.kind);
        let cells = self.builder.shared("partials", self.n_warps() * n_outputs);
        let thread = self.builder.thread(body);
        let warp = self.builder.bind(body, "warp", thread.over(Expr::u32(WARP_THREADS)));
        let offset = row(warp, n_outputs).plus(column.clone());
        let store = Stmt::Store {
            to: Place { space: Space::Shared(cells), offset },
            from: (0..n_sums).map(|sum| self.acc(sum)).collect(),
            width: Width::of(n_sums),
            when: self.is_first_of_warp(body),
        };
        body.extend([store, Stmt::Barrier]);
        Partials { cells, column }
    }

    /// The lanes of a warp that have a sum of their own; nothing where all have.
    fn is_first_of_warp(&mut self, body: &mut Vec<Stmt>) -> Option<Pred> {
        let lanes = self.reduction.output_lanes(self.split, self.kind);
        if lanes == WARP_THREADS {
            return None;
        }
        let thread = self.builder.thread(body);
        let lane = self.builder.bind(body, "lane", thread.modulo(Expr::u32(WARP_THREADS)));
        Some(lane.less(Expr::u32(lanes)))
    }

    /// Adds up the sums of all warps, the first warp's first.
    pub fn collect(&mut self, body: &mut Vec<Stmt>, partials: &Partials, n_outputs: u32) -> RegId {
        let n_sums = n_outputs / self.reduction.output_lanes(self.split, self.kind);
        let [total, partial] =
            ["total", "partial"].map(|name| self.builder.registers(name, n_sums));
        let statement = self.statement;
        body.push(Stmt::Fill { reg: total, value: reduce::start(statement) });
        body.push(Stmt::Fill { reg: partial, value: 0.0 });
        let (cells, column) = (partials.cells, partials.column.clone());
        self.builder.unrolled(body, "from_warp", self.n_warps(), |builder, body, warp| {
            body.push(Stmt::Load {
                to: reg(partial, Expr::u32(0)),
                from: Place {
                    space: Space::Shared(cells),
                    offset: row(warp, n_outputs).plus(column),
                },
                width: Width::of(n_sums),
                when: None,
            });
            builder.unrolled(body, "sum_of", n_sums, |_, body, sum| {
                reduce::combine(body, statement, &reg(total, sum.clone()), reg(partial, sum));
            });
        });
        total
    }

    fn n_warps(&self) -> u32 {
        self.split.block_threads / WARP_THREADS
    }

    fn n_acc(&self) -> u32 {
        self.reduction.ahead.max(self.elems())
    }

    fn acc(&self, place: u32) -> Reg {
        reg(self.acc, Expr::u32(place))
    }
}

/// Where a warp's row of partial sums begins.
fn row(warp: Expr, n_outputs: u32) -> Expr {
    if n_outputs == 1 { warp } else { warp.times(Expr::named("OUTPUTS", n_outputs)) }
}
