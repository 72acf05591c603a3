//! How long Mage itself takes: what a build pays for a macro, what a test pays for the oracle and
//! the emulator. `cargo bench` prints the times; CONTRIBUTING.md keeps figures and the targets.

#![allow(clippy::expect_used, reason = "a benchmark may stop at once")]

use divan::Bencher;
use mage_codegen::emulate::{self, Arguments, Input, Output};
use mage_codegen::expand;
use mage_codegen::pipeline::{self, Levels};
use mage_codegen::schedule::{self, Schedule};
use mage_einsum::fill::{Fill, fill};
use mage_einsum::{index, oracle, spec};
use ndarray::{ArrayD, ArrayViewD};

fn main() {
    divan::main();
}

/// Four operands, so that a path is searched; once without extents and once with all of them.
const FOUR_OPERANDS: [&str; 2] = [
    "\"ij,jk,kl,lm->im\", tile = 64",
    "\"ij,jk,kl,lm->im\", tile = 64, extents = (i = 512, j = 64, k = 256, l = 32, m = 512)",
];

const MATMUL: &str = "\"ik,kj->ij\", tile = 64";
const TRIANGLE: &str = "\"ikc,jkc->ijc\", tile = 32";

fn planned(invocation: &str) -> Schedule {
    let spec = spec::parse_invocation(invocation).expect(invocation);
    let program = index::lower(&spec.notation, &spec.options).expect(invocation);
    schedule::choose(&program, &spec.options).expect(invocation)
}

/// Levels 1 to 3.
#[divan::bench(args = FOUR_OPERANDS)]
fn parse_and_plan(invocation: &str) -> Schedule {
    planned(invocation)
}

/// All that the macro does.
#[divan::bench(args = [MATMUL, TRIANGLE, FOUR_OPERANDS[0]])]
fn expand(invocation: &str) -> usize {
    expand::expand(invocation).expect(invocation).into_iter().count()
}

fn compiled(invocation: &str) -> Levels {
    let spec = spec::parse_invocation(invocation).expect(invocation);
    pipeline::compile(&spec).expect(invocation)
}

/// Two square matrices of whole numbers.
fn operands(side: usize) -> [Vec<f64>; 2] {
    [0, 1].map(|seed| fill(Fill::Hash, seed, side * side))
}

#[divan::bench(args = [128], sample_count = 10)]
fn emulate_matmul(bencher: Bencher<'_, '_>, side: usize) {
    let module = compiled(MATMUL).module;
    let operands = operands(side);
    let extents = vec![side as u64; module.labels.len()];
    bencher.bench_local(|| {
        let inputs = operands.each_ref().map(|data| Input { data, view: None, byte_alignment: 16 });
        let arguments = Arguments {
            extents: &extents,
            inputs: &inputs,
            indices: &[],
            outputs: &[Output { len: side * side, before: &[], byte_alignment: 16 }],
            workspace_len: None,
            workspace_byte_alignment: 16,
        };
        emulate::run(&module, &arguments).expect("the kernel is right").outputs
    });
}

#[divan::bench(args = [512], sample_count = 10)]
fn oracle_matmul(bencher: Bencher<'_, '_>, side: usize) {
    let program = compiled(MATMUL).program;
    let arrays = operands(side).map(|data| ArrayD::from_shape_vec(vec![side; 2], data));
    let arrays = arrays.map(|array| array.expect("the shape is the data's"));
    let views: Vec<ArrayViewD<'_, f64>> = arrays.iter().map(|array| array.view()).collect();
    bencher.bench_local(|| oracle::evaluate(&program, &views).expect("the shapes fit"));
}
