//! Long rows: their lanes take no edges but combine the parts that the kernel of parts has left.

use super::{Place, Row};
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::reduce;
use crate::kernel::{Expr, Space, Stmt, Ty, Width};

/// Parts in flight: hundreds of a very long row take few turns.
const PARTS_AHEAD: u32 = 8;

/// What the lanes of a row take: all of its edges, or some parts.
pub struct Own {
    /// One past the last edge; where the row is long, its first.
    pub edges_end: Expr,
    /// The first part, whole or not, that has edges of the row.
    first_part: Expr,
    /// One past the last one; where the row is not long, the first.
    parts_end: Expr,
}

impl Row<'_> {
    /// What the lanes of the row with these edges take.
    pub fn own(&mut self, body: &mut Vec<Stmt>, [begin, end]: [&Expr; 2]) -> Own {
        let part = self.builder.named("PART", self.segments.part_edges);
        let first_part = begin.clone().over(part.clone());
        let first_part = self.builder.bind(body, "first_part", first_part);
        let beyond = end.clone().plus(part.clone()).minus(Expr::u64(1)).over(part.clone());
        let [edges_end, parts_end] =
            ["own_end", "parts_end"].map(|name| self.builder.var(name, Ty::U64, true));
        body.push(Stmt::Let { var: edges_end, value: end.clone() });
        body.push(Stmt::Let { var: parts_end, value: first_part.clone() });
        body.push(Stmt::If {
            when: begin.clone().plus(part).less(end.clone()),
            then: vec![
                Stmt::Assign { var: edges_end, value: begin.clone() },
                Stmt::Assign { var: parts_end, value: beyond },
            ],
            otherwise: Vec::new(),
        });
        Own { edges_end: Expr::Var(edges_end), first_part, parts_end: Expr::Var(parts_end) }
    }

    /// Combines the parts in ascending order: as long as all that are in flight exist without a
    /// test for each, then one by one.
    pub fn take_parts(&mut self, body: &mut Vec<Stmt>, place: &Place, (begin, own): (&Expr, &Own)) {
        let ahead = self.builder.named("PARTS_AHEAD", PARTS_AHEAD);
        let (first, end) = (own.first_part.clone(), own.parts_end.clone());
        let count = end.clone().minus(first.clone());
        let whole = first.clone().plus(count.over(ahead.clone()).times(ahead));
        let whole = self.builder.bind(body, "whole_parts", whole);
        self.part_turns(body, place, (begin, [&first, &whole]), PARTS_AHEAD);
        self.part_turns(body, place, (begin, [&whole, &end]), 1);
    }

    fn part_turns(
        &mut self,
        body: &mut Vec<Stmt>,
        place: &Place,
        (begin, [first, end]): (&Expr, [&Expr; 2]),
        in_flight: u32,
    ) {
        let (statement, acc, elems) = (self.statement(), self.acc, self.elems());
        let values = self.builder.registers("part_value", in_flight * elems);
        let var = self.builder.var("part_turn", Ty::U64, false);
        let mut turn = vec![Stmt::Fill { reg: values, value: 0.0 }];
        self.each(&mut turn, in_flight, |row, turn, ahead| {
            let part = Expr::Var(var).plus(ahead.clone().widen());
            let part = row.builder.bind(turn, "part", part);
            let number = row.number_in(part, begin);
            let from = row.result_of(number, &place.valid_feature);
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

    /// The number of a row's result in a part: of two that a part may have, the second where the
    /// row begins behind the part's first edge.
    fn number_in(&mut self, part: Expr, begin: &Expr) -> Expr {
        let edges = self.builder.named("PART", self.segments.part_edges);
        let is_second = begin.clone().saturating_minus(part.clone().times(edges)).min(Expr::u64(1));
        part.times(Expr::u64(2)).plus(is_second)
    }

    /// Where a result of a part lies.
    pub fn result_of(&self, number: Expr, feature: &Expr) -> crate::kernel::Place {
        let n_features = self.builder.extent(self.segments.lane_mode);
        let offset = number.times(n_features).plus(feature.clone());
        crate::kernel::Place { space: Space::Global(self.sums), offset }
    }
}
