//! Case G21: a tile of 1, one larger than every extent and one that is no power of two are right;
//! a tile that the kernel cannot have is refused with the need and the limit.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use common::Agreement;
use mage_codegen::emulate;
use mage_codegen::kernel::Module;
use mage_codegen::pipeline::{self, Error};
use mage_einsum::diagnostic::Code;
use mage_einsum::fill::Fill;
use mage_einsum::spec;

mod common;

#[test]
fn tiles_of_any_extent_are_right() {
    let mut failures = Vec::new();
    for tile in ["1", "3", "48", "64", "(1, 1, 1)", "(2, 64, 5)", "(48, 20, 6)"] {
        for (notation, extents) in
            [("ik,kj->ij", "i=7 k=5 j=9"), ("ikc,jkc->ijc", "i=5 j=4 k=3 c=6")]
        {
            let levels = common::compile(&format!("\"{notation}\", tile = {tile}"));
            let problem = common::problem(&levels, &common::extents(extents), &[Fill::Hash]);
            let run = common::emulate(&levels.module, &problem, 16).expect(tile);
            let wrong = common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal);
            failures.extend(wrong.map(|wrong| format!("{notation}, tile {tile}: {wrong}")));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn tiles_that_do_not_fit_are_refused() {
    for (tile, need) in [("(128, 128, 64)", "limit 49152"), ("1024", "limit 1024")] {
        let spec = spec::parse_invocation(&format!("\"ik,kj->ij\", tile = {tile}")).expect(tile);
        let Err(Error::Mistakes(mistakes)) = pipeline::compile(&spec) else {
            unreachable!("tile = {tile} is accepted");
        };
        let mistake = &mistakes.0[0];
        assert_eq!(mistake.code, Code::BadTile);
        assert!(mistake.message.contains(" needs ") && mistake.message.contains(need), "{mistake}");
    }
}

/// The arm that the host takes first with aligned buffers.
fn first_arm(module: &Module, extents: &str) -> String {
    let given = common::extents(extents);
    let by_label: Vec<u64> = module.labels.iter().map(|label| given[&label.name]).collect();
    let planned = emulate::plan(module, &by_label, &vec![16; module.buffers.len()]);
    planned.expect(extents)[0].arm.clone()
}

/// The host takes the tile whose share of the busiest multiprocessor is done first: case by case
/// what was faster when all of them were timed (evidence, bench.json), and no cliff beside it.
#[test]
fn the_host_takes_the_tile_that_is_done_first() {
    let cases = [
        ("\"ik,kj->ij\"", "i=1024 k=1024 j=1024", "wide/mid"),
        ("\"ik,kj->ij\"", "i=1023 k=1025 j=1027", "narrow/small"),
        ("\"ik,kj->ij\"", "i=2048 k=2048 j=2048", "wide/large"),
        ("\"ik,kj->ij\"", "i=2052 k=2048 j=2052", "wide/mid"),
        ("\"ik,kj->ij\"", "i=4096 k=4096 j=4096", "wide/large"),
        ("\"ik,kj->ij\"", "i=4100 k=4096 j=4100", "wide/large"),
        ("\"ik,kj->ij\"", "i=16 k=4096 j=4096", "long/flat/wide"),
        ("\"ik,kj->ij\"", "i=16 k=64 j=4096", "wide/flat"),
        ("\"ik,kj->ij\"", "i=4095 k=4095 j=15", "long/tall/narrow"),
        ("\"ik,kj->ij\"", "i=65536 k=64 j=16", "wide/tall"),
        ("\"ik,kj->ij\"", "i=64 k=65536 j=64", "long/small/wide"),
        ("\"ik,kj->ij\", extents = (j = 16)", "i=65536 k=64 j=16", "wide"),
        ("\"ik,kj->ij\"", "i=4096 k=4096 j=64", "long/small/wide"),
        ("\"ik,kj->ij\", tile = 64", "i=4096 k=4096 j=4096", "wide"),
        ("\"bik,bkj->bij\"", "b=64 i=512 k=512 j=512", "wide/large"),
        ("\"ikc,jkc->ijc\"", "i=128 j=128 k=128 c=32", "wide/small"),
        ("\"ikc,jkc->ijc\"", "i=512 j=512 k=512 c=128", "wide/large"),
    ];
    for (spec, extents, wanted) in cases {
        let levels = common::compile(spec);
        assert_eq!(first_arm(&levels.module, extents), wanted, "{spec} at {extents}");
    }
}

/// Where every extent is known, so is the tile: one kernel, without a choice at the launch.
#[test]
fn known_extents_leave_no_choice_of_tiles() {
    let levels = common::compile("\"ik,kj->ij\", extents = (i = 64, j = 1024, k = 64)");
    let names: Vec<&str> =
        levels.module.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

/// What extents are known of decides what it can: one tile for few columns, and parts only where
/// they are done first.
#[test]
fn known_extents_decide_on_thin_tiles_and_parts() {
    let cases = [
        ("extents = (j = 16)", "i=65536 k=64 j=16", "wide"),
        ("extents = (j = 16)", "i=4096 k=4096 j=16", "long/wide"),
        ("extents = (i = 64, j = 64)", "i=64 k=65536 j=64", "long/wide"),
        ("extents = (i = 64, j = 64)", "i=64 k=64 j=64", "wide"),
        ("extents = (k = 70000)", "i=64 k=70000 j=64", "long/small/wide"),
        ("extents = (i = 64, j = 64, k = 4096)", "i=64 k=4096 j=64", "long/wide"),
        ("extents = (i = 512, j = 512, k = 512)", "i=512 k=512 j=512", "wide"),
    ];
    for (options, extents, wanted) in cases {
        let levels = common::compile(&format!("\"ik,kj->ij\", {options}"));
        assert_eq!(first_arm(&levels.module, extents), wanted, "{options} at {extents}");
    }
    let levels = common::compile("\"ik,kj->ij\", extents = (i = 512, j = 512, k = 512)");
    // Wide and narrow.
    assert_eq!(levels.module.kernels.len(), 2);
}

/// No part of a sum divides by a number of blocks that is known to be zero.
#[test]
fn extents_that_are_fixed_at_zero_launch_nothing() {
    let cases = [
        ("\"ij->i\", extents = (i = 0)", "i=0 j=40000"),
        ("\"ij->j\", extents = (j = 0)", "i=40000 j=0"),
        ("\"ik,kj->ij\", extents = (i = 0, j = 0)", "i=0 k=4096 j=0"),
        ("\"r[i] = min(j) X[i,j]; Y[i,j] = X[i,j] - r[i]\", extents = (i = 0)", "i=0 j=9"),
    ];
    for (invocation, extents) in cases {
        let levels = common::compile(invocation);
        let problem = common::problem(&levels, &common::extents(extents), &[Fill::Hash]);
        let run = common::emulate(&levels.module, &problem, 16).unwrap();
        assert!(run.outputs.iter().all(Vec::is_empty), "{invocation}");
    }
}
