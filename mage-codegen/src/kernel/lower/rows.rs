//! Lowers a row program: for each width a kernel in which the threads of a row hold its columns,
//! reduce them together, and go on with the results.

mod held;
mod combine;
mod passes;

use std::ops::RangeInclusive;

use mage_einsum::index::{Access, ModeId, Statement};

use super::builder::{Builder, Frame, host_extent, reg};
use super::coordinates;
use super::elementwise::reads;
use super::host::{grid_limit, selected};
use super::names::Names;
use super::point::{self, Point};
use super::value::{self, Held};
use super::{reduce, wide};
use crate::kernel::{
    Arm, Expr, HostExpr, HostPred, HostStep, Kernel, Module, Pred, RegId, Stmt, Ty, Width,
};
use crate::schedule::{Launch, RowWidth, Rows, Schedule, VariantKind, lies_along};

/// The kernels of all widths and variants, and the steps that select one.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    rows: &Rows,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let extent = |mode: &ModeId| host_extent(&schedule.program, names, *mode);
    let n_rows = HostExpr::product(rows.row_modes.iter().map(extent));
    let mut steps: Vec<HostStep> =
        grid_limit(schedule, launch, None, &n_rows).into_iter().collect();
    let (mut kernels, mut arms) = (Vec::new(), Vec::new());
    for (position, width) in rows.widths.iter().enumerate() {
        let blocks = n_rows.clone().ceil_div(u64::from(width.block_rows));
        let mut variants = Vec::new();
        for kind in &rows.kinds {
            let kernel = module.kernels.len() + kernels.len();
            variants.push(Arm {
                name: kind.name().to_string(),
                eligible: eligible(schedule, launch, rows, (names, module), *kind),
                steps: vec![HostStep::Launch { kernel, blocks: blocks.clone() }],
            });
            kernels.push(Row::new((schedule, launch, rows), names, *width, *kind).kernel());
        }
        let is_last = position + 1 == rows.widths.len();
        arms.push(Arm {
            name: width.name(),
            eligible: match width.most_cols().filter(|_| !is_last) {
                Some(most) => HostPred::AtMost(extent(&rows.col_mode), u64::from(most)),
                None => HostPred::All(Vec::new()),
            },
            steps: selected(variants),
        });
    }
    steps.extend(selected(arms));
    (kernels, steps)
}

fn eligible(
    schedule: &Schedule,
    launch: &Launch,
    rows: &Rows,
    (names, module): (&Names, &Module),
    kind: VariantKind,
) -> HostPred {
    match kind {
        VariantKind::Narrow => return HostPred::All(Vec::new()),
        VariantKind::Wide => {}
    }
    let statements: Vec<&Statement> =
        launch.statements().map(|at| &schedule.program.statements[at]).collect();
    let stored = statements.iter().map(|statement| &statement.target);
    let stored = stored.filter(|target| !schedule.is_in_registers(target.tensor)).cloned();
    let wide: Vec<Access> = reads(&statements).into_iter().chain(stored).collect();
    let lies_along = |access: &&Access| lies_along(access, rows.col_mode);
    let wide: Vec<(&Access, u32)> =
        wide.iter().filter(lies_along).map(|access| (access, 4)).collect();
    wide::eligible(&schedule.program, names, module, (&wide, None))
}

/// One kernel in the making.
struct Row<'p> {
    builder: Builder<'p>,
    schedule: &'p Schedule,
    launch: &'p Launch,
    rows: &'p Rows,
    width: RowWidth,
    kind: VariantKind,
    /// What is the same for all columns: what is read of the row, and results of reductions.
    scalars: Vec<Held>,
    /// The row's columns, a thread's own.
    columns: Vec<(Access, RegId)>,
}

/// Where a thread stands in its row.
#[derive(Clone)]
struct Place {
    /// The row's coordinates.
    row: Point,
    /// Whether the row exists, where a block may have more than there are.
    exists: Option<Pred>,
    /// The thread among those of the row, 32 bits.
    lane: Expr,
}

impl<'p> Row<'p> {
    fn new(
        (schedule, launch, rows): (&'p Schedule, &'p Launch, &'p Rows),
        names: &'p Names,
        width: RowWidth,
        kind: VariantKind,
    ) -> Row<'p> {
        let mut builder = Builder::new(schedule, launch, names, Ty::U64);
        for access in reads(&builder.statements.clone()) {
            if lies_along(&access, rows.col_mode) {
                builder.reads(&access, Rows::elems(kind));
            }
        }
        let (scalars, columns) = (Vec::new(), Vec::new());
        Row { builder, schedule, launch, rows, width, kind, scalars, columns }
    }

    fn kernel(mut self) -> Kernel {
        let mut body = Vec::new();
        let place = self.place(&mut body);
        for statement in self.builder.statements.clone() {
            for access in point::accesses(statement).iter().chain([&statement.target]) {
                self.builder.bind_strides(&mut body, access);
            }
        }
        self.load_scalars(&mut body, &place);
        match self.width.thread_cols {
            Some(_) => self.in_registers(&mut body, &place),
            None => self.in_passes(&mut body, &place),
        }
        let frame = self.frame();
        self.builder.finish(frame, body)
    }

    fn frame(&self) -> Frame {
        let width = (self.rows.widths.len() > 1).then(|| self.width.name());
        let kind = (self.rows.kinds.len() > 1).then(|| self.kind.name().to_string());
        let parts: Vec<String> = width.into_iter().chain(kind).collect();
        let accesses = self.kind.accesses(self.schedule.program.operand_dtype(), 4);
        let threads = self.width.row_threads;
        Frame {
            name: self.schedule.kernel_name(self.launch, parts.iter().map(String::as_str)),
            summary: format!("{threads} threads a row, for {}. {accesses}", self.width.words()),
            block_threads: self.width.block_threads(),
            min_blocks: 1,
        }
    }

    fn elems(&self) -> u32 {
        Rows::elems(self.kind)
    }

    /// Binds the thread's row and its place in it. Threads beyond the last row repeat it, so that
    /// every warp is whole where it shuffles.
    fn place(&mut self, body: &mut Vec<Stmt>) -> Place {
        let builder = &mut self.builder;
        let thread = builder.thread(body);
        let RowWidth { row_threads, block_rows, .. } = self.width;
        let modes = self.rows.row_modes.clone();
        let n_rows = coordinates::count(builder, &modes);
        let (lane, row, exists) = if block_rows == 1 {
            (thread, builder.bind(body, "row", Expr::Block.widen()), None)
        } else {
            let threads = Expr::named("ROW_THREADS", row_threads);
            let lane = builder.bind(body, "lane", thread.clone().modulo(threads.clone()));
            let first = Expr::Block.widen().times(builder.named("ROWS", block_rows));
            let row = builder.bind(body, "row", first.plus(thread.over(threads).widen()));
            let n_rows = builder.bind(body, "n_rows", n_rows);
            let last = n_rows.clone().minus(Expr::u64(1));
            let valid = builder.bind(body, "valid", row.clone().min(last));
            (lane, valid, Some(row.less(n_rows)))
        };
        let at = coordinates::take_apart(builder, body, &modes, row, "at");
        Place { row: Point::new(at, "at"), exists, lane }
    }

    /// Loads what is read of the row as a whole.
    fn load_scalars(&mut self, body: &mut Vec<Stmt>, place: &Place) {
        let all = reads(&self.builder.statements.clone());
        for access in all.into_iter().filter(|access| !access.modes.contains(&self.rows.col_mode)) {
            let held = self.load(body, &access, &mut place.row.clone(), (1, None));
            self.scalars.push(held);
        }
    }

    /// Neighbouring elements of an access in registers of their own.
    fn load(
        &mut self,
        body: &mut Vec<Stmt>,
        access: &Access,
        point: &mut Point,
        (elems, when): (u32, Option<Pred>),
    ) -> Held {
        let from = point.place(&mut self.builder, body, access);
        let name = format!("{}_value", self.builder.names.tensor(access.tensor));
        let array = self.builder.registers(&name, elems);
        body.push(Stmt::Fill { reg: array, value: 0.0 });
        let to = reg(array, Expr::u32(0));
        body.push(Stmt::Load { to, from, width: Width::of(elems), when });
        Held { access: access.clone(), array, first: Expr::u32(0), elems }
    }

    /// Computes a statement that has one value a row.
    fn row_value(&mut self, body: &mut Vec<Stmt>, statement: &'p Statement, place: &Place) {
        let name = format!("{}_row", self.builder.names.tensor(statement.target.tensor));
        let array = self.builder.registers(&name, 1);
        body.push(Stmt::Fill { reg: array, value: 0.0 });
        let to = reg(array, Expr::u32(0));
        let at = (self.scalars.as_slice(), &Expr::u32(0));
        value::compute(&mut self.builder, body, &statement.value, at, &to);
        self.keep_row_value(body, statement, array, place);
    }

    /// Remembers a value of the row; the row's first thread stores one that is read elsewhere.
    fn keep_row_value(
        &mut self,
        body: &mut Vec<Stmt>,
        statement: &'p Statement,
        array: RegId,
        place: &Place,
    ) {
        let access = statement.target.clone();
        if !self.schedule.is_in_registers(access.tensor) {
            let at = &place.row.at;
            let builder = &mut self.builder;
            let offset = builder.offset(&access, |mode| coordinates::of(builder, at, mode));
            let is_first = place.lane.clone().less(Expr::u32(1));
            let when = Pred::All([is_first].into_iter().chain(place.exists.clone()).collect());
            let store = (offset, vec![reg(array, Expr::u32(0))], Width::One, Some(when));
            builder.store(body, (Vec::new(), statement), store);
        }
        self.scalars.push(Held { access, array, first: Expr::u32(0), elems: 1 });
    }

    fn has_columns(&self, access: &Access) -> bool {
        access.modes.contains(&self.rows.col_mode)
    }

    /// The statements as the schedule goes through them.
    fn steps(&self) -> Vec<Vec<&'p Statement>> {
        let of_step = |step: RangeInclusive<usize>| self.schedule.program.statements[step].iter();
        let steps = self.rows.steps(self.launch.statements()).into_iter();
        steps.map(|step| of_step(step).collect()).collect()
    }

    /// Registers for the terms of reductions, one of each for neighbouring columns.
    fn accumulators(
        &mut self,
        body: &mut Vec<Stmt>,
        statements: &[&'p Statement],
    ) -> Vec<(&'p Statement, RegId)> {
        let elems = self.elems();
        let accumulator = |statement: &&'p Statement| {
            let name = format!("{}_row", self.builder.names.tensor(statement.target.tensor));
            let acc = self.builder.registers(&name, elems);
            body.push(Stmt::Fill { reg: acc, value: reduce::start(statement) });
            (*statement, acc)
        };
        statements.iter().map(accumulator).collect()
    }

    /// Ends reductions whose terms a thread has taken into registers: those of a thread together,
    /// then those of the row's threads, then what a mean asks for.
    fn finish(
        &mut self,
        body: &mut Vec<Stmt>,
        reductions: &[(&'p Statement, RegId)],
        place: &Place,
    ) {
        for (statement, acc) in reductions {
            let mut distance = self.elems() / 2;
            while distance > 0 {
                for at in 0..distance {
                    let [to, other] = [at, at + distance].map(|at| reg(*acc, Expr::u32(at)));
                    reduce::combine(body, statement, &to, other);
                }
                distance /= 2;
            }
        }
        self.combine(body, reductions, place);
        for (statement, acc) in reductions {
            let result = [reg(*acc, Expr::u32(0))];
            reduce::finish(&mut self.builder, body, statement, &place.row.at, &result);
            self.keep_row_value(body, statement, *acc, place);
        }
    }
}
