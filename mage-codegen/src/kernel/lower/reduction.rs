//! Lowers a reduction: the host picks how many threads share an output, and a kernel for each
//! choice sums their terms and combines them in a fixed order.

mod combine;
mod terms;
mod outputs;

use mage_einsum::index::{Access, ModeId, Statement};

use super::builder::{Builder, Frame, host_extent, reg};
use super::coordinates;
use super::grid::{self, Digit};
use super::host::{grid_limit, require_limit, selected};
use super::names::Names;
use super::part::Part;
use super::parts::Parts;
use super::point::Point;
use super::reduce;
use super::term::Factor;
use super::total::{self, Partial};
use super::value::Held;
use super::wide;
use crate::kernel::{Arm, Expr, HostExpr, HostPred, HostStep, Kernel, Module, RegId, Stmt, Ty};
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
        steps.extend(grid_limit(schedule, launch, None, &host.blocks(split)));
    }
    let terms = host.product(&reduction.terms);
    steps.extend(require_limit("terms of an output element", terms, MOST_TERMS));
    let mut kernels = Vec::new();
    let mut arms = Vec::new();
    for split in &reduction.splits {
        let partial = match split.range {
            Range::Long(_) => Partial::of(schedule, launch, names, module),
            Range::Short(_) | Range::Few(_) | Range::Many | Range::All => None,
        };
        let partial = partial.as_ref();
        let mut variants = Vec::new();
        for kind in &reduction.kinds {
            let kernel = module.kernels.len() + kernels.len();
            variants.push(Arm {
                name: kind.name().to_string(),
                eligible: host.eligible(*kind, partial),
                steps: vec![HostStep::Launch {
                    kernel,
                    blocks: match partial {
                        None => host.blocks(split),
                        Some(partial) => partial.parts.all_blocks(),
                    },
                }],
            });
            kernels.push(Sum::new(&host, split, *kind, partial).kernel());
        }
        let mut taken = selected(variants);
        if let Some(partial) = partial {
            taken.splice(0..0, partial.parts.named());
            taken.push(total::step(module.kernels.len() + kernels.len(), partial));
            kernels.push(total::kernel(schedule, launch, names, partial));
        }
        arms.push(Arm {
            name: split.range.name().unwrap_or("all").to_string(),
            eligible: host.in_range(split.range, partial),
            steps: taken,
        });
    }
    steps.extend(selected(arms));
    (kernels, steps)
}

/// The parts of a reduction, where its schedule has any.
pub fn parts(schedule: &Schedule, reduction: &Reduction, names: &Names) -> Option<Parts> {
    let is_long = |split: &&Split| matches!(split.range, Range::Long(_));
    let split = reduction.splits.iter().find(is_long)?;
    let n_terms = product(schedule, names, &reduction.terms);
    let n_blocks = blocks(schedule, reduction, split, names);
    Some(Parts::new(reduction.parts()?, n_terms, n_blocks))
}

fn product(schedule: &Schedule, names: &Names, modes: &[ModeId]) -> HostExpr {
    let extent = |mode: &ModeId| host_extent(&schedule.program, names, *mode);
    HostExpr::product(modes.iter().map(extent))
}

/// The blocks of a split without parts.
fn blocks(schedule: &Schedule, reduction: &Reduction, split: &Split, names: &Names) -> HostExpr {
    match reduction.lanes {
        Lanes::Terms => {
            product(schedule, names, &reduction.outer).ceil_div(u64::from(split.block_outputs))
        }
        Lanes::Outputs => grid::blocks(schedule, &digits(reduction, split), names),
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
        product(self.schedule, self.names, modes)
    }

    fn blocks(&self, split: &Split) -> HostExpr {
        blocks(self.schedule, self.reduction, split, self.names)
    }

    fn in_range(&self, range: Range, partial: Option<&Partial>) -> HostPred {
        match range {
            Range::Long(_) => match partial {
                Some(partial) => partial.parts.eligible(self.module),
                None => HostPred::All(Vec::new()),
            },
            Range::Short(limit) => HostPred::AtMost(self.product(&self.reduction.terms), limit),
            Range::Few(limit) => {
                HostPred::AtMost(self.product(&self.statement().target.modes), limit)
            }
            Range::Many | Range::All => HostPred::All(Vec::new()),
        }
    }

    fn eligible(&self, kind: VariantKind, partial: Option<&Partial>) -> HostPred {
        let mode = self.reduction.lane_mode;
        match kind {
            VariantKind::Narrow => return HostPred::All(Vec::new()),
            VariantKind::Wide => {}
        }
        let mut wide: Vec<&Access> = self.statement().factors();
        wide.retain(|factor| factor.modes.contains(&mode));
        if stores_wide(self.reduction, &self.statement().target) {
            wide.extend(wide::beside(self.schedule, self.launch));
            wide.push(self.schedule.target(self.launch));
        }
        let wide: Vec<(&Access, u32)> = wide.into_iter().map(|access| (access, 4)).collect();
        wide::eligible(&self.schedule.program, self.names, self.module, (&wide, partial))
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
fn digits(reduction: &Reduction, split: &Split) -> Vec<Digit> {
    let mut digits = vec![Digit::tiled(reduction.lane_mode, split.block_outputs)];
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
    statement: &'p Statement,
    factors: Vec<Factor>,
    target: Access,
    /// Where a part's sums go; none where a block sums all terms.
    partial: Option<&'p Partial>,
    /// Partial sums of a thread: of one output, or wide along outputs one of each.
    acc: RegId,
}

impl<'p> Sum<'p> {
    fn new(
        host: &Host<'p>,
        split: &'p Split,
        kind: VariantKind,
        partial: Option<&'p Partial>,
    ) -> Sum<'p> {
        let statement = host.statement();
        let mut builder = Builder::new(host.schedule, host.launch, host.names, Ty::U64);
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
            target: host.schedule.target(host.launch).clone(),
            statement,
            partial,
            acc,
        }
    }

    fn kernel(mut self) -> Kernel {
        let mut body = Vec::new();
        let n_terms = coordinates::count(&self.builder, &self.reduction.terms);
        let target = (&self.target, self.partial);
        let part = Part::bind(&mut self.builder, &mut body, target, n_terms);
        match self.reduction.lanes {
            Lanes::Terms => self.lanes_of_terms(&mut body, &part),
            Lanes::Outputs => self.lanes_of_outputs(&mut body, &part),
        }
        let frame = self.frame();
        self.builder.finish(frame, body)
    }

    fn frame(&self) -> Frame {
        let parts = [self.split.range.name(), self.kind_name()];
        let name = self.schedule.kernel_name(self.launch, parts.into_iter().flatten());
        let threads = self.reduction.output_threads(self.split, self.kind);
        let range = self.split.range.words();
        let accesses = self.kind.accesses(self.schedule.program.operand_dtype(), 4);
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

    /// Sums the part's terms `first`, `first + step`, ... into the partial sums: as long as all of a
    /// thread's terms in flight exist without a test for each, then one by one.
    fn sum(
        &mut self,
        body: &mut Vec<Stmt>,
        part: &Part,
        (first, step): (&Expr, u32),
        outer: &[(ModeId, Expr)],
    ) {
        let ahead = self.reduction.ahead;
        let begin = part.begin.clone();
        let end = self.builder.bind(body, "n_terms", part.end.clone());
        let chunk = self.builder.named("CHUNK", step * ahead);
        let n_terms = end.clone().minus(begin.clone());
        let whole = begin.clone().plus(n_terms.over(chunk.clone()).times(chunk));
        let whole = self.builder.bind(body, "whole", whole);
        body.push(Stmt::Fill { reg: self.acc, value: reduce::start(self.statement) });

        let [term, rest] = ["term", "rest"].map(|name| self.builder.var(name, Ty::U64, false));
        let in_flight = self.builder.var("ahead", Ty::U32, false);
        let step_terms = self.builder.named("STEP", step);
        let at = Expr::Var(term).plus(Expr::Var(in_flight).widen().times(step_terms));
        let mut turn = Vec::new();
        self.term(&mut turn, at, Expr::Var(in_flight), (outer, ["at", "value"]));
        let turn = vec![Stmt::unrolled(in_flight, ahead, turn)];
        let terms = [begin.plus(first.clone()), whole.clone()];
        body.push(Stmt::serial(term, terms, step * ahead, turn));
        let mut turn = Vec::new();
        self.term(&mut turn, Expr::Var(rest), Expr::u32(0), (outer, ["rest", "rest"]));
        body.push(Stmt::serial(rest, [whole.plus(first.clone()), end], step, turn));
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
        let point = Point::new(at, value);
        let held: Vec<Held> =
            self.factors.iter().map(|factor| factor.load(builder, body, &point)).collect();
        let n_terms = self.factors.iter().map(|factor| factor.elems).max().unwrap_or(1);
        let (statement, kind, acc) = (self.statement, self.kind, self.acc);
        builder.unrolled(body, "elem", n_terms, |builder, body, elem| {
            let to = match kind {
                VariantKind::Wide => reg(acc, elem.clone()),
                VariantKind::Narrow => reg(acc, in_flight.clone()),
            };
            reduce::term(builder, body, statement, (&held, &elem), &to);
        });
    }
}
