//! Rows that no register holds: each statement, or group of reductions, goes through the row in
//! memory once more. What was computed of the columns before is computed again.

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
        for step in self.steps() {
            match step.as_slice() {
                [statement] if statement.reduced.is_empty() => {
                    if !self.has_columns(&statement.target) {
                        self.row_value(body, statement, place);
                    } else if !self.schedule.is_in_registers(statement.target.tensor) {
                        self.store_pass(body, statement, place);
                    }
                }
                reductions => self.reduce_pass(body, reductions, place),
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
        exprs: &[&index::Expr],
        (place, column): (&Place, &Expr),
    ) -> Vec<Held> {
        let elems = self.elems();
        let mut held = self.scalars.clone();
        for access in exprs.iter().flat_map(|expr| expr.accesses()) {
            if !held.iter().any(|known| known.access == *access) {
                let mut point = place.row.with(self.rows.col_mode, column.clone());
                held.push(self.load(body, access, &mut point, (elems, None)));
            }
        }
        held
    }

    fn reduce_pass(&mut self, body: &mut Vec<Stmt>, statements: &[&'p Statement], place: &Place) {
        let elems = self.elems();
        let reductions = self.accumulators(body, statements);
        let recomputed = statements.iter().map(|statement| Statement {
            value: self.recomputed(&statement.value),
            ..(*statement).clone()
        });
        let recomputed: Vec<Statement> = recomputed.collect();
        self.pass(body, place, |row, body, column| {
            let exprs: Vec<&index::Expr> = recomputed.iter().map(|each| &each.value).collect();
            let held = row.at_column(body, &exprs, (place, &column));
            row.builder.unrolled(body, "elem", elems, |builder, body, elem| {
                for (statement, (_, acc)) in recomputed.iter().zip(&reductions) {
                    let to = reg(*acc, elem.clone());
                    reduce::term(builder, body, statement, (&held, &elem), &to);
                }
            });
        });
        self.finish(body, &reductions, place);
    }

    fn store_pass(&mut self, body: &mut Vec<Stmt>, statement: &'p Statement, place: &Place) {
        let expr = &self.recomputed(&statement.value);
        let elems = self.elems();
        let target = statement.target.clone();
        let name = format!("{}_cols", self.builder.names.tensor(target.tensor));
        let array = self.builder.registers(&name, elems);
        body.push(Stmt::Fill { reg: array, value: 0.0 });
        let exists: Option<Pred> = place.exists.clone();
        self.pass(body, place, |row, body, column| {
            let held = row.at_column(body, &[expr], (place, &column));
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
