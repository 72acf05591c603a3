//! Sums of more than 2^16 terms. A kernel that takes steps in rounds is the same for rounds of one
//! step, which every spec's `run:` lines fill; and long sums of one number show what a running sum
//! would lose.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at once")]

use common::{Agreement, Problem};
use mage_codegen::kernel::{Arm, BinOp, Expr, HostPred, HostStep, Kernel, Module, Stmt};
use mage_einsum::fill::Fill;

mod common;

/// Lets the kernels with rounds run at all extents, in rounds of one step; how many there are.
fn shorten(module: &mut Module) -> usize {
    take_always(&mut module.host);
    module.kernels.iter_mut().map(one_step_a_round).sum()
}

fn take_always(steps: &mut [HostStep]) {
    let always = |arm: &mut Arm| {
        if arm.name == "deep" {
            arm.eligible = HostPred::All(Vec::new());
        }
        take_always(&mut arm.steps);
    };
    for step in steps {
        match step {
            HostStep::Select(arms) => arms.iter_mut().for_each(always),
            HostStep::Unless(_, steps) => take_always(steps),
            HostStep::Require { .. }
            | HostStep::ReturnIf(_)
            | HostStep::Let { .. }
            | HostStep::Launch { .. } => {}
        }
    }
}

fn one_step_a_round(kernel: &mut Kernel) -> usize {
    let mut n_changed = 0;
    for stmt in &mut kernel.body {
        let Stmt::For { var, step, body, .. } = stmt else { continue };
        let Some(Stmt::Let { value: Expr::Binary(BinOp::Min, end, _), .. }) = body.first_mut()
        else {
            continue;
        };
        if kernel.vars[var.0].name == "round" {
            *step = 1;
            **end = Expr::Var(*var).plus(Expr::u32(1));
            n_changed += 1;
        }
    }
    n_changed
}

fn wrong(module: &Module, problem: &Problem) -> Option<String> {
    let least = common::workspace_lens(module, &problem.extents).pop();
    match common::emulate_in(least, module, problem, 16) {
        Ok(run) => common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal),
        Err(failure) => Some(failure.to_string()),
    }
}

#[test]
fn every_spec_in_rounds_of_one_step() {
    let mut n_kernels = 0;
    for case in common::cases() {
        let mut levels = case.levels;
        let n_deep = shorten(&mut levels.module);
        n_kernels += n_deep;
        for extents in case.runs.iter().filter(|_| n_deep > 0) {
            let problem = common::problem(&levels, extents, &[Fill::Hash]);
            assert_eq!(wrong(&levels.module, &problem), None, "{} at {extents:?}", case.name);
        }
    }
    assert!(n_kernels > 20, "only {n_kernels} kernels have rounds");
}

#[test]
fn a_round_that_is_forgotten_is_caught() {
    let mut levels = common::compile("\"ik,kj->ij\", tile = 16");
    assert_eq!(shorten(&mut levels.module), 1);
    let problem = common::problem(&levels, &common::extents("i=17 k=40 j=9"), &[Fill::Hash]);
    assert_eq!(wrong(&levels.module, &problem), None);
    for kernel in &mut levels.module.kernels {
        for stmt in kernel.body.iter_mut() {
            if let Stmt::For { var, body, .. } = stmt
                && kernel.vars[var.0].name == "round"
            {
                body.pop();
            }
        }
    }
    let found = wrong(&levels.module, &problem).expect("a fault");
    assert!(found.contains("elements differ"), "{found}");
}

/// Case J12, and the same in a tile: a running sum of so many loses the low bits.
#[test]
fn a_million_copies_of_a_number() {
    let number = 1.0 + 8196.0 * f64::from(f32::EPSILON);
    for (invocation, extents) in
        [("\"i->\"", "i=1000000"), ("\"ik,kj->ij\", tile = 16", "i=1 k=1000000 j=1")]
    {
        let levels = common::compile(invocation);
        let extents = common::extents(extents);
        let mut operands = common::problem(&levels, &extents, &[Fill::Hash]).operands;
        operands[0].fill(number);
        operands.iter_mut().skip(1).for_each(|ones| ones.fill(1.0));
        let problem = common::problem_on(&levels, &extents, operands);
        for len in common::workspace_lens(&levels.module, &problem.extents) {
            let run = common::emulate_in(Some(len), &levels.module, &problem, 16).expect("a run");
            let within =
                common::disagreement(&run.outputs, &problem.evaluations, Agreement::WithinBound);
            assert_eq!(within, None, "{invocation}, workspace of {len}");
        }
    }
}
