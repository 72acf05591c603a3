//! Lowers a reduction: the host picks how many threads share an output, and a kernel for each
//! choice sums their terms and combines them in a fixed order.

mod combine;
mod terms;
mod outputs;

use mage_einsum::index::{Access, ModeId, Statement};

use super::builder::{Builder, Frame, host_extent, reg};
use super::coordinates;
use super::grid::{self, Digit};
use super::host::{grid_limit, require_limit};
use super::names::Names;
use super::term::{self, Factor, Point};
use super::wide;
use crate::kernel::{
    Arm, Expr, HostExpr, HostPred, HostStep, Kernel, Module, RegId, Stmt, Ty, VarId,
};
use crate::schedule::{Lanes, Launch, Range, Reduction, Schedule, Split, VariantKind};

/// Most terms of an output element: what threads step to beyond the last term fits 64 bits.
const MOST_TERMS: u64 = 1 << 62;

/// The kernels of all splits and variants, and the steps that select one.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    reduction: &Reduction,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let host = Host { schedule, launch, reduction, names, module };
    let mut steps = Vec::new();
    if let Some(split) = reduction.splits.last() {
        steps.extend(grid_limit(schedule, launch, &host.blocks(split)));
    }
    let terms = host.product(&reduction.terms);
    steps.extend(require_limit("terms of an output element", terms, MOST_TERMS));
    let mut kernels = Vec::new();
    let mut arms = Vec::new();
    for split in &reduction.splits {
        let mut variants = Vec::new();
        for kind in &reduction.kinds {
            let kernel = module.kernels.len() + kernels.len();
            variants.push(Arm {
                name: kind.name().to_string(),
                eligible: host.eligible(*kind),
                steps: vec![HostStep::Launch { kernel, blocks: host.blocks(split) }],
            });
            kernels.push(Sum::new(&host, split, *kind).kernel());
        }
        arms.push(Arm {
            name: split.range.name().unwrap_or("all").to_string(),
            eligible: host.in_range(split.range),
            steps: selected(variants),
        });
    }
    steps.extend(selected(arms));
    (kernels, steps)
}

/// One arm needs no select.
fn selected(mut arms: Vec<Arm>) -> Vec<HostStep> {
    match arms.len() {
        1 => arms.remove(0).steps,
        _ => vec![HostStep::Select(arms)],
    }
}

/// What the host's steps are made of.
struct Host<'p> {
    schedule: &'p Schedule,
    launch: &'p Launch,
    reduction: &'p Reduction,
    names: &'p Names,
    module: &'p Module,
}

impl<'p> Host<'p> {
    fn statement(&self) -> &'p Statement {
        &self.schedule.program.statements[self.launch.statement]
    }

    fn product(&self, modes: &[ModeId]) -> HostExpr {
        let extent = |mode: &ModeId| host_extent(&self.schedule.program, self.names, *mode);
        HostExpr::product(modes.iter().map(extent))
    }

    fn blocks(&self, split: &Split) -> HostExpr {
        match self.reduction.lanes {
            Lanes::Terms => {
                self.product(&self.reduction.outer).ceil_div(u64::from(split.block_outputs))
            }
            Lanes::Outputs => {
                let digits = digits(self.reduction, split, self.names);
                grid::blocks(self.schedule, &digits, self.names)
            }
        }
    }

    fn in_range(&self, range: Range) -> HostPred {
        match range {
            Range::Short(limit) => HostPred::AtMost(self.product(&self.reduction.terms), limit),
            Range::Few(limit) => {
                HostPred::AtMost(self.product(&self.statement().target.modes), limit)
            }
            Range::Many | Range::All => HostPred::All(Vec::new()),
        }
    }

    fn eligible(&self, kind: VariantKind) -> HostPred {
        let mode = self.reduction.lane_mode;
        match kind {
            VariantKind::Narrow => return HostPred::All(Vec::new()),
            VariantKind::Wide => {}
        }
        let mut wide: Vec<&Access> = self.statement().factors();
        wide.retain(|factor| factor.modes.contains(&mode));
        if stores_wide(self.reduction, &self.statement().target) {
            wide.push(&self.statement().target);
        }
        wide::eligible(&self.schedule.program, self.names, self.module, &wide)
    }
}

/// Whether lanes have neighbouring outputs that are also neighbours in memory.
fn stores_wide(reduction: &Reduction, target: &Access) -> bool {
    match reduction.lanes {
        Lanes::Terms => false,
        Lanes::Outputs => target.modes.last() == Some(&reduction.lane_mode),
    }
}

/// The grid of lanes that walk outputs: tiles of theirs, and the other modes one by one.
fn digits(reduction: &Reduction, split: &Split, names: &Names) -> Vec<Digit> {
    let mut digits = vec![Digit::tiled(names, reduction.lane_mode, split.block_outputs)];
    digits.extend(reduction.outer.iter().rev().map(|mode| Digit::single(*mode)));
    digits
}

/// One kernel in the making.
struct Sum<'p> {
    builder: Builder<'p>,
    schedule: &'p Schedule,
    launch: &'p Launch,
    reduction: &'p Reduction,
    split: &'p Split,
    kind: VariantKind,
    factors: Vec<Factor>,
    target: Access,
    /// Partial sums of a thread: of one output, or wide along outputs one of each.
    acc: RegId,
}

impl<'p> Sum<'p> {
    fn new(host: &Host<'p>, split: &'p Split, kind: VariantKind) -> Sum<'p> {
        let statement = host.statement();
        let modes: Vec<ModeId> = statement.roles.iter().map(|(mode, _)| *mode).collect();
        let program = &host.schedule.program;
        let mut builder = Builder::new(program, host.names, Ty::U64, &modes);
        let elems = Reduction::elems(kind);
        let along = |access: &Access| access.modes.contains(&host.reduction.lane_mode);
        let factor = |access: &Access| Factor {
            elems: if along(access) { elems } else { 1 },
            access: access.clone(),
        };
        let factors: Vec<Factor> = statement.factors().into_iter().map(factor).collect();
        for factor in &factors {
            builder.reads(&factor.access, factor.elems);
        }
        let acc = builder.registers("acc", host.reduction.ahead.max(elems));
        Sum {
            builder,
            schedule: host.schedule,
            launch: host.launch,
            reduction: host.reduction,
            split,
            kind,
            factors,
            target: statement.target.clone(),
            acc,
        }
    }

    fn kernel(mut self) -> Kernel {
        let mut body = Vec::new();
        match self.reduction.lanes {
            Lanes::Terms => self.lanes_of_terms(&mut body),
            Lanes::Outputs => self.lanes_of_outputs(&mut body),
        }
        let frame = self.frame();
        self.builder.finish(frame, body)
    }

    fn frame(&self) -> Frame {
        let parts = [self.split.range.name(), self.kind_name()];
        let name = self.schedule.kernel_name(self.launch, parts.into_iter().flatten());
        let threads = self.reduction.output_threads(self.split, self.kind);
        let range = self.split.range.words();
        let accesses = self.kind.accesses(self.schedule.program.operand_dtype());
        Frame {
            name,
            summary: format!("{threads} threads an output, for {range}. {accesses}"),
            block_threads: self.split.block_threads,
            min_blocks: self.split.min_blocks,
        }
    }

    /// The variant's name, where there is another one.
    fn kind_name(&self) -> Option<&'static str> {
        (self.reduction.kinds.len() > 1).then(|| self.kind.name())
    }

    fn elems(&self) -> u32 {
        Reduction::elems(self.kind)
    }

    fn bind_factor_strides(&mut self, body: &mut Vec<Stmt>) {
        for factor in &self.factors {
            self.builder.bind_strides(body, &factor.access);
        }
    }

    /// Sums the terms `first`, `first + step`, ... into the partial sums: as long as all of a
    /// thread's terms in flight exist without a test for each, then one by one.
    fn sum(&mut self, body: &mut Vec<Stmt>, first: &Expr, step: u32, outer: &[(ModeId, Expr)]) {
        let ahead = self.reduction.ahead;
        let n_terms = coordinates::count(&self.builder, &self.reduction.terms);
        let n_terms = self.builder.bind(body, "n_terms", n_terms);
        let chunk = self.builder.named("CHUNK", step * ahead);
        let whole = n_terms.clone().over(chunk.clone()).times(chunk);
        let whole = self.builder.bind(body, "whole", whole);
        body.push(Stmt::Fill { reg: self.acc, value: 0.0 });

        let [term, rest] = ["term", "rest"].map(|name| self.builder.var(name, Ty::U64, false));
        let in_flight = self.builder.var("ahead", Ty::U32, false);
        let step_terms = self.builder.named("STEP", step);
        let at = Expr::Var(term).plus(Expr::Var(in_flight).widen().times(step_terms));
        let mut turn = Vec::new();
        self.term(&mut turn, at, Expr::Var(in_flight), (outer, ["at", "value"]));
        let turn = vec![Stmt::For {
            var: in_flight,
            begin: Expr::u32(0),
            end: Expr::u32(ahead),
            step: 1,
            unroll: true,
            body: turn,
        }];
        body.push(serial(term, first.clone(), whole.clone(), step * ahead, turn));
        let mut turn = Vec::new();
        self.term(&mut turn, Expr::Var(rest), Expr::u32(0), (outer, ["rest", "rest"]));
        body.push(serial(rest, whole.plus(first.clone()), n_terms, step, turn));
    }

    /// Adds the term at a position; a narrow one to the partial sum that is its own in flight.
    /// Names of coordinates and of values end as told.
    fn term(
        &mut self,
        body: &mut Vec<Stmt>,
        position: Expr,
        in_flight: Expr,
        (outer, [coordinate, value]): (&[(ModeId, Expr)], [&'static str; 2]),
    ) {
        let builder = &mut self.builder;
        let position = match self.reduction.terms.as_slice() {
            [] | [_] => position,
            _ => builder.bind(body, "position", position),
        };
        let mut at =
            coordinates::take_apart(builder, body, &self.reduction.terms, position, coordinate);
        at.extend(outer.iter().cloned());
        let point = Point { at: &at, what: value };
        term::add(builder, body, &self.factors, &point, |elem| match self.kind {
            VariantKind::Wide => reg(self.acc, elem),
            VariantKind::Narrow => reg(self.acc, in_flight.clone()),
        });
    }
}

fn serial(var: VarId, begin: Expr, end: Expr, step: u32, body: Vec<Stmt>) -> Stmt {
    Stmt::For { var, begin, end, step, unroll: false, body }
}
