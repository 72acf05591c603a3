//! Long rows: their lanes take no edges but combine the parts that the kernel of parts has left.

use super::{Place, Row};
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::point::Point;
use crate::kernel::lower::reduce;
use crate::kernel::{Expr, Space, Stmt, Ty, Width};

/// Parts in flight: hundreds of a very long row take few turns.
const PARTS_AHEAD: u32 = 8;

impl Row<'_> {
    /// Combines the parts of a long row, and takes the edges of any other.
    pub fn parts_or_edges(
        &mut self,
        body: &mut Vec<Stmt>,
        place: &Place,
        point: &Point,
        [begin, end]: [&Expr; 2],
    ) {
        let part = self.builder.named("PART", self.segments.part_edges);
        let n_parts = end.clone().minus(begin.clone()).over(part.clone());
        let n_parts = self.builder.bind(body, "row_parts", n_parts);
        let (mut then, mut otherwise) = (Vec::new(), Vec::new());
        let first = self.builder.bind(&mut then, "first_part", begin.clone().over(part));
        let beyond = first.clone().plus(n_parts.clone());
        let beyond = self.builder.bind(&mut then, "parts_end", beyond);
        self.take_parts(&mut then, place, [&first, &beyond]);
        self.edges(&mut otherwise, point, [begin, end]);
        body.push(Stmt::If { when: Expr::u64(0).less(n_parts), then, otherwise });
    }

    /// Combines the parts in ascending order: as long as all that are in flight exist without a
    /// test for each, then one by one.
    fn take_parts(&mut self, body: &mut Vec<Stmt>, place: &Place, [first, end]: [&Expr; 2]) {
        let ahead = self.builder.named("PARTS_AHEAD", PARTS_AHEAD);
        let count = end.clone().minus(first.clone());
        let whole = first.clone().plus(count.over(ahead.clone()).times(ahead));
        let whole = self.builder.bind(body, "whole_parts", whole);
        self.part_turns(body, place, [first, &whole], PARTS_AHEAD);
        self.part_turns(body, place, [&whole, end], 1);
    }

    fn part_turns(
        &mut self,
        body: &mut Vec<Stmt>,
        place: &Place,
        [first, end]: [&Expr; 2],
        in_flight: u32,
    ) {
        let (statement, acc, elems) = (self.statement(), self.acc, self.elems());
        let values = self.builder.registers("part_value", in_flight * elems);
        let var = self.builder.var("part", Ty::U64, false);
        let mut turn = vec![Stmt::Fill { reg: values, value: 0.0 }];
        self.each(&mut turn, in_flight, |row, turn, ahead| {
            let part = Expr::Var(var).plus(ahead.clone().widen());
            let from = row.result_of(part, &place.valid_feature);
            let to = reg(values, ahead.times(Expr::u32(elems)));
            turn.push(Stmt::Load { to, from, width: Width::of(elems), when: None });
        });
        self.each(&mut turn, in_flight, |row, turn, ahead| {
            let first = ahead.times(Expr::u32(elems));
            row.builder.unrolled(turn, "elem", elems, |_, turn, elem| {
                let to = reg(acc, elem.clone());
                reduce::combine(turn, statement, &to, reg(values, first.plus(elem)));
            });
        });
        body.push(Stmt::serial(var, [first.clone(), end.clone()], in_flight, turn));
    }

    /// Where the result of a part lies: the number of the part is that of the whole parts before its
    /// first edge, if all edges were cut. Parts of long rows are no shorter, so each has its own, and
    /// those of a row follow each other.
    pub fn result_of(&self, part: Expr, feature: &Expr) -> crate::kernel::Place {
        let n_features = self.builder.extent(self.segments.lane_mode);
        let offset = part.times(n_features).plus(feature.clone());
        crate::kernel::Place { space: Space::Global(self.sums), offset }
    }
}
