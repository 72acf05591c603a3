//! Case G21: a tile of 1, one larger than every extent and one that is no power of two are right;
//! a tile that the kernel cannot have is refused with the need and the limit.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use common::Agreement;
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
            let wrong = common::disagreement(&run.output, &problem.evaluation, Agreement::Equal);
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
