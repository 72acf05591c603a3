//! Rows that no register holds: each statement goes through the row in memory once more. What was
//! computed of the columns before is computed again.

use mage_einsum::index::{self, Access, Statement};

use super::held::within;
use super::{Place, Row};
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::coordinates;
use crate::kernel::lower::reduce;
use crate::kernel::lower::value::{self, Held};
use crate::kernel::{Expr, Pred, Stmt, Ty, Width};

impl<'p> Row<'p> {
    /// Goes through the statements, a pass over the row for each that has columns.
    pub fn in_passes(&mut self, body: &mut Vec<Stmt>, place: &Place) {
        for statement in self.builder.statements.clone() {
            let expr = self.recomputed(&statement.value);
            if !statement.reduced.is_empty() {
                self.reduce_pass(body, (statement, &expr), place);
            } else if !self.has_columns(&statement.target) {
                self.row_value(body, statement, place);
            } else if !self.schedule.is_in_registers(statement.target.tensor) {
                self.store_pass(body, (statement, &expr), place);
            }
        }
    }

    /// An expression in which columns that earlier statements computed are their expressions.
    fn recomputed(&self, expr: &index::Expr) -> index::Expr {
        let written = |access: &Access| {
            let mut statements = self.builder.statements.iter();
            let found = statements.find(|statement| statement.target == *access);
            found.filter(|statement| self.has_columns(&statement.target))
        };
        if let index::Expr::Access(access) = expr
            && let Some(statement) = written(access)
        {
            return self.recomputed(&statement.value);
        }
        let boxed = |inner: &index::Expr| Box::new(self.recomputed(inner));
        match expr {
            index::Expr::Access(_) | index::Expr::Number(_) => expr.clone(),
            index::Expr::Product(factors) => {
                let factors = factors.iter().map(|factor| self.recomputed(factor));
                index::Expr::Product(factors.collect())
            }
            index::Expr::Binary(operator, left, right) => {
                index::Expr::Binary(*operator, boxed(left), boxed(right))
            }
            index::Expr::Power(base, exponent) => index::Expr::Power(boxed(base), *exponent),
            index::Expr::Call(function, inner) => index::Expr::Call(*function, boxed(inner)),
        }
    }

    /// One pass over the row: `turn` is told the thread's first column.
    fn pass(
        &mut self,
        body: &mut Vec<Stmt>,
        place: &Place,
        turn: impl FnOnce(&mut Self, &mut Vec<Stmt>, Expr),
    ) {
        let elems = self.elems();
        let stem = self.builder.names.mode(self.rows.col_mode).to_string();
        let var = self.builder.var(&format!("{stem}_at"), Ty::U64, false);
        let first = place.lane.clone().widen().times(Expr::u64(elems.into()));
        let first = self.builder.bind(body, &format!("{stem}_first"), first);
        let mut inner = Vec::new();
        turn(self, &mut inner, Expr::Var(var));
        let bounds = [first, self.builder.extent(self.rows.col_mode)];
        body.push(Stmt::serial(var, bounds, self.width.row_threads * elems, inner));
    }

    fn at_column(
        &mut self,
        body: &mut Vec<Stmt>,
        expr: &index::Expr,
        (place, column): (&Place, &Expr),
    ) -> Vec<Held> {
        let elems = self.elems();
        let mut held = self.scalars.clone();
        for access in expr.accesses() {
            if !held.iter().any(|known| known.access == *access) {
                let mut point = place.row.with(self.rows.col_mode, column.clone());
                held.push(self.load(body, access, &mut point, (elems, None)));
            }
        }
        held
    }

    fn reduce_pass(
        &mut self,
        body: &mut Vec<Stmt>,
        (statement, expr): (&'p Statement, &index::Expr),
        place: &Place,
    ) {
        let elems = self.elems();
        let name = format!("{}_row", self.builder.names.tensor(statement.target.tensor));
        let acc = self.builder.registers(&name, elems);
        body.push(Stmt::Fill { reg: acc, value: reduce::start(statement) });
        let recomputed = Statement { value: expr.clone(), ..statement.clone() };
        self.pass(body, place, |row, body, column| {
            let held = row.at_column(body, expr, (place, &column));
            row.builder.unrolled(body, "elem", elems, |builder, body, elem| {
                let to = reg(acc, elem.clone());
                reduce::term(builder, body, &recomputed, (&held, &elem), &to);
            });
        });
        self.finish(body, (statement, acc), place);
    }

    fn store_pass(
        &mut self,
        body: &mut Vec<Stmt>,
        (statement, expr): (&'p Statement, &index::Expr),
        place: &Place,
    ) {
        let elems = self.elems();
        let target = statement.target.clone();
        let name = format!("{}_cols", self.builder.names.tensor(target.tensor));
        let array = self.builder.registers(&name, elems);
        body.push(Stmt::Fill { reg: array, value: 0.0 });
        let exists: Option<Pred> = place.exists.clone();
        self.pass(body, place, |row, body, column| {
            let held = row.at_column(body, expr, (place, &column));
            row.builder.unrolled(body, "elem", elems, |builder, body, elem| {
                let to = reg(array, elem.clone());
                value::compute(builder, body, expr, (&held, &elem), &to);
            });
            let point = place.row.with(row.rows.col_mode, column);
            let builder = &mut row.builder;
            let offset = builder.offset(&target, |mode| coordinates::of(builder, &point.at, mode));
            let results = (0..elems).map(|elem| reg(array, Expr::u32(elem))).collect();
            let mut then = Vec::new();
            let store = (offset, results, Width::of(elems), None);
            builder.store(&mut then, (Vec::new(), statement), store);
            within(body, exists, then);
        });
    }
}
