//! A row in registers: loaded once, then reduced and computed with as often as statements ask.

use mage_einsum::index::{Access, Statement};

use super::{Place, Row};
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::coordinates;
use crate::kernel::lower::elementwise::reads;
use crate::kernel::lower::reduce;
use crate::kernel::lower::value::{self, Held};
use crate::kernel::{Expr, Pred, RegId, Stmt, Width};

impl<'p> Row<'p> {
    /// Loads the row and goes through the statements.
    pub fn in_registers(&mut self, body: &mut Vec<Stmt>, place: &Place) {
        self.load_columns(body, place);
        for step in self.steps() {
            match step.as_slice() {
                [statement] if statement.reduced.is_empty() => {
                    if self.has_columns(&statement.target) {
                        self.compute_columns(body, statement, place);
                    } else {
                        self.row_value(body, statement, place);
                    }
                }
                reductions => self.reduce_columns(body, reductions, place),
            }
        }
    }

    /// How often a thread takes neighbouring columns.
    fn n_groups(&self) -> u32 {
        self.width.thread_cols.unwrap_or(0) / self.elems()
    }

    /// The first column of a thread's group.
    fn column(&mut self, body: &mut Vec<Stmt>, place: &Place, group: &Expr) -> Expr {
        let (threads, elems) = (self.width.row_threads, self.elems());
        let at = place.lane.clone().plus(group.clone().times(Expr::u32(threads)));
        let col = self.builder.names.mode(self.rows.col_mode).to_string();
        self.builder.bind(body, &format!("{col}_at"), at.times(Expr::u32(elems)).widen())
    }

    /// Whether a thread's columns exist; nothing where all do.
    fn within(&self, column: &Expr) -> Option<Pred> {
        let extent = self.builder.extent(self.rows.col_mode);
        let covered = self.width.most_cols().map(u64::from);
        let is_exact = extent.as_const().is_some_and(|extent| Some(extent) == covered);
        (!is_exact).then(|| column.clone().less(extent))
    }

    /// Loads every access that differs from row to row. All loads come before the first use.
    fn load_columns(&mut self, body: &mut Vec<Stmt>, place: &Place) {
        let of_rows = reads(&self.builder.statements.clone()).into_iter();
        let of_rows: Vec<Access> =
            of_rows.filter(|access| self.has_columns(access) && access.modes.len() > 1).collect();
        let (elems, groups) = (self.elems(), self.n_groups());
        for access in of_rows {
            let name = format!("{}_cols", self.builder.names.tensor(access.tensor));
            let array = self.builder.registers(&name, groups * elems);
            body.push(Stmt::Fill { reg: array, value: 0.0 });
            self.groups(body, |row, body, group| {
                let column = row.column(body, place, &group);
                let when = row.within(&column);
                let mut point = place.row.with(row.rows.col_mode, column);
                let from = point.place(&mut row.builder, body, &access);
                let to = reg(array, group.times(Expr::u32(elems)));
                body.push(Stmt::Load { to, from, width: Width::of(elems), when });
            });
            self.columns.push((access, array));
        }
    }

    /// Something for each of a thread's groups of columns.
    fn groups(
        &mut self,
        body: &mut Vec<Stmt>,
        mut fill: impl FnMut(&mut Self, &mut Vec<Stmt>, Expr),
    ) {
        let groups = self.n_groups();
        if groups == 1 {
            fill(self, body, Expr::u32(0));
            return;
        }
        let var = self.builder.var("group", crate::kernel::Ty::U32, false);
        let mut turn = Vec::new();
        fill(self, &mut turn, Expr::Var(var));
        body.push(Stmt::unrolled(var, groups, turn));
    }

    /// What statements read at a group: what the row holds, and columns that all rows share.
    fn at_group(
        &mut self,
        body: &mut Vec<Stmt>,
        statements: &[&Statement],
        (place, column): (&Place, &Expr),
        group: &Expr,
    ) -> Vec<Held> {
        let elems = self.elems();
        let first = group.clone().times(Expr::u32(elems));
        let of_row = |(access, array): &(Access, RegId)| Held {
            access: access.clone(),
            array: *array,
            first: first.clone(),
            elems,
        };
        let mut held = self.scalars.clone();
        held.extend(self.columns.iter().map(of_row));
        for access in statements.iter().flat_map(|statement| statement.factors()) {
            if !held.iter().any(|known| known.access == *access) {
                let mut point = place.row.with(self.rows.col_mode, column.clone());
                held.push(self.load(body, access, &mut point, (elems, None)));
            }
        }
        held
    }

    fn reduce_columns(
        &mut self,
        body: &mut Vec<Stmt>,
        statements: &[&'p Statement],
        place: &Place,
    ) {
        let elems = self.elems();
        let reductions = self.accumulators(body, statements);
        self.groups(body, |row, body, group| {
            let column = row.column(body, place, &group);
            let when = row.within(&column);
            let mut then = Vec::new();
            let held = row.at_group(&mut then, statements, (place, &column), &group);
            row.builder.unrolled(&mut then, "elem", elems, |builder, body, elem| {
                for (statement, acc) in &reductions {
                    let to = reg(*acc, elem.clone());
                    reduce::term(builder, body, statement, (&held, &elem), &to);
                }
            });
            within(body, when, then);
        });
        self.finish(body, &reductions, place);
    }

    fn compute_columns(&mut self, body: &mut Vec<Stmt>, statement: &'p Statement, place: &Place) {
        let (elems, groups) = (self.elems(), self.n_groups());
        let target = statement.target.clone();
        let is_kept = self.schedule.is_in_registers(target.tensor);
        let name = format!("{}_cols", self.builder.names.tensor(target.tensor));
        let array = self.builder.registers(&name, if is_kept { groups * elems } else { elems });
        body.push(Stmt::Fill { reg: array, value: 0.0 });
        self.groups(body, |row, body, group| {
            let column = row.column(body, place, &group);
            let mut when: Vec<Pred> = row.within(&column).into_iter().collect();
            let mut then = Vec::new();
            let held = row.at_group(&mut then, &[statement], (place, &column), &group);
            let first = if is_kept { group.times(Expr::u32(elems)) } else { Expr::u32(0) };
            row.builder.unrolled(&mut then, "elem", elems, |builder, body, elem| {
                let to = reg(array, first.clone().plus(elem.clone()));
                value::compute(builder, body, &statement.value, (&held, &elem), &to);
            });
            if !is_kept {
                when.extend(place.exists.clone());
                let point = place.row.with(row.rows.col_mode, column.clone());
                let builder = &mut row.builder;
                let offset =
                    builder.offset(&target, |mode| coordinates::of(builder, &point.at, mode));
                let results = (0..elems).map(|elem| reg(array, Expr::u32(elem))).collect();
                let store = (offset, results, Width::of(elems), None);
                builder.store(&mut then, (Vec::new(), statement), store);
            }
            within(body, (!when.is_empty()).then_some(Pred::All(when)), then);
        });
        if is_kept {
            self.columns.push((target, array));
        }
    }
}

/// What is done where a predicate holds, or everywhere.
pub fn within(body: &mut Vec<Stmt>, when: Option<Pred>, then: Vec<Stmt>) {
    match when {
        None => body.extend(then),
        Some(when) => body.push(Stmt::If { when, then, otherwise: Vec::new() }),
    }
}
