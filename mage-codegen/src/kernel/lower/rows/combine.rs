//! Partial results of a row's threads become one that all of them have: by shuffles within a warp,
//! then through shared memory between the warps of a block, in a fixed order. Reductions that are
//! taken together wait for each other's shuffles and for one barrier.

use mage_einsum::index::Statement;

use super::{Place, Row};
use crate::device::WARP_THREADS;
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::reduce;
use crate::kernel::{self, Expr, Reg, RegId, SharedId, Space, Stmt, Width};

/// A reduction on its way through the threads of a row.
struct Partial<'s> {
    statement: &'s Statement,
    /// The thread's own.
    sum: Reg,
    /// That of another thread.
    other: Reg,
}

impl Row<'_> {
    /// Combines the first register of each reduction over the threads of the row.
    pub fn combine(
        &mut self,
        body: &mut Vec<Stmt>,
        reductions: &[(&Statement, RegId)],
        place: &Place,
    ) {
        let mut partials = Vec::new();
        for (statement, acc) in reductions {
            let other = reg(self.builder.registers("other", 1), Expr::u32(0));
            body.push(Stmt::Fill { reg: other.array, value: 0.0 });
            partials.push(Partial { statement, sum: reg(*acc, Expr::u32(0)), other });
        }
        for lane_mask in [16, 8, 4, 2, 1] {
            for Partial { sum, other, .. } in &partials {
                body.push(Stmt::ShuffleXor { to: other.clone(), from: sum.clone(), lane_mask });
            }
            for Partial { statement, sum, other } in &partials {
                reduce::combine(body, statement, sum, other.clone());
            }
        }
        if self.width.row_threads > WARP_THREADS {
            self.combine_warps(body, &partials, place);
        }
    }

    /// The same between the warps of the block.
    fn combine_warps(&mut self, body: &mut Vec<Stmt>, partials: &[Partial<'_>], place: &Place) {
        let n_warps = self.width.row_threads / WARP_THREADS;
        // Each reduction has cells of its own, so that none is written while another is read.
        let cells = partials.iter().map(|_| self.builder.shared("partials", n_warps));
        let cells: Vec<SharedId> = cells.collect();
        let cell =
            |cells: &SharedId, offset: Expr| kernel::Place { space: Space::Shared(*cells), offset };
        let warp = Expr::u32(WARP_THREADS);
        let of_warp = self.builder.bind(body, "warp", place.lane.clone().over(warp.clone()));
        let in_warp = self.builder.bind(body, "in_warp", place.lane.clone().modulo(warp));
        for (partial, cells) in partials.iter().zip(&cells) {
            body.push(Stmt::Store {
                to: cell(cells, of_warp.clone()),
                from: vec![partial.sum.clone()],
                width: Width::One,
                when: Some(in_warp.clone().less(Expr::u32(1))),
            });
        }
        body.push(Stmt::Barrier);
        for Partial { statement, sum, .. } in partials {
            body.push(Stmt::Fill { reg: sum.array, value: reduce::start(statement) });
        }
        self.builder.unrolled(body, "from_warp", n_warps, |_, body, warp| {
            for (Partial { statement, sum, other }, cells) in partials.iter().zip(&cells) {
                body.push(Stmt::Load {
                    to: other.clone(),
                    from: cell(cells, warp.clone()),
                    width: Width::One,
                    when: None,
                });
                reduce::combine(body, statement, sum, other.clone());
            }
        });
    }
}
