//! Lowers the one-output-a-thread strategy: a flat output position taken apart into coordinates,
//! and the product of the factors there.

use mage_einsum::index::{ModeId, Statement};

use super::builder::{Builder, Frame, Write, host_extent, reg};
use super::coordinates;
use super::host::grid_limit;
use super::names::Names;
use super::term::{self, Factor, Point};
use crate::kernel::{Expr, HostExpr, HostStep, Kernel, Module, Stmt, Ty, Width};
use crate::schedule::{Launch, PerOutput, Schedule};

/// The kernel and the steps that launch it.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    per_output: &PerOutput,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let program = &schedule.program;
    let statement = &program.statements[launch.statement];
    let extents = statement.target.modes.iter().map(|mode| host_extent(program, names, *mode));
    let threads = u64::from(per_output.block_threads);
    let blocks = HostExpr::product(extents).ceil_div(threads);
    let mut steps = Vec::new();
    steps.extend(grid_limit(schedule, launch, None, &blocks));
    steps.push(HostStep::Launch { kernel: module.kernels.len(), blocks });
    (vec![kernel(schedule, launch, per_output, names)], steps)
}

fn kernel(schedule: &Schedule, launch: &Launch, per_output: &PerOutput, names: &Names) -> Kernel {
    let statement = &schedule.program.statements[launch.statement];
    let modes: Vec<ModeId> = statement.roles.iter().map(|(mode, _)| *mode).collect();
    let mut builder = Builder::new(&schedule.program, names, Ty::U64, &modes);
    let mut body = Vec::new();
    let flat = Expr::Block
        .widen()
        .times(Expr::named("THREADS", per_output.block_threads).widen())
        .plus(Expr::Thread.widen());
    let output = builder.bind(&mut body, "output", flat);
    let n_outputs = coordinates::count(&builder, &statement.target.modes);
    let n_outputs = builder.bind(&mut body, "n_outputs", n_outputs);
    let then = write(&mut builder, statement, &output);
    body.push(Stmt::If { when: output.less(n_outputs), then, otherwise: Vec::new() });
    let frame = Frame {
        name: schedule.kernel_name(launch, []),
        summary: "One thread an output element, for any extents.".to_string(),
        block_threads: per_output.block_threads,
        min_blocks: 1,
    };
    builder.finish(frame, body)
}

/// Computes the element at a flat position of the output and writes it.
fn write(builder: &mut Builder<'_>, statement: &Statement, output: &Expr) -> Vec<Stmt> {
    let mut body = Vec::new();
    let target = &statement.target;
    let at = coordinates::take_apart(builder, &mut body, &target.modes, output.clone(), "at");
    let mut factors = Vec::new();
    for access in statement.factors() {
        builder.bind_strides(&mut body, access);
        factors.push(Factor { access: access.clone(), elems: 1 });
    }
    let acc = builder.registers("acc", 1);
    body.push(Stmt::Fill { reg: acc, value: 0.0 });
    let point = Point { at: &at, what: "value" };
    term::add(builder, &mut body, &factors, &point, |_| reg(acc, Expr::u32(0)));
    let from = vec![reg(acc, Expr::u32(0))];
    let write = Write { offset: output.clone(), from, width: Width::One, when: None };
    builder.write(&mut body, target, write);
    body
}
