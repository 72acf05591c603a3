//! The way of results to memory: what ends their reduction, the statements that follow on each
//! element while it is in a register, and the store.

use mage_einsum::index::{Access, Layout, ModeId, Statement};

use super::{Builder, Write, buffer, reg};
use crate::kernel::lower::coordinates;
use crate::kernel::lower::point::{self, Point};
use crate::kernel::lower::reduce;
use crate::kernel::lower::value::{self, Held};
use crate::kernel::{Expr, Place, Pred, Reg, Space, Stmt, Value, Width};
use crate::schedule::lies_along;

impl Builder<'_> {
    /// Writes results of the launch's first statement to consecutive elements where they exist: ends
    /// their reduction, goes on with the launch's other statements, and adds them to what is there
    /// where the last one accumulates.
    pub fn write(&mut self, body: &mut Vec<Stmt>, write: Write) {
        let Write { offset, at, from, width, when } = write;
        let mut then = Vec::new();
        let (first, last) = (self.statements[0], self.statements[self.statements.len() - 1]);
        reduce::finish(self, &mut then, first, &at, &from);
        self.follow(&mut then, &first.target, (&at, &from));
        self.store(body, (then, last), (offset, from, width, when));
    }

    /// Stores finished results of a statement where they exist, after what `then` still does with
    /// them there; adds them to what is there where the statement accumulates.
    pub fn store(
        &mut self,
        body: &mut Vec<Stmt>,
        (mut then, statement): (Vec<Stmt>, &Statement),
        (offset, from, width, when): (Expr, Vec<Reg>, Width, Option<Pred>),
    ) {
        let to = Place { space: Space::Global(buffer(&statement.target)), offset };
        if statement.accumulates {
            self.add_before(&mut then, &to, (&from, width));
        }
        if then.is_empty() {
            body.push(Stmt::Store { to, from, width, when });
            return;
        }
        then.push(Stmt::Store { to, from, width, when: None });
        match when {
            None => body.extend(then),
            Some(when) => body.push(Stmt::If { when, then, otherwise: Vec::new() }),
        }
    }

    /// Adds what the output holds to results that are on their way there.
    fn add_before(
        &mut self,
        body: &mut Vec<Stmt>,
        from: &Place,
        (results, width): (&[Reg], Width),
    ) {
        let before = self.registers("before", width.elems());
        body.push(Stmt::Fill { reg: before, value: 0.0 });
        let to = reg(before, Expr::u32(0));
        body.push(Stmt::Load { to, from: from.clone(), width, when: None });
        for (to, place) in results.iter().zip(0..) {
            let value = Value::Add(to.clone(), reg(before, Expr::u32(place)));
            body.push(Stmt::Compute { to: to.clone(), value });
        }
    }

    /// The statements of the epilogue, in place of the results.
    fn follow(
        &mut self,
        body: &mut Vec<Stmt>,
        target: &Access,
        (at, results): (&[(ModeId, Expr)], &[Reg]),
    ) {
        let mut of_launch = vec![target.tensor];
        for statement in self.statements.clone().into_iter().skip(1) {
            let mut held = Vec::new();
            for access in statement.factors() {
                if !of_launch.contains(&access.tensor) {
                    held.push(self.beside(body, (access, target), at, results.len() as u32));
                }
            }
            for (result, elem) in results.iter().zip(0..) {
                let result_held = of_launch.iter().map(|tensor| Held {
                    access: Access::plain(*tensor, target.modes.clone()),
                    array: result.array,
                    first: result.at.clone(),
                    elems: 1,
                });
                let held: Vec<Held> = held.iter().cloned().chain(result_held).collect();
                let scratch = reg(self.registers("result", 1), Expr::u32(0));
                body.push(Stmt::Fill { reg: scratch.array, value: 0.0 });
                let elem = Expr::u32(elem);
                value::compute(self, body, &statement.value, (&held, &elem), &scratch);
                let value = Value::Copy(scratch);
                body.push(Stmt::Compute { to: result.clone(), value });
            }
            of_launch.push(statement.target.tensor);
        }
    }

    /// An operand of the epilogue at neighbouring results.
    fn beside(
        &mut self,
        body: &mut Vec<Stmt>,
        (access, target): (&Access, &Access),
        at: &[(ModeId, Expr)],
        n_results: u32,
    ) -> Held {
        let along = target.modes.last().copied();
        let varies = along.is_some_and(|mode| access.modes.contains(&mode));
        let elems = if varies { n_results } else { 1 };
        let name = format!("{}_value", self.names.tensor(access.tensor));
        let array = self.registers(&name, elems);
        body.push(Stmt::Fill { reg: array, value: 0.0 });
        if let Some(from) = self.staged_place(access, at) {
            let to = reg(array, Expr::u32(0));
            body.push(Stmt::Load { to, from, width: Width::of(elems), when: None });
            return Held { access: access.clone(), array, first: Expr::u32(0), elems };
        }
        let mut point = Point::new(at.to_vec(), "at");
        let is_wide = elems > 1 && self.is_beside_wide(access, along);
        for elem in 0..if is_wide { 1 } else { elems } {
            let mut moved = match along.filter(|_| elem > 0) {
                None => point.clone(),
                Some(mode) => {
                    let first = coordinates::of(self, &point.at, mode);
                    point.with(mode, first.plus(self.number(elem)))
                }
            };
            let from = moved.place(self, body, access);
            let width = if is_wide { Width::of(elems) } else { Width::One };
            let to = reg(array, Expr::u32(elem));
            body.push(Stmt::Load { to, from, width, when: None });
            if elem == 0 {
                point = moved;
            }
        }
        Held { access: access.clone(), array, first: Expr::u32(0), elems }
    }

    /// Where an operand that has been staged is for the results at `at`.
    fn staged_place(&self, access: &Access, at: &[(ModeId, Expr)]) -> Option<Place> {
        let staged = self.staged.iter().find(|staged| staged.access == *access)?;
        let offset = coordinates::of(self, at, staged.mode).minus(staged.origin.clone());
        Some(Place { space: Space::Shared(staged.cells), offset })
    }

    /// Whether neighbouring elements of an operand of the epilogue may be loaded in one access:
    /// `wide::eligible` has then looked at it.
    fn is_beside_wide(&self, access: &Access, along: Option<ModeId>) -> bool {
        along.is_some_and(|mode| lies_along(access, mode))
            && self.program.tensor(access.tensor).layout == Layout::RowMajor
    }

    /// Binds the strides of the epilogue's operands, where every write can see them.
    pub fn bind_epilogue_strides(&mut self, body: &mut Vec<Stmt>) {
        for statement in self.statements.clone().into_iter().skip(1) {
            for access in point::accesses(statement) {
                self.bind_strides(body, &access);
            }
        }
    }
}
