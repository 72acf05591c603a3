//! Lowers the one-output-a-thread strategy, which takes every statement: a flat output position
//! taken apart into coordinates, and there the value, or its reduction, one term after another.

use mage_einsum::index::{Access, ModeId, Statement};

use super::builder::{Builder, Frame, Write, host_extent, reg};
use super::coordinates;
use super::host::grid_limit;
use super::names::Names;
use super::point::{self, Point};
use super::reduce;
use super::value::Held;
use crate::kernel::{Expr, HostExpr, HostStep, Kernel, Module, RegId, Stmt, Ty, Width};
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
    let mut builder = Builder::new(schedule, launch, names, Ty::U64);
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
    for access in point::accesses(statement) {
        builder.bind_strides(&mut body, &access);
    }
    builder.bind_epilogue_strides(&mut body);
    let acc = builder.registers("acc", 1);
    let start = reduce::start(statement);
    body.push(Stmt::Fill { reg: acc, value: start });
    let point = Point::new(at.clone(), "at");
    terms(builder, &mut body, statement, &statement.reduced, (point, acc));
    let from = vec![reg(acc, Expr::u32(0))];
    let write = Write { offset: output.clone(), at, from, width: Width::One, when: None };
    builder.write(&mut body, write);
    body
}

/// One loop for each of `modes`, the term within.
fn terms(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    statement: &Statement,
    modes: &[ModeId],
    (mut point, acc): (Point, RegId),
) {
    let Some((mode, inner)) = modes.split_first() else {
        let held: Vec<Held> = statement
            .factors()
            .into_iter()
            .map(|access| load(builder, body, access, &mut point))
            .collect();
        reduce::term(builder, body, statement, (&held, &Expr::u32(0)), &reg(acc, Expr::u32(0)));
        return;
    };
    let stem = builder.names.mode(*mode).to_string();
    let bounds = match statement.segment {
        None => [builder.number(0), builder.extent(*mode)],
        Some(segment) => {
            let row = coordinates::of(builder, &point.at, segment.row);
            [("begin", 0), ("end", 1)].map(|(what, beyond)| {
                let name = format!("{stem}_{what}");
                point::pointer(builder, body, segment.pointers, (row.clone(), beyond), &name)
            })
        }
    };
    let var = builder.var(&format!("{stem}_at"), builder.coordinate_ty(), false);
    let mut turn = Vec::new();
    terms(builder, &mut turn, statement, inner, (point.with(*mode, Expr::Var(var)), acc));
    body.push(Stmt::serial(var, bounds, 1, turn));
}

/// The element of an access at a point, in a register of its own.
fn load(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    access: &Access,
    point: &mut Point,
) -> Held {
    let from = point.place(builder, body, access);
    let name = format!("{}_value", builder.names.tensor(access.tensor));
    let array = builder.registers(&name, 1);
    body.push(Stmt::Fill { reg: array, value: 0.0 });
    body.push(Stmt::Load { to: reg(array, Expr::u32(0)), from, width: Width::One, when: None });
    Held { access: access.clone(), array, first: Expr::u32(0), elems: 1 }
}
