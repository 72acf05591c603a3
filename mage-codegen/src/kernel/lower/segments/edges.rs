//! The edges of a row in ascending order, a few of them in flight.

use mage_einsum::index::Access;

use super::Row;
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::coordinates;
use crate::kernel::lower::point::Point;
use crate::kernel::lower::reduce;
use crate::kernel::lower::value::Held;
use crate::kernel::{Expr, RegId, Stmt, Ty, Width};
use crate::schedule::lies_along;

impl Row<'_> {
    /// Whether an access has another element at each edge.
    fn differs(&self, access: &Access) -> bool {
        access.run_modes().contains(&self.segments.edge_mode)
    }

    /// Elements of an access that a lane holds.
    fn elems_of(&self, access: &Access) -> u32 {
        if access.modes.contains(&self.segments.lane_mode) { self.elems() } else { 1 }
    }

    /// Loads what is the same for all edges of a row.
    pub fn load_constant(&mut self, body: &mut Vec<Stmt>, point: &Point) {
        let mut constant = Vec::new();
        for access in self.statement().factors() {
            if !self.differs(access) {
                let (array, elems) = self.array(body, access, 1);
                self.load(body, access, &mut point.clone(), (array, &Expr::u32(0)));
                let first = Expr::u32(0);
                constant.push(Held { access: access.clone(), array, first, elems });
            }
        }
        self.constant = constant;
    }

    /// Registers for an access at so many edges.
    fn array(&mut self, body: &mut Vec<Stmt>, access: &Access, edges: u32) -> (RegId, u32) {
        let elems = self.elems_of(access);
        let name = format!("{}_value", self.builder.names.tensor(access.tensor));
        let array = self.builder.registers(&name, edges * elems);
        body.push(Stmt::Fill { reg: array, value: 0.0 });
        (array, elems)
    }

    fn load(
        &mut self,
        body: &mut Vec<Stmt>,
        access: &Access,
        point: &mut Point,
        (array, first): (RegId, &Expr),
    ) {
        let (elems, lane_mode) = (self.elems_of(access), self.segments.lane_mode);
        let builder = &mut self.builder;
        let from = point.place(builder, body, access);
        if elems == 1 || lies_along(access, lane_mode) {
            let to = reg(array, first.clone());
            body.push(Stmt::Load { to, from, width: Width::of(elems), when: None });
            return;
        }
        let base = coordinates::of(builder, &point.at, lane_mode);
        builder.unrolled(body, "elem", elems, |builder, body, elem| {
            let mut moved = point.with(lane_mode, base.plus(elem.clone().widen()));
            let from = moved.place(builder, body, access);
            let to = reg(array, first.clone().plus(elem));
            body.push(Stmt::Load { to, from, width: Width::One, when: None });
        });
    }

    /// Takes the edges between two: as long as all that are in flight exist without a test for
    /// each, then one by one.
    pub fn edges(&mut self, body: &mut Vec<Stmt>, point: &Point, [begin, end]: [&Expr; 2]) {
        let ahead = self.segments.ahead;
        let chunk = self.builder.named("AHEAD", ahead);
        let count = end.clone().minus(begin.clone());
        let whole = begin.clone().plus(count.over(chunk.clone()).times(chunk));
        let whole = self.builder.bind(body, "whole", whole);
        self.turns(body, point, [begin, &whole], (ahead, ahead));
        self.turns(body, point, [&whole, end], (1, 1));
    }

    /// A loop that takes `in_flight` neighbouring edges a turn.
    pub fn turns(
        &mut self,
        body: &mut Vec<Stmt>,
        point: &Point,
        [begin, end]: [&Expr; 2],
        (step, in_flight): (u32, u32),
    ) {
        let edge_mode = self.segments.edge_mode;
        let stem = self.builder.names.mode(edge_mode).to_string();
        let var = self.builder.var(&format!("{stem}_at"), Ty::U64, false);
        let mut turn = Vec::new();
        let per_edge: Vec<Access> = {
            let factors = self.statement().factors().into_iter();
            factors.filter(|access| self.differs(access)).cloned().collect()
        };
        let arrays: Vec<(RegId, u32)> =
            per_edge.iter().map(|access| self.array(&mut turn, access, in_flight)).collect();
        self.each(&mut turn, in_flight, |row, body, edge| {
            let at = Expr::Var(var).plus(edge.clone().widen());
            let at = row.builder.bind(body, &format!("{stem}_edge"), at);
            let mut moved = point.with(edge_mode, at);
            for (access, (array, elems)) in per_edge.iter().zip(&arrays) {
                let first = edge.clone().times(Expr::u32(*elems));
                row.load(body, access, &mut moved, (*array, &first));
            }
        });
        let (statement, acc, elems) = (self.statement(), self.acc, self.elems());
        self.each(&mut turn, in_flight, |row, body, edge| {
            let of_edge = per_edge.iter().zip(&arrays).map(|(access, (array, elems))| Held {
                access: access.clone(),
                array: *array,
                first: edge.clone().times(Expr::u32(*elems)),
                elems: *elems,
            });
            let held: Vec<Held> = row.constant.iter().cloned().chain(of_edge).collect();
            row.builder.unrolled(body, "elem", elems, |builder, body, elem| {
                let to = reg(acc, elem.clone());
                reduce::term(builder, body, statement, (&held, &elem), &to);
            });
        });
        let bounds = [begin.clone(), end.clone()];
        body.push(Stmt::serial(var, bounds, step, turn));
    }

    /// Something for each of some edges, without a loop for one.
    pub fn each(
        &mut self,
        body: &mut Vec<Stmt>,
        edges: u32,
        mut fill: impl FnMut(&mut Self, &mut Vec<Stmt>, Expr),
    ) {
        if edges == 1 {
            fill(self, body, Expr::u32(0));
            return;
        }
        let var = self.builder.var("ahead", Ty::U32, false);
        let mut turn = Vec::new();
        fill(self, &mut turn, Expr::Var(var));
        body.push(Stmt::unrolled(var, edges, turn));
    }
}
