//! Long rows: one after the other, each taken by all lane groups of its block, whose results go
//! through shared memory and are combined in the order of the groups.

use super::{Place, Row};
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::reduce;
use crate::kernel::{Expr, Pred, SharedId, Space, Stmt, Ty, Width};
use crate::schedule::Segments;

impl Row<'_> {
    /// Where a lane's own edges end: at their begin where the row is long.
    pub fn short_end(&mut self, body: &mut Vec<Stmt>, [begin, end, short]: [&Expr; 3]) -> Expr {
        let var = self.builder.var("own_end", Ty::U64, true);
        body.push(Stmt::Let { var, value: end.clone() });
        let then = vec![Stmt::Assign { var, value: begin.clone() }];
        let when = short.clone().less(end.clone());
        body.push(Stmt::If { when, then, otherwise: Vec::new() });
        Expr::Var(var)
    }

    /// Goes through the block's rows; whether one is long is the same for all threads.
    pub fn long_rows(&mut self, body: &mut Vec<Stmt>, place: &Place) {
        let Segments { row_mode, block_threads, long_edges, .. } = *self.segments;
        let groups = block_threads / self.lanes;
        let cells = self.builder.shared("partials", block_threads * self.elems());
        let row = self.builder.var("of_block", Ty::U64, false);
        let mut turn = Vec::new();
        let at =
            self.builder.bind(&mut turn, "long_row", place.first_row.clone().plus(Expr::Var(row)));
        let mut exists = Vec::new();
        let [begin, end] = self.bounds(&mut exists, at.clone(), ["long_begin", "long_end"]);
        let long = self.builder.named("LONG", long_edges);
        let is_long = begin.clone().plus(long).less(end.clone());
        let mut then = Vec::new();
        self.long_row(&mut then, (place, &at), [&begin, &end], cells);
        exists.push(Stmt::If { when: is_long, then, otherwise: Vec::new() });
        let when = at.less(self.builder.extent(row_mode));
        turn.push(Stmt::If { when, then: exists, otherwise: Vec::new() });
        let bounds = [Expr::u64(0), Expr::u64(groups.into())];
        body.push(Stmt::serial(row, bounds, 1, turn));
    }

    fn long_row(
        &mut self,
        body: &mut Vec<Stmt>,
        (place, row): (&Place, &Expr),
        [begin, end]: [&Expr; 2],
        cells: SharedId,
    ) {
        let (statement, elems) = (self.statement(), self.elems());
        let Segments { lane_mode, row_mode, block_threads, ahead, .. } = *self.segments;
        let groups = block_threads / self.lanes;
        body.push(Stmt::Fill { reg: self.acc, value: reduce::start(statement) });
        let point = self.point(place, row.clone());
        self.load_constant(body, &point);
        // A group takes neighbouring edges, as many as are in flight, and the next ones behind
        // those of all groups.
        let own = place.group.clone().times(Expr::u32(ahead)).widen();
        let first = self.builder.bind(body, "own_begin", begin.clone().plus(own));
        let stride = self.builder.named("STRIDE", groups * ahead);
        let count = end.clone().minus(begin.clone());
        let whole = begin.clone().plus(count.over(stride.clone()).times(stride));
        let whole = self.builder.bind(body, "long_whole", whole);
        self.turns(body, &point, [&first, &whole], (groups * ahead, ahead));
        let rest = whole.plus(place.group.clone().widen());
        let rest = self.builder.bind(body, "own_rest", rest);
        self.turns(body, &point, [&rest, end], (groups, 1));
        let own = place.group.clone().times(Expr::u32(self.lanes)).plus(place.lane.clone());
        let cell = own.times(Expr::u32(elems));
        body.push(Stmt::Store {
            to: crate::kernel::Place { space: Space::Shared(cells), offset: cell },
            from: (0..elems).map(|elem| reg(self.acc, Expr::u32(elem))).collect(),
            width: Width::of(elems),
            when: None,
        });
        body.push(Stmt::Barrier);
        let mut then = Vec::new();
        self.combine(&mut then, place, cells);
        let at = vec![(row_mode, row.clone()), (lane_mode, place.feature.clone())];
        self.write(&mut then, at, None);
        let when = Pred::All(vec![
            place.group.clone().less(Expr::u32(1)),
            place.feature.clone().less(self.builder.extent(lane_mode)),
        ]);
        body.push(Stmt::If { when, then, otherwise: Vec::new() });
        // The cells are free for the next long row.
        body.push(Stmt::Barrier);
    }

    /// Combines the groups' results of a lane's outputs, the first group's first.
    fn combine(&mut self, body: &mut Vec<Stmt>, place: &Place, cells: SharedId) {
        let (statement, elems, acc) = (self.statement(), self.elems(), self.acc);
        let groups = self.segments.block_threads / self.lanes;
        let other = self.builder.registers("of_group", elems);
        body.push(Stmt::Fill { reg: acc, value: reduce::start(statement) });
        body.push(Stmt::Fill { reg: other, value: 0.0 });
        let row = Expr::u32(self.lanes * elems);
        let column = place.lane.clone().times(Expr::u32(elems));
        self.builder.unrolled(body, "from_group", groups, |builder, body, group| {
            body.push(Stmt::Load {
                to: reg(other, Expr::u32(0)),
                from: crate::kernel::Place {
                    space: Space::Shared(cells),
                    offset: group.times(row).plus(column),
                },
                width: Width::of(elems),
                when: None,
            });
            builder.unrolled(body, "elem", elems, |_, body, elem| {
                reduce::combine(body, statement, &reg(acc, elem.clone()), reg(other, elem));
            });
        });
    }
}
