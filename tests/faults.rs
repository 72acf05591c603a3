//! Faults planted in a right kernel, and what catches each: a trap of the emulator, or the
//! comparison with the oracle. A suite that misses one of them would miss it in Mage, too.

use common::{Agreement, Problem};
use mage_codegen::emulate::Failure;
use mage_codegen::kernel::{BufferId, Expr, IndexUse, Module, Space};
use mage_codegen::pipeline::Levels;
use mage_einsum::dtype::Dtype;
use mage_einsum::fill::{self, Fill};

mod common;
mod plant;

/// What catches a fault.
#[derive(Debug, Clone, Copy)]
enum By {
    /// A trap whose text has this.
    Trap(&'static str),
    /// The output differs from the oracle's.
    Comparison,
}

/// A fault's name, how it is planted (with the number of places changed), and what catches it at
/// each of [`EXTENTS`].
type Fault = (&'static str, fn(&mut Module) -> usize, [By; 2]);

const A: Space = Space::Global(BufferId(0));
const B: Space = Space::Global(BufferId(1));
const OUT: Space = Space::Global(BufferId(2));

const COMPARISON: [By; 2] = [By::Comparison; 2];
const NEVER_WRITTEN: [By; 2] = [By::Trap("is never written"); 2];
const OUT_OF_BOUNDS: [By; 2] = [By::Trap("is out of bounds"); 2];
const RACE: [By; 2] = [By::Trap("race: `tiles["); 2];
const WRITTEN_TWICE: [By; 2] = [By::Trap("is written twice"); 2];
const NOTHING_WROTE_IT: [By; 2] = [By::Trap("is read but nothing wrote it"); 2];

/// Where coordinates are swapped a wide access is misaligned; a narrow one goes astray in a way
/// that depends on the extents.
const fn astray(narrow: By) -> [By; 2] {
    [By::Trap("is misaligned"), narrow]
}

#[rustfmt::skip]
const FAULTS: [Fault; 14] = [
    ("no barrier before the mainloop", |module| plant::drop_barrier(module, 0), RACE),
    ("no barrier in the mainloop", |module| plant::drop_barrier(module, 1), RACE),
    ("the stage is not flipped", plant::drop_assignments, RACE),
    ("rows of a stage overlap", |module| plant::constant(module, "A_ROW", 28), RACE),
    ("coordinates of A are swapped", |module| plant::swap(module, A), astray(By::Comparison)),
    ("coordinates of B are swapped", |module| plant::swap(module, B), astray(By::Trap("is out of bounds"))),
    ("coordinates of the output are swapped", |module| plant::swap(module, OUT), astray(By::Trap("is written twice"))),
    ("loads of A have no predicate", |module| plant::unmask(module, A), OUT_OF_BOUNDS),
    ("loads of B have no predicate", |module| plant::unmask(module, B), OUT_OF_BOUNDS),
    ("stores have no column predicate", |module| plant::unmask(module, OUT), WRITTEN_TWICE),
    ("the last step is left out", plant::drop_last_step, COMPARISON),
    ("`=` for `+=`", plant::overwrite, COMPARISON),
    ("registers are not zeroed", plant::drop_fills, [By::Trap("register"); 2]),
    ("the grid is a block short", |module| plant::blocks(module, 5), NEVER_WRITTEN),
];

/// Three blocks by two and three steps, where no tile is full in any direction. The first can run
/// wide, the second cannot.
const EXTENTS: [&str; 2] = ["i=68 k=36 j=44", "i=67 k=37 j=43"];

fn matmul() -> (Levels, [Problem; 2]) {
    let levels = common::compile("\"ik,kj->ij\", tile = 32");
    let problems =
        EXTENTS.map(|text| common::problem(&levels, &common::extents(text), &[Fill::Hash]));
    (levels, problems)
}

/// What catches the faults of `module`, as text; nothing where it is right.
fn caught(module: &Module, problem: &Problem) -> Option<String> {
    match common::emulate(module, problem, 16) {
        Ok(run) => common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal)
            .map(|wrong| format!("comparison: {wrong}")),
        Err(Failure::Trap(trap)) => Some(format!("trap: {trap}")),
        Err(Failure::Host(failure)) => Some(format!("host: {failure}")),
    }
}

fn is_by(found: &str, by: By) -> bool {
    match by {
        By::Trap(text) => found.starts_with("trap: ") && found.contains(text),
        By::Comparison => found.starts_with("comparison: "),
    }
}

#[test]
fn the_kernel_without_faults_is_right() {
    let (levels, problems) = matmul();
    for problem in &problems {
        assert_eq!(caught(&levels.module, problem), None);
    }
}

#[test]
fn every_fault_is_caught() {
    let (levels, problems) = matmul();
    let mut missed = Vec::new();
    for (name, plant, by) in FAULTS {
        let mut module = levels.module.clone();
        assert!(plant(&mut module) > 0, "{name}: nothing to change");
        for ((problem, extents), by) in problems.iter().zip(EXTENTS).zip(by) {
            let found = caught(&module, problem).unwrap_or_else(|| "nothing".to_owned());
            if !is_by(&found, by) {
                missed.push(format!("{name} at {extents}: caught by {found}, not {by:?}"));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Faults of sums of few long rows, wide and narrow.
#[rustfmt::skip]
const REDUCTION_FAULTS: [Fault; 7] = [
    ("no barrier before the partial sums are added", |module| plant::drop_barrier(module, 0), [By::Trap("race: `partials["); 2]),
    ("a shuffle is torn", plant::tear_warps, [By::Trap("the shuffle is reached by"); 2]),
    ("a shuffle is left out", |module| plant::drop_shuffle(module, 16), COMPARISON),
    ("the terms that are left over are left out", plant::drop_rest, COMPARISON),
    ("a step is too long", |module| plant::constant(module, "STEP", 2048), OUT_OF_BOUNDS),
    ("registers are not zeroed", plant::drop_fills, [By::Trap("register"); 2]),
    ("coordinates of A are swapped", |module| plant::swap(module, A), OUT_OF_BOUNDS),
];

/// Faults of the same sums in parts: nine of them, the last one with fewer terms.
#[rustfmt::skip]
const PART_FAULTS: [Fault; 8] = [
    ("a part is left out", |module| first_pass(module, 8 * 3), NOTHING_WROTE_IT),
    ("a part is left out of both passes", |module| first_pass(module, 8 * 3) + plant::param(module, "n_parts", 8), COMPARISON),
    ("parts begin too late", |module| plant::rebind(module, "begin", |begin| begin.plus(Expr::u64(4))), COMPARISON),
    ("parts overlap", |module| plant::rebind(module, "end", |end| plant::sides(end)[1].clone()), COMPARISON),
    ("the last part is as long as the others", |module| plant::rebind(module, "end", |end| plant::sides(end)[0].clone()), OUT_OF_BOUNDS),
    ("a part has too few blocks", |module| plant::param(module, "n_blocks", 2), [By::Trap("is below zero"); 2]),
    ("the second pass reads too few parts", |module| plant::param(module, "n_parts", 8), COMPARISON),
    ("the second pass reads too many parts", |module| plant::param(module, "n_parts", 10), OUT_OF_BOUNDS),
];

/// Faults of a contraction in eight parts, of one tile.
#[rustfmt::skip]
const STEP_FAULTS: [Fault; 6] = [
    ("a part is left out", |module| first_pass(module, 7), NOTHING_WROTE_IT),
    ("a part is left out of both passes", |module| first_pass(module, 7) + plant::param(module, "n_parts", 7), COMPARISON),
    ("parts begin too late", |module| plant::rebind(module, "begin", |begin| begin.plus(Expr::u32(1))), COMPARISON),
    ("parts overlap", |module| plant::rebind(module, "end", |end| plant::sides(end)[1].clone()), COMPARISON),
    ("the second pass reads too few parts", |module| plant::param(module, "n_parts", 7), COMPARISON),
    ("the second pass reads too many parts", |module| plant::param(module, "n_parts", 9), OUT_OF_BOUNDS),
];

/// Faults of rows of graphs in parts.
#[rustfmt::skip]
const LONG_ROW_FAULTS: [Fault; 11] = [
    ("a part has no block", |module| parts_pass(module, 15), NOTHING_WROTE_IT),
    ("parts that are listed are shorter", |module| list(module, 255), WRITTEN_TWICE),
    ("parts that are listed are longer", |module| list(module, 512), NOTHING_WROTE_IT),
    ("entries are read one number late", |module| plant::rebind(module, "entry", |entry| entry.plus(Expr::u64(1))), [By::Trap("is below zero"); 2]),
    ("entries overlap", |module| plant::constant(module, "ENTRY", 2), WRITTEN_TWICE),
    ("a row has a part too few", |module| plant::rebind(module, "parts_end", |end| end.minus(Expr::u64(1))), COMPARISON),
    ("a row has a part too many", |module| plant::rebind(module, "parts_end", |end| end.plus(Expr::u64(1))), NOTHING_WROTE_IT),
    ("the parts are those of another row", |module| plant::rebind(module, "first_part", |first| first.plus(Expr::u64(1))), NOTHING_WROTE_IT),
    ("a part's result is in the place of another", |module| plant::constant(module, "PART", 512), WRITTEN_TWICE),
    ("an edge that is left beside whole steps is left out", |module| plant::rebind(module, "own_rest", |rest| rest.plus(Expr::u64(1))), COMPARISON),
    ("no barrier before the results of warps are combined", |module| plant::drop_barrier(module, 0), [By::Trap("race: `partials["); 2]),
];

/// Faults of a row program whose last two reductions share an exchange.
#[rustfmt::skip]
const ROW_FAULTS: [Fault; 6] = [
    ("no barrier before the mean", |module| plant::drop_barrier(module, 0), [By::Trap("race: `partials["); 2]),
    ("no barrier before what is reduced together", |module| plant::drop_barrier(module, 1), [By::Trap("race: `partials_2["); 2]),
    ("the first of both results is that of the second", |module| plant::reread(module, "partials_2", "partials_3"), COMPARISON),
    ("the second of both results is that of the first", |module| plant::reread(module, "partials_3", "partials_2"), COMPARISON),
    ("a shuffle is left out", |module| plant::drop_shuffle(module, 16), COMPARISON),
    ("registers are not zeroed", plant::drop_fills, [By::Trap("register"); 2]),
];

/// Faults of what feeds the tensor cores with halves.
#[rustfmt::skip]
const HALF_FAULTS: [Fault; 6] = [
    ("no barrier in the mainloop", |module| plant::drop_barrier(module, 0), RACE),
    ("rows of a stage overlap", |module| plant::constant(module, "A_ROW", 24), RACE),
    ("chunks of A are read where they were", |module| plant::straighten(module, "a_cell"), COMPARISON),
    ("matrices are exchanged that should not be", plant::transpose_matrices, COMPARISON),
    ("one fragment is taken for all", plant::one_fragment, COMPARISON),
    ("the last step is left out", plant::drop_last_step, COMPARISON),
];

/// The same of copies: f32 are copied one by one where they are not aligned.
#[rustfmt::skip]
const TF32_FAULTS: [Fault; 7] = [
    ("the stage does not move on", plant::drop_assignments, [By::Trap("a copy that nobody waited for"); 2]),
    ("chunks meet in one place", plant::collapse_swizzle, [By::Trap("a copy that nobody waited for"); 2]),
    ("nobody waits for copies", plant::drop_awaits, [UNAWAITED; 2]),
    ("one group is not waited for", plant::await_less, [UNAWAITED; 2]),
    ("copies have no groups", plant::drop_commits, [UNAWAITED; 2]),
    ("no barrier in the mainloop", |module| plant::drop_barrier(module, 0), RACE),
    ("chunks of B are read where they were", |module| plant::straighten(module, "b_cell"), COMPARISON),
];

const UNAWAITED: By = By::Trap("a copy that nobody waited for wrote it");

#[test]
fn every_fault_of_the_tensor_cores_is_caught() {
    let extents = ["i=72 k=136 j=40", "i=67 k=137 j=43"];
    every_fault_is_caught_in("\"ik,kj->ij\", dtype = bf16, tile = 32", extents, &HALF_FAULTS);
    let extents = ["i=68 k=68 j=44", "i=67 k=69 j=43"];
    let tf32 = "\"ik,kj->ij\", precision = tf32, tile = 32";
    every_fault_is_caught_in(tf32, extents, &TF32_FAULTS);
}

#[test]
fn a_factor_that_is_not_rounded_is_caught() {
    let levels = common::compile("\"ik,kj->ij\", precision = tf32, tile = 32");
    let extents = common::extents("i=32 k=32 j=32");
    let problem = common::problem(&levels, &extents, &[Fill::Normal]);
    let mut module = levels.module;
    assert!(plant::drop_rounding(&mut module) > 0, "nothing to change");
    let found = caught(&module, &problem).unwrap_or_default();
    assert!(found.contains("which is not rounded to TF32, in an mma"), "{found}");
}

/// The tensor cores cut off where f32 arithmetic rounds, which long sums of positive numbers show:
/// the products of a stage are summed apart.
#[test]
fn long_sums_of_positive_halves_keep_the_bound() {
    for options in ["dtype = bf16, out = f32", "dtype = bf16", "dtype = f16"] {
        let levels = common::compile(&format!("\"ik,kj->ij\", {options}, tile = 16"));
        let extents = common::extents("i=16 k=16384 j=16");
        let problem = common::problem(&levels, &extents, &[Fill::Positive]);
        let wrong = |module: &Module| {
            let run = common::emulate(module, &problem, 16).unwrap_or_else(|why| panic!("{why}"));
            common::disagreement(&run.outputs, &problem.evaluations, Agreement::WithinBound)
        };
        assert_eq!(wrong(&levels.module), None, "{options}");
        let mut module = levels.module.clone();
        assert!(plant::sum_running(&mut module) > 0, "nothing to change");
        assert!(wrong(&module).is_some(), "{options}: running sums keep the bound");
    }
}

#[test]
fn every_fault_of_a_sum_in_parts_is_caught() {
    every_fault_is_caught_in("\"ij->i\"", ["i=3 j=33000", "i=3 j=33003"], &PART_FAULTS);
}

#[test]
fn every_fault_of_a_contraction_in_parts_is_caught() {
    let extents = ["i=5 k=1000 j=8", "i=5 k=1001 j=7"];
    every_fault_is_caught_in("\"ik,kj->ij\"", extents, &STEP_FAULTS);
}

#[test]
fn every_fault_of_long_rows_is_caught() {
    let neighbours = "\"Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]\"";
    let extents = ["i=4 f=36 e=9000 s=20", "i=4 f=33 e=9000 s=20"];
    every_fault_is_caught_in(neighbours, extents, &LONG_ROW_FAULTS);
}

/// So many blocks in the kernel of parts.
fn parts_pass(module: &mut Module, n_blocks: u64) -> usize {
    ["_parts_wide", "_parts_narrow"].map(|one| plant::blocks_of(module, one, n_blocks)).iter().sum()
}

/// Lists parts of another length.
fn list(module: &mut Module, elems: u32) -> usize {
    let lists = module.buffers.iter_mut().filter_map(|buffer| match &mut buffer.index {
        Some(IndexUse::Parts { part_elems, .. }) => Some(part_elems),
        Some(IndexUse::Below(_) | IndexUse::Pointers { .. }) | None => None,
    });
    lists.map(|part_elems| *part_elems = elems).count()
}

#[test]
fn every_fault_of_a_row_program_is_caught() {
    let layer_norm = "\"m[i] = mean(j) X[i,j]; v[i] = mean(j) (X[i,j] - m[i])^2; \
        Y[i,j] = (X[i,j] - m[i]) * rsqrt(v[i] + 1e-5)\"";
    every_fault_is_caught_in(layer_norm, ["i=3 j=768", "i=3 j=769"], &ROW_FAULTS);
}

/// Rows whose deviations are as small as the roundoff of their mean, with nothing under the root to
/// hide what is lost: the correction matters, and the bound still shows whether it is there.
#[test]
fn a_variance_without_its_correction_is_caught() {
    let levels = common::compile(
        "\"m[i] = mean(j) X[i,j]; v[i] = mean(j) (X[i,j] - m[i])^2; \
         Y[i,j] = (X[i,j] - m[i]) * rsqrt(v[i])\"",
    );
    let mut module = levels.module.clone();
    assert!(plant::drop_difference(&mut module, "v_row") > 0, "nothing to change");
    for n_cols in [257_usize, 768, 4096, 16389, 65540] {
        let noise = fill::fill_as(Dtype::F32, Fill::Normal, 7, 4 * n_cols);
        // Half a unit in the last place from the next number that the mean can be.
        let rows = [(1e6 + 0.031, 0.1), (1e4 + 0.0005, 1e-3), (1.5 + 6e-8, 1e-7), (1e6, 1.0)];
        let row_of = |place: usize| rows[place / n_cols];
        let at = |(place, noise): (usize, &f64)| noise.mul_add(row_of(place).1, row_of(place).0);
        let data: Vec<f64> = noise.iter().enumerate().map(at).collect();
        let extents = common::extents(&format!("i=4 j={n_cols}"));
        let problem = common::problem_on(&levels, &extents, vec![data]);
        let wrong = |module: &Module| {
            let run = common::emulate(module, &problem, 16).unwrap_or_else(|why| panic!("{why}"));
            common::disagreement(&run.outputs, &problem.evaluations, Agreement::WithinBound)
        };
        assert_eq!(wrong(&levels.module), None, "{n_cols} columns");
        assert!(wrong(&module).is_some(), "{n_cols} columns: nothing is wrong without");
    }
}

/// Of a constant row with a million columns, what rounding leaves of the variance may be below
/// zero; in shorter ones the sums of equal squares are exact. The bound at zero, where the slope of the root has no limit, would take anything.
#[test]
fn a_variance_without_its_guard_is_caught() {
    let levels = common::compile(
        "\"m[i] = mean(j) X[i,j]; v[i] = mean(j) (X[i,j] - m[i])^2; Y[i] = sqrt(v[i])\"",
    );
    let rows = [10_000.84, 10_001.21].into_iter().flat_map(|value| vec![value; 1_000_003]);
    let extents = common::extents("i=2 j=1000003");
    let problem = common::problem_on(&levels, &extents, vec![rows.collect()]);
    let n_nan = |module: &Module| {
        let run = common::emulate(module, &problem, 16).unwrap_or_else(|why| panic!("{why}"));
        run.outputs[0].iter().filter(|value| value.is_nan()).count()
    };
    assert_eq!(n_nan(&levels.module), 0);
    let mut module = levels.module.clone();
    assert!(plant::drop_max(&mut module) > 0, "nothing to change");
    assert!(n_nan(&module) > 0, "no variance is below zero");
}

#[test]
fn every_fault_of_a_reduction_is_caught() {
    every_fault_is_caught_in("\"ij->i\"", ["i=3 j=5000", "i=3 j=5001"], &REDUCTION_FAULTS);
}

/// So many blocks in the first pass.
fn first_pass(module: &mut Module, n_blocks: u64) -> usize {
    let kernels = ["_long_wide", "_long_narrow", "_long_flat_wide", "_long_flat_narrow"];
    kernels.map(|one| plant::blocks_of(module, one, n_blocks)).iter().sum()
}

fn every_fault_is_caught_in(invocation: &str, extents: [&str; 2], faults: &[Fault]) {
    let levels = common::compile(invocation);
    let problems =
        extents.map(|text| common::problem(&levels, &common::extents(text), &[Fill::Hash]));
    for problem in &problems {
        assert_eq!(caught(&levels.module, problem), None);
    }
    let mut missed = Vec::new();
    for (name, plant, by) in faults {
        let mut module = levels.module.clone();
        assert!(plant(&mut module) > 0, "{name}: nothing to change");
        for (problem, by) in problems.iter().zip(*by) {
            let found = caught(&module, problem).unwrap_or_else(|| "nothing".to_owned());
            if !is_by(&found, by) {
                missed.push(format!(
                    "{name} at {:?}: caught by {found}, not {by:?}",
                    problem.extents
                ));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_variant_that_cannot_run_is_caught() {
    let (levels, [_, odd]) = matmul();
    let mut module = levels.module;
    assert!(plant::always_wide(&mut module) > 0, "nothing to change");
    let found = caught(&module, &odd).unwrap_or_default();
    assert!(found.contains("is misaligned"), "{found}");
}
