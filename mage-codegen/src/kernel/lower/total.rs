//! The second kernel of a sum in parts: adds the partial sums of each output in a fixed order. A
//! lane has an output, and the warps of its block take the parts in turn.

use mage_einsum::index::{ModeId, TensorId};

use super::builder::{Builder, Frame, Write, reg};
use super::coordinates;
use super::host::elems;
use super::names::Names;
use super::parts::{self, Parts};
use crate::device::WARP_THREADS;
use crate::kernel::{
    BufferId, Expr, HostExpr, HostStep, Kernel, Module, Place, Pred, Reg, SharedId, Space, Stmt,
    Ty, Value, Width,
};
use crate::schedule::{Launch, Schedule};

/// Warps of a block: few enough for some parts of many outputs, many enough for many of one.
const WARPS: u32 = 8;

/// Parts that a thread has in flight, so that hundreds of them take few turns.
const AHEAD: u32 = 8;

/// The partial sums of a launch.
#[derive(Clone)]
pub struct Partial {
    /// What is summed in parts.
    pub target: TensorId,
    /// What the host computes for the parts.
    pub parts: Parts,
    /// The buffer of the partial sums: for each part one of every output, as they lie in the output.
    pub sums: BufferId,
    /// How many outputs there are.
    pub n_outputs: HostExpr,
}

impl Partial {
    /// Those of a launch, where its schedule has parts.
    pub fn of(
        schedule: &Schedule,
        launch: &Launch,
        names: &Names,
        module: &Module,
    ) -> Option<Partial> {
        let target = schedule.target(launch).tensor;
        Some(Partial {
            target,
            parts: parts::of(schedule, launch, names)?,
            sums: parts::buffer(module, names, target),
            n_outputs: elems(module, BufferId(target.0)),
        })
    }
}

/// The launch of the kernel at this position.
pub fn step(kernel: usize, partial: &Partial) -> HostStep {
    HostStep::Launch { kernel, blocks: partial.n_outputs.clone().ceil_div(u64::from(WARP_THREADS)) }
}

/// The kernel.
pub fn kernel(schedule: &Schedule, launch: &Launch, names: &Names, partial: &Partial) -> Kernel {
    let mut builder = Builder::new(schedule, launch, names, Ty::U64);
    let n_parts = builder.param("n_parts", Ty::U64, &partial.parts.n_parts);
    let n_outputs = builder.param("n_outputs", Ty::U64, &partial.n_outputs);
    let sums = builder.shared("sums", WARPS * WARP_THREADS);
    let mut total = Total { builder, from: partial.sums, n_parts, n_outputs, sums };
    let mut body = Vec::new();
    let lane = total.sum_of_warps(&mut body);
    body.push(Stmt::Barrier);
    total.store(&mut body, &lane);
    let frame = Frame {
        name: schedule.kernel_name(launch, ["long", "total"]),
        summary: format!("{WARPS} warps for {WARP_THREADS} outputs, whose parts they add up."),
        block_threads: WARPS * WARP_THREADS,
        min_blocks: 1,
    };
    total.builder.finish(frame, body)
}

/// The kernel in the making.
struct Total<'p> {
    builder: Builder<'p>,
    from: BufferId,
    n_parts: Expr,
    n_outputs: Expr,
    /// The sums of a block's warps, a row each.
    sums: SharedId,
}

/// A thread's place.
struct Lane {
    thread: Expr,
    output: Expr,
}

impl Total<'_> {
    /// Each warp adds up its parts in ascending order; lanes beyond the last output repeat it.
    fn sum_of_warps(&mut self, body: &mut Vec<Stmt>) -> Lane {
        let thread = self.builder.thread(body);
        let [lane, warp] = [thread.clone().modulo(lanes()), thread.clone().over(lanes())];
        let lane = self.builder.bind(body, "lane", lane);
        let warp = self.builder.bind(body, "warp", warp);
        let first = Expr::Block.widen().times(self.builder.named("OUTPUTS", WARP_THREADS));
        let output = self.builder.bind(body, "output", first.plus(lane.clone().widen()));
        let valid = match self.n_outputs.as_const() {
            Some(1) => Expr::u64(0),
            Some(_) | None => output.clone().min(self.n_outputs.clone().minus(Expr::u64(1))),
        };
        let valid = self.builder.bind(body, "valid", valid);
        let sum = self.register(body, "sum");
        self.add_parts(body, &warp, &valid, &sum);
        body.push(Stmt::Store {
            to: Place { space: Space::Shared(self.sums), offset: warp.times(lanes()).plus(lane) },
            from: vec![sum],
            width: Width::One,
            when: None,
        });
        Lane { thread, output }
    }

    fn add_parts(&mut self, body: &mut Vec<Stmt>, warp: &Expr, output: &Expr, sum: &Reg) {
        let values = self.builder.registers("value", AHEAD);
        let turn = self.builder.var("turn", Ty::U64, false);
        let (from, n_parts, n_outputs) = (self.from, self.n_parts.clone(), self.n_outputs.clone());
        let mut inner = vec![Stmt::Fill { reg: values, value: 0.0 }];
        self.builder.unrolled(&mut inner, "ahead", AHEAD, |builder, inner, ahead| {
            let part = Expr::Var(turn).plus(ahead.clone().widen().times(Expr::u64(WARPS.into())));
            let part = builder.bind(inner, "part", part);
            let value = reg(values, ahead);
            inner.push(Stmt::Load {
                to: value.clone(),
                from: Place {
                    space: Space::Global(from),
                    offset: part.clone().times(n_outputs).plus(output.clone()),
                },
                width: Width::One,
                when: Some(part.less(n_parts)),
            });
            inner.push(add(sum, value));
        });
        let parts = [warp.clone().widen(), self.n_parts.clone()];
        body.push(Stmt::serial(turn, parts, WARPS * AHEAD, inner));
    }

    /// The first warp adds up the sums of all warps, the first one's first.
    fn store(&mut self, body: &mut Vec<Stmt>, lane: &Lane) {
        let mut then = Vec::new();
        let at = self.coordinates(&mut then, &lane.output);
        let [total, of_warp] = ["total", "of_warp"].map(|name| self.register(&mut then, name));
        let thread = lane.thread.clone();
        let space = Space::Shared(self.sums);
        self.builder.unrolled(&mut then, "from_warp", WARPS, |_, turn, warp| {
            turn.push(Stmt::Load {
                to: of_warp.clone(),
                from: Place { space, offset: warp.times(lanes()).plus(thread) },
                width: Width::One,
                when: None,
            });
            turn.push(add(&total, of_warp));
        });
        let offset = lane.output.clone();
        let write = Write { offset, at, from: vec![total], width: Width::One, when: None };
        self.builder.write(&mut then, write);
        let first_warp = lane.thread.clone().less(lanes());
        let exists = lane.output.clone().less(self.n_outputs.clone());
        let when = Pred::All(vec![first_warp, exists]);
        body.push(Stmt::If { when, then, otherwise: Vec::new() });
    }

    /// The coordinates of an output, where a statement goes on with it that asks for them.
    fn coordinates(&mut self, body: &mut Vec<Stmt>, output: &Expr) -> Vec<(ModeId, Expr)> {
        if self.builder.statements.len() == 1 {
            return Vec::new();
        }
        self.builder.bind_epilogue_strides(body);
        let modes = self.builder.statements[0].target.modes.clone();
        coordinates::take_apart(&mut self.builder, body, &modes, output.clone(), "at")
    }

    /// One register, zero at first.
    fn register(&mut self, body: &mut Vec<Stmt>, name: &str) -> Reg {
        let array = self.builder.registers(name, 1);
        body.push(Stmt::Fill { reg: array, value: 0.0 });
        reg(array, Expr::u32(0))
    }
}

fn lanes() -> Expr {
    Expr::named("LANES", WARP_THREADS)
}

fn add(to: &Reg, value: Reg) -> Stmt {
    Stmt::Compute { to: to.clone(), value: Value::Add(to.clone(), value) }
}
