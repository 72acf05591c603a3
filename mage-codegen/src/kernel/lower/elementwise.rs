//! Lowers an elementwise launch: a thread loads all that its points need, then computes and stores
//! each. Statements that follow within the launch find what was computed in registers.

use mage_einsum::index::{Access, ModeId, Statement, TensorId};

use super::builder::{Builder, Frame, host_extent, reg};
use super::coordinates;
use super::host::{grid_limit, require_limit, selected};
use super::names::Names;
use super::point::Point;
use super::value::{self, Held};
use super::wide;
use crate::kernel::{
    Arm, Expr, HostExpr, HostPred, HostStep, Kernel, Module, Pred, RegId, Stmt, Ty, Width,
};
use crate::schedule::{Elementwise, Launch, Schedule, VariantKind, lies_along};

/// Threads are counted in 32 bits where their number is taken apart.
const MOST_THREADS: u64 = (1 << 32) - 1;

/// The kernels of all variants, and the steps that select one.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    elementwise: &Elementwise,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let host = Host { schedule, launch, elementwise, names };
    let mut steps = Vec::new();
    let (mut kernels, mut arms) = (Vec::new(), Vec::new());
    for kind in &elementwise.kinds {
        let blocks = host.blocks(*kind);
        if kind == &elementwise.kinds[elementwise.kinds.len() - 1] {
            steps.extend(grid_limit(schedule, launch, None, &blocks));
            let threads =
                HostExpr::product([blocks.clone(), HostExpr::Const(host.block_threads())]);
            let is_flat = elementwise.row_mode.is_none();
            let limit = require_limit("threads in the grid", threads, MOST_THREADS);
            steps.extend(limit.filter(|_| !is_flat));
        }
        arms.push(Arm {
            name: kind.name().to_string(),
            eligible: host.eligible(module, *kind),
            steps: vec![HostStep::Launch { kernel: module.kernels.len() + kernels.len(), blocks }],
        });
        kernels.push(Points::new(&host, *kind).kernel());
    }
    steps.extend(selected(arms));
    (kernels, steps)
}

struct Host<'p> {
    schedule: &'p Schedule,
    launch: &'p Launch,
    elementwise: &'p Elementwise,
    names: &'p Names,
}

impl<'p> Host<'p> {
    fn extent(&self, mode: ModeId) -> HostExpr {
        host_extent(&self.schedule.program, self.names, mode)
    }

    fn block_threads(&self) -> u64 {
        u64::from(self.elementwise.block_threads)
    }

    /// Positions along the lanes' mode that threads take one each.
    fn lanes(&self, kind: VariantKind) -> HostExpr {
        self.extent(self.elementwise.lane_mode).ceil_div(u64::from(Elementwise::elems(kind)))
    }

    fn blocks(&self, kind: VariantKind) -> HostExpr {
        let rows = u64::from(self.elementwise.thread_rows);
        let Some(row) = self.elementwise.row_mode else {
            return self.lanes(kind).ceil_div(rows * self.block_threads());
        };
        let outer = self.elementwise.outer.iter().map(|mode| self.extent(*mode));
        let groups = self.extent(row).ceil_div(rows);
        let threads = outer.chain([groups, self.lanes(kind)]);
        HostExpr::product(threads).ceil_div(self.block_threads())
    }

    fn statements(&self) -> Vec<&'p Statement> {
        let statements = &self.schedule.program.statements;
        self.launch.statements().map(|at| &statements[at]).collect()
    }

    /// What the statements read from memory.
    fn reads(&self) -> Vec<Access> {
        reads(&self.statements())
    }

    fn eligible(&self, module: &Module, kind: VariantKind) -> HostPred {
        match kind {
            VariantKind::Narrow => return HostPred::All(Vec::new()),
            VariantKind::Wide => {}
        }
        let mut wide = self.reads();
        wide.retain(|access| lies_along(access, self.elementwise.lane_mode));
        wide.extend(self.schedule.stored(self.launch).into_iter().cloned());
        let wide: Vec<(&Access, u32)> = wide.iter().map(|access| (access, 4)).collect();
        wide::eligible(&self.schedule.program, self.names, module, (&wide, None))
    }
}

/// The accesses of some statements to what none of them writes.
pub fn reads(statements: &[&Statement]) -> Vec<Access> {
    let written: Vec<TensorId> =
        statements.iter().map(|statement| statement.target.tensor).collect();
    let mut reads: Vec<Access> = Vec::new();
    for access in statements.iter().flat_map(|statement| statement.factors()) {
        if !written.contains(&access.tensor) && !reads.contains(access) {
            reads.push(access.clone());
        }
    }
    reads
}

/// One kernel in the making.
struct Points<'p> {
    builder: Builder<'p>,
    schedule: &'p Schedule,
    launch: &'p Launch,
    elementwise: &'p Elementwise,
    kind: VariantKind,
    reads: Vec<Access>,
}

/// A thread's points: the coordinates that they share, and how the others follow.
struct Place {
    shared: Vec<(ModeId, Expr)>,
    /// The first position along the unrolled mode, and the distance to the next.
    first: Expr,
    step: Expr,
    /// One past the last position that exists, and the last one where an access may begin.
    end: Expr,
    last: Expr,
}

impl<'p> Points<'p> {
    fn new(host: &Host<'p>, kind: VariantKind) -> Points<'p> {
        let Host { schedule, launch, elementwise, names } = *host;
        let mut builder = Builder::new(schedule, launch, names, Ty::U64);
        let reads = host.reads();
        let elems = Elementwise::elems(kind);
        for access in reads.iter().filter(|access| lies_along(access, elementwise.lane_mode)) {
            builder.reads(access, elems);
        }
        Points { builder, schedule, launch, elementwise, kind, reads }
    }

    fn elems(&self) -> u32 {
        Elementwise::elems(self.kind)
    }

    fn kernel(mut self) -> Kernel {
        let mut body = Vec::new();
        match self.elementwise.row_mode {
            Some(row) => self.rows(&mut body, row),
            None => {
                let place = self.along_lanes(&mut body);
                self.points(&mut body, &place);
            }
        }
        let accesses = self.kind.accesses(self.schedule.program.operand_dtype(), 4);
        let several = self.elementwise.kinds.len() > 1;
        let frame = Frame {
            name: self.schedule.kernel_name(self.launch, several.then(|| self.kind.name())),
            summary: format!("{} points a thread. {accesses}", self.elementwise.thread_rows),
            block_threads: self.elementwise.block_threads,
            min_blocks: 1,
        };
        self.builder.finish(frame, body)
    }

    /// Takes the thread's number apart into a place along the lanes' mode, a few rows, and the
    /// outer modes; 32 bits hold all of it.
    fn rows(&mut self, body: &mut Vec<Stmt>, row: ModeId) {
        let Elementwise { lane_mode, thread_rows, block_threads, .. } = *self.elementwise;
        let builder = &mut self.builder;
        let threads = Expr::named("THREADS", block_threads);
        let flat = builder.bind(body, "flat", Expr::Block.times(threads).plus(Expr::Thread));
        let stems = [lane_mode, row].map(|mode| builder.names.mode(mode).to_string());
        let elems = Elementwise::elems(self.kind);
        let n_lanes = over(narrow(builder, lane_mode), elems);
        let n_lanes = builder.bind(body, &format!("{}_lanes", stems[0]), n_lanes);
        let lane = builder.bind(body, "lane", flat.clone().modulo(n_lanes.clone()));
        let mut rest = builder.bind(body, "rest", flat.over(n_lanes));
        let n_groups = over(narrow(builder, row), thread_rows);
        let n_groups = builder.bind(body, &format!("{}_groups", stems[1]), n_groups);
        let is_inner = !self.elementwise.outer.is_empty();
        let group = if is_inner { rest.clone().modulo(n_groups.clone()) } else { rest.clone() };
        let group = builder.bind(body, "group", group);
        if is_inner {
            rest = builder.bind(body, "above", rest.over(n_groups.clone()));
        }
        let mut shared = Vec::new();
        let mut bound = (group.clone(), n_groups);
        for (position, mode) in self.elementwise.outer.iter().enumerate().rev() {
            let stem = builder.names.mode(*mode).to_string();
            let extent = narrow(builder, *mode);
            let here =
                if position == 0 { rest.clone() } else { rest.clone().modulo(extent.clone()) };
            let here = builder.bind(body, &format!("{stem}_flat"), here);
            let at = builder.bind(body, &format!("{stem}_at"), here.clone().widen());
            shared.push((*mode, at));
            bound = (here, extent.clone());
            if position > 0 {
                rest = builder.bind(body, &format!("above_{stem}"), rest.over(extent));
            }
        }
        let lane = lane.widen().times(Expr::u64(elems.into()));
        let lane = builder.bind(body, &format!("{}_at", stems[0]), lane);
        shared.push((lane_mode, lane));
        let mut then = Vec::new();
        let first = group.widen().times(Expr::u64(thread_rows.into()));
        let first = builder.bind(&mut then, &format!("{}_first", stems[1]), first);
        let end = builder.extent(row);
        let last =
            builder.bind(&mut then, &format!("{}_last", stems[1]), end.clone().minus(Expr::u64(1)));
        let place = Place { shared, first, step: Expr::u64(1), end, last };
        self.points(&mut then, &place);
        // Threads beyond the last have the outermost digit beyond its extent.
        body.push(Stmt::If { when: bound.0.less(bound.1), then, otherwise: Vec::new() });
    }

    /// Positions along the one mode, a block's width apart.
    fn along_lanes(&mut self, body: &mut Vec<Stmt>) -> Place {
        let Elementwise { lane_mode, thread_rows, block_threads, .. } = *self.elementwise;
        let builder = &mut self.builder;
        let elems = Elementwise::elems(self.kind);
        let stem = builder.names.mode(lane_mode).to_string();
        let width = builder.named("WIDTH", block_threads * elems);
        let block = Expr::Block.widen().times(width.clone()).times(Expr::u64(thread_rows.into()));
        let thread = Expr::Thread.widen().times(Expr::u64(elems.into()));
        let first = builder.bind(body, &format!("{stem}_first"), block.plus(thread));
        let end = builder.extent(lane_mode);
        let last = end.clone().minus(Expr::u64(elems.into()));
        let last = builder.bind(body, &format!("{stem}_last"), last);
        Place { shared: Vec::new(), first, step: width, end, last }
    }

    /// Loads what the points need, those beyond the last from the last; then computes and stores
    /// those that exist.
    fn points(&mut self, body: &mut Vec<Stmt>, place: &Place) {
        let rows = self.elementwise.thread_rows;
        let mode = self.elementwise.unrolled_mode();
        let stem = self.builder.names.mode(mode).to_string();
        let stored = self.schedule.stored(self.launch);
        for access in self.reads.clone().iter().chain(stored) {
            self.builder.bind_strides(body, access);
        }
        let varies = |access: &Access| access.modes.contains(&mode);
        let arrays: Vec<RegId> = self.arrays(body, varies);
        let shared = Point::new(place.shared.clone(), "at");
        let elems = self.elems();
        for (access, array) in self.reads.clone().iter().zip(&arrays) {
            if !varies(access) {
                self.load(body, access, shared.clone(), (*array, &Expr::u32(0)));
            }
        }
        let varying: Vec<(Access, RegId)> =
            self.reads.iter().cloned().zip(arrays.iter().copied()).collect();
        let row = self.builder.var("row", Ty::U32, false);
        let mut turn = Vec::new();
        let at = place.first.clone().plus(Expr::Var(row).widen().times(place.step.clone()));
        let valid =
            self.builder.bind(&mut turn, &format!("{stem}_valid"), at.min(place.last.clone()));
        let point = shared.with(mode, valid);
        for (access, array) in varying.iter().filter(|(access, _)| varies(access)) {
            let n = self.elems_of(access);
            self.load(
                &mut turn,
                access,
                point.clone(),
                (*array, &Expr::Var(row).times(Expr::u32(n))),
            );
        }
        if !turn.is_empty() && varying.iter().any(|(access, _)| varies(access)) {
            body.push(Stmt::unrolled(row, rows, turn));
        }
        let held = |row: &Expr| -> Vec<Held> {
            let of = |(access, array): &(Access, RegId)| {
                let n = if access.modes.contains(&self.elementwise.lane_mode) { elems } else { 1 };
                let first =
                    if varies(access) { row.clone().times(Expr::u32(n)) } else { Expr::u32(0) };
                Held { access: access.clone(), array: *array, first, elems: n }
            };
            varying.iter().map(of).collect()
        };
        let row = self.builder.var("store_row", Ty::U32, false);
        let held = held(&Expr::Var(row));
        let mut turn = Vec::new();
        let at = place.first.clone().plus(Expr::Var(row).widen().times(place.step.clone()));
        let at = self.builder.bind(&mut turn, &format!("{stem}_out"), at);
        let when = at.clone().less(place.end.clone());
        let point = shared.with(mode, at);
        self.compute(&mut turn, held, (&point, when));
        body.push(Stmt::unrolled(row, rows, turn));
    }

    /// Registers for the elements of every access.
    fn arrays(&mut self, body: &mut Vec<Stmt>, varies: impl Fn(&Access) -> bool) -> Vec<RegId> {
        let mut arrays = Vec::new();
        for access in self.reads.clone() {
            let n_rows = if varies(&access) { self.elementwise.thread_rows } else { 1 };
            let name = format!("{}_value", self.builder.names.tensor(access.tensor));
            let array = self.builder.registers(&name, n_rows * self.elems_of(&access));
            body.push(Stmt::Fill { reg: array, value: 0.0 });
            arrays.push(array);
        }
        arrays
    }

    /// Elements of an access at neighbouring points: one where it does not vary along the lanes.
    fn elems_of(&self, access: &Access) -> u32 {
        if access.modes.contains(&self.elementwise.lane_mode) { self.elems() } else { 1 }
    }

    fn load(
        &mut self,
        body: &mut Vec<Stmt>,
        access: &Access,
        mut point: Point,
        (array, first): (RegId, &Expr),
    ) {
        let (lane_mode, elems) = (self.elementwise.lane_mode, self.elems_of(access));
        let builder = &mut self.builder;
        if elems == 1 || lies_along(access, lane_mode) {
            let from = point.place(builder, body, access);
            let to = reg(array, first.clone());
            body.push(Stmt::Load { to, from, width: Width::of(elems), when: None });
            return;
        }
        // Neighbouring points are none in memory.
        let base = coordinates::of(builder, &point.at, lane_mode);
        builder.unrolled(body, "elem", elems, |builder, body, elem| {
            let mut moved = point.with(lane_mode, base.plus(elem.clone().widen()));
            let from = moved.place(builder, body, access);
            let to = reg(array, first.clone().plus(elem));
            body.push(Stmt::Load { to, from, width: Width::One, when: None });
        });
    }

    /// Computes the statements at neighbouring points, one after the other, and stores what does not
    /// stay in registers.
    fn compute(
        &mut self,
        body: &mut Vec<Stmt>,
        mut held: Vec<Held>,
        (point, when): (&Point, Pred),
    ) {
        let elems = self.elems();
        let statements = self.builder.statements.clone();
        for statement in &statements {
            let name = format!("{}_result", self.builder.names.tensor(statement.target.tensor));
            let array = self.builder.registers(&name, elems);
            body.push(Stmt::Fill { reg: array, value: 0.0 });
            let known = held.clone();
            self.builder.unrolled(body, "elem", elems, |builder, body, elem| {
                let to = reg(array, elem.clone());
                value::compute(builder, body, &statement.value, (&known, &elem), &to);
            });
            let access = statement.target.clone();
            if !self.schedule.is_in_registers(access.tensor) {
                let builder = &mut self.builder;
                let offset =
                    builder.offset(&access, |mode| coordinates::of(builder, &point.at, mode));
                let results = (0..elems).map(|elem| reg(array, Expr::u32(elem))).collect();
                let store = (offset, results, Width::of(elems), Some(when.clone()));
                builder.store(body, (Vec::new(), statement), store);
            }
            held.push(Held { access, array, first: Expr::u32(0), elems });
        }
    }
}

/// The extent of a mode in 32 bits, which hold every extent.
fn narrow(builder: &Builder<'_>, mode: ModeId) -> Expr {
    let extent = builder.extent(mode);
    match extent.as_const().and_then(|extent| u32::try_from(extent).ok()) {
        Some(extent) => Expr::u32(extent),
        None => extent.narrow(),
    }
}

/// The quotient by a number, rounded up without a sum that could pass 32 bits.
fn over(value: Expr, divisor: u32) -> Expr {
    match value.as_const().and_then(|value| u32::try_from(value).ok()) {
        Some(value) => Expr::u32(value.div_ceil(divisor)),
        None if divisor == 1 => value,
        None => {
            let one = Expr::u32(1);
            value.minus(one.clone()).over(Expr::u32(divisor)).plus(one)
        }
    }
}
