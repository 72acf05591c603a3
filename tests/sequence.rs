//! Programs of several statements, a launch each: which variants run, what is refused, and what the
//! emulator traps. That their values are right is checked with those of every spec.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at once")]

use common::Problem;
use mage_codegen::emulate::{self, Failure};
use mage_codegen::kernel::{HostExpr, HostStep, Module};
use mage_codegen::pipeline::Levels;
use mage_codegen::schedule::Strategy;
use mage_einsum::diagnostic::Code;
use mage_einsum::fill::Fill;

mod common;

fn chain() -> Levels {
    common::compile("\"ij,jk,kl->il\", tile = 16")
}

/// Two temporaries, both read by the last step.
fn tree() -> Levels {
    common::compile("\"ij,jk,kl,lm->im\", tile = 16, path = ((0, 1), (0, 1), (0, 1))")
}

fn problem(levels: &Levels, extents: &str) -> Problem {
    common::problem(levels, &common::extents(extents), &[Fill::Hash])
}

/// The kernels and arms that run at some extents.
fn launched(levels: &Levels, extents: &str, byte_alignment: u64) -> Vec<String> {
    let run = common::emulate(&levels.module, &problem(levels, extents), byte_alignment);
    let kernels = run.expect("a run").launches.into_iter();
    kernels.map(|launch| levels.module.kernels[launch.kernel].name.clone()).collect()
}

#[test]
fn each_step_selects_its_own_variant() {
    let levels = chain();
    let step = |number: usize, kind: &str| format!("{}_step{number}_{kind}", levels.module.name);
    assert_eq!(launched(&levels, "i=20 j=16 k=36 l=24", 16), [step(0, "wide"), step(1, "wide")]);
    assert_eq!(launched(&levels, "i=20 j=16 k=36 l=23", 16), [step(0, "wide"), step(1, "narrow")]);
    assert_eq!(launched(&levels, "i=20 j=15 k=36 l=24", 16), [step(0, "narrow"), step(1, "wide")]);
    assert_eq!(launched(&levels, "i=20 j=16 k=36 l=24", 4), [step(0, "narrow"), step(1, "narrow")]);
}

#[test]
fn an_empty_temporary_is_not_computed() {
    let levels = chain();
    let steps = |extents| launched(&levels, extents, 16).len();
    assert_eq!((steps("i=5 j=0 k=3 l=4"), steps("i=5 j=2 k=0 l=4")), (2, 1));
    assert_eq!(steps("i=0 j=2 k=3 l=4"), 0);
}

fn with_workspace_of(levels: &Levels, problem: &Problem, len: usize) -> Result<(), Failure> {
    common::emulate_in(Some(len), &levels.module, problem, 16).map(|_| ())
}

#[test]
fn a_workspace_that_is_too_short_is_refused() {
    let levels = chain();
    let problem = problem(&levels, "i=33 j=18 k=19 l=21");
    // 33 * 19 = 627 elements, rounded up to 16 bytes.
    assert_eq!(emulate::workspace_elems(&levels.module, &problem.extents), Some(628));
    assert_eq!(with_workspace_of(&levels, &problem, 628), Ok(()));
    assert_eq!(with_workspace_of(&levels, &problem, 1000), Ok(()));
    let Err(Failure::Host(refusal)) = with_workspace_of(&levels, &problem, 627) else {
        panic!("no refusal")
    };
    assert_eq!(refusal.code, Code::LengthMismatch);
    assert_eq!(refusal.message, "the workspace has 627 elements but needs 628 (2512 bytes)");
}

#[test]
fn a_tile_is_for_the_steps_that_can_take_it() {
    let levels = common::compile("\"ij,jk,k->i\", tile = 16, path = ((0, 1), (0, 1))");
    let tiled: Vec<bool> = levels
        .schedule
        .launches
        .iter()
        .map(|launch| matches!(launch.strategy, Strategy::Tiled(_)))
        .collect();
    assert_eq!(tiled, [true, false]);
}

/// What a fault planted in the tree of two temporaries ends in.
fn trap(plant: fn(&mut Module)) -> String {
    let mut levels = tree();
    let problem = problem(&levels, "i=17 j=5 k=19 l=7 m=23");
    plant(&mut levels.module);
    match common::emulate(&levels.module, &problem, 16) {
        Err(Failure::Trap(trap)) => trap.to_string(),
        other => panic!("no trap: {other:?}"),
    }
}

fn regions(module: &mut Module) -> &mut [mage_codegen::kernel::Region] {
    &mut module.workspace.as_mut().expect("a workspace").regions
}

/// The positions of the steps that launch.
fn launches(module: &Module) -> Vec<usize> {
    let steps = module.host.iter().enumerate();
    let is_launch = |step: &HostStep| match step {
        HostStep::Unless(..) | HostStep::Select(_) | HostStep::Launch { .. } => true,
        HostStep::Require { .. } | HostStep::ReturnIf(_) | HostStep::Let { .. } => false,
    };
    steps.filter(|(_, step)| is_launch(step)).map(|(position, _)| position).collect()
}

#[test]
fn faults_of_the_workspace_trap() {
    let overlapping = trap(|module| regions(module)[1].first = HostExpr::Const(0));
    assert!(overlapping.contains("is read but nothing wrote it"), "{overlapping}");
    let beyond = trap(|module| regions(module)[1].first = HostExpr::Const(1 << 40));
    assert!(beyond.contains("lies beyond the workspace"), "{beyond}");
    let left_out = trap(|module| {
        module.host.remove(launches(module)[1]);
    });
    assert!(left_out.contains("`t1[0]` is read but nothing wrote it"), "{left_out}");
    let twice = trap(|module| {
        let again = module.host[launches(module)[0]].clone();
        module.host.push(again);
    });
    assert!(twice.contains("is written twice"), "{twice}");
}

#[test]
fn the_source_says_what_the_workspace_is() {
    let source = tree().source;
    for part in [
        "//! Workspace: `round_up(i * k, 4) + round_up(k * m, 4)` elements; `t0` from `0`, `t1` from",
        "pub fn workspace_elems(extents: &Extents) -> Option<usize> {",
        "if t0_elems != 0 {",
        "(workspace.cu_deviceptr() + 4 * t0_elems.next_multiple_of(4) as u64)",
        "_step2_narrow(\n        t0: *const f32,\n        t1: *const f32,\n        out: *mut f32,",
    ] {
        assert!(source.contains(part), "no {part:?} in\n{source}");
    }
}
