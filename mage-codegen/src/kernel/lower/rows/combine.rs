//! Partial results of a row's threads become one that all of them have: by shuffles within a warp,
//! then through shared memory between the warps of a block, in a fixed order.

use mage_einsum::index::Statement;

use super::{Place, Row};
use crate::device::WARP_THREADS;
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::reduce;
use crate::kernel::{Expr, RegId, Space, Stmt, Width};

impl Row<'_> {
    /// Combines the first register of `acc` over the threads of the row.
    pub fn combine(
        &mut self,
        body: &mut Vec<Stmt>,
        (statement, acc): (&Statement, RegId),
        place: &Place,
    ) {
        let sum = reg(acc, Expr::u32(0));
        let other = reg(self.builder.registers("other", 1), Expr::u32(0));
        body.push(Stmt::Fill { reg: other.array, value: 0.0 });
        for lane_mask in [16, 8, 4, 2, 1] {
            body.push(Stmt::ShuffleXor { to: other.clone(), from: sum.clone(), lane_mask });
            reduce::combine(body, statement, &sum, other.clone());
        }
        let n_warps = self.width.row_threads / WARP_THREADS;
        if n_warps == 1 {
            return;
        }
        // Each reduction has cells of its own, so that none is written while another is read.
        let cells = self.builder.shared("partials", n_warps);
        let warp = Expr::u32(WARP_THREADS);
        let of_warp = self.builder.bind(body, "warp", place.lane.clone().over(warp.clone()));
        let in_warp = self.builder.bind(body, "in_warp", place.lane.clone().modulo(warp));
        body.push(Stmt::Store {
            to: crate::kernel::Place { space: Space::Shared(cells), offset: of_warp },
            from: vec![sum.clone()],
            width: Width::One,
            when: Some(in_warp.less(Expr::u32(1))),
        });
        body.push(Stmt::Barrier);
        body.push(Stmt::Fill { reg: acc, value: reduce::start(statement) });
        self.builder.unrolled(body, "from_warp", n_warps, |_, body, warp| {
            body.push(Stmt::Load {
                to: other.clone(),
                from: crate::kernel::Place { space: Space::Shared(cells), offset: warp },
                width: Width::One,
                when: None,
            });
            reduce::combine(body, statement, &sum, other);
        });
    }
}
