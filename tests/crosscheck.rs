//! The kernels of every spec, and of the tile edges and the special values of the test cases, in
//! the emulator against the oracle. All variants run: the wide ones where the extents allow it, the
//! narrow ones by buffers that are aligned to 4 bytes only, and sums in parts with and without the
//! workspace that they need.

use std::collections::BTreeSet;

use common::{Agreement, Problem};
use mage_codegen::kernel::{Arm, HostStep};
use mage_codegen::pipeline::Levels;
use mage_einsum::fill::Fill;

mod common;

const BYTE_ALIGNMENTS: [u64; 2] = [16, 4];

/// Runs `problem` at both alignments, with and without room for partial sums; returns the arms that
/// were taken.
fn check(
    what: &str,
    levels: &Levels,
    problem: &Problem,
    agreement: Agreement,
    failures: &mut Vec<String>,
) -> BTreeSet<String> {
    let mut arms = BTreeSet::new();
    let lens = common::workspace_lens(&levels.module, &problem.extents);
    let settings = BYTE_ALIGNMENTS
        .into_iter()
        .flat_map(|byte_alignment| lens.iter().map(move |len| (byte_alignment, *len)));
    for (byte_alignment, len) in settings {
        let wrong = match common::emulate_in(Some(len), &levels.module, problem, byte_alignment) {
            Ok(run) => {
                arms.extend(run.launches.into_iter().map(|launch| launch.arm));
                common::disagreement(&run.outputs, &problem.evaluations, agreement)
            }
            Err(failure) => Some(failure.to_string()),
        };
        failures.extend(wrong.map(|wrong| {
            format!("{what}, aligned to {byte_alignment}, workspace of {len}: {wrong}")
        }));
    }
    arms
}

fn assert_none(failures: &[String]) {
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_spec_at_its_extents() {
    let mut failures = Vec::new();
    let mut unreached = Vec::new();
    for case in common::cases() {
        assert!(!case.runs.is_empty(), "{} has no run", case.name);
        let mut arms = BTreeSet::new();
        for extents in &case.runs {
            for (fill, agreement) in
                [(Fill::Hash, Agreement::Equal), (Fill::Normal, Agreement::WithinBound)]
            {
                for arrangement in common::arrangements(&case.levels.module) {
                    let what = format!("{} at {extents:?}, {fill:?}, {arrangement:?}", case.name);
                    let problem = common::arranged(&case.levels, extents, &[fill], arrangement);
                    arms.extend(check(&what, &case.levels, &problem, agreement, &mut failures));
                }
            }
        }
        let all = all_arms(&case.levels.module.host, "").into_iter();
        unreached.extend(
            all.filter(|arm| !arms.contains(arm) && !arm.ends_with("deep"))
                .map(|arm| format!("{}: {arm}", case.name)),
        );
    }
    assert_none(&failures);
    // An arm that no run reaches is not checked; tests/rounds.rs reaches those of deep sums.
    assert!(unreached.is_empty(), "arms that no run reaches:\n{}", unreached.join("\n"));
}

/// The arms below `steps` that launch something, each with those that it stands in.
fn all_arms(steps: &[HostStep], path: &str) -> Vec<String> {
    let below = |arm: &Arm| {
        let slash = if path.is_empty() { "" } else { "/" };
        all_arms(&arm.steps, &format!("{path}{slash}{}", arm.name))
    };
    let arms = |step: &HostStep| match step {
        HostStep::Select(arms) => arms.iter().flat_map(below).collect(),
        HostStep::Unless(_, steps) => all_arms(steps, path),
        HostStep::Launch { .. } => vec![path.to_owned()],
        HostStep::Require { .. } | HostStep::ReturnIf(_) | HostStep::Let { .. } => Vec::new(),
    };
    steps.iter().flat_map(arms).collect()
}

/// A row of cases.md, section G: the sum and the weighted sum of the output, and its first and
/// last elements.
struct Edge {
    id: &'static str,
    notation: &'static str,
    extents: &'static str,
    sums: [i64; 2],
    first: &'static [f64],
    last: Option<f64>,
}

const MATMUL: &str = "ik,kj->ij";
const TRIANGLE: &str = "ikc,jkc->ijc";

#[rustfmt::skip]
const EDGES: [Edge; 23] = [
    edge("G1", MATMUL, "i=1 k=1 j=1", [-4, -4], &[-4.0], Some(-4.0)),
    edge("G2", MATMUL, "i=64 k=64 j=64", [8074, 550_995], &[-38.0, -132.0, -50.0, 61.0], Some(108.0)),
    edge("G3", MATMUL, "i=65 k=65 j=65", [-6010, -93_621], &[1.0, -128.0, 153.0, 29.0], Some(48.0)),
    edge("G4", MATMUL, "i=63 k=34 j=65", [-2603, -51_343], &[-10.0, -68.0, -23.0, -7.0], Some(-81.0)),
    edge("G5", MATMUL, "i=64 k=1 j=64", [1326, 10_770], &[], None),
    edge("G5", MATMUL, "i=5 k=1 j=128", [136, 11_540], &[], None),
    edge("G5", MATMUL, "i=17 k=1 j=19", [-50, -4608], &[], None),
    edge("G6", MATMUL, "i=1 k=1000 j=1", [-404, -404], &[-404.0], None),
    edge("G6", MATMUL, "i=1 k=128 j=1", [35, 35], &[35.0], None),
    edge("G7", MATMUL, "i=127 k=33 j=129", [22_201, 1_243_411], &[1.0, -13.0, -23.0, 123.0], Some(47.0)),
    edge("G8", MATMUL, "i=257 k=129 j=191", [-26_261, -1_322_514], &[-178.0, 58.0, -113.0, 35.0], Some(-21.0)),
    edge("G10", MATMUL, "i=64 k=2049 j=3", [43, -258_855], &[854.0, -372.0, 9.0, 1141.0], Some(473.0)),
    edge("G11", TRIANGLE, "i=33 k=65 c=3 j=17", [-221, 81_557], &[95.0, -43.0, 176.0, -109.0], Some(-246.0)),
    edge("G12", TRIANGLE, "i=64 k=64 c=4 j=64", [-4843, -444_392], &[47.0, 77.0, 14.0, -15.0], Some(-202.0)),
    edge("G13", TRIANGLE, "i=65 k=66 c=5 j=63", [26_825, 991_811], &[85.0, -87.0, 57.0, 64.0], Some(-160.0)),
    edge("G14", TRIANGLE, "i=2 k=129 c=1 j=3", [380, 801], &[], None),
    edge("G14", TRIANGLE, "i=17 k=1 c=7 j=33", [1609, 78_569], &[], None),
    edge("G15", TRIANGLE, "i=16 k=16 c=130 j=16", [3270, 305_851], &[61.0, -84.0, -34.0, 6.0], Some(-15.0)),
    edge("G16", TRIANGLE, "i=64 k=64 c=64 j=64", [-94_915, -4_877_601], &[114.0, -27.0, -95.0, 95.0], Some(36.0)),
    edge("G20", "bhqd,bhkd->bhqk", "b=2 h=2 q=33 d=65 k=31", [2269, 162_141], &[-23.0, -79.0, -8.0, 198.0], Some(-125.0)),
    edge("B13", "abcd,cdef->abef", "a=3 b=2 c=5 d=7 e=2 f=3", [109, -3340], &[20.0, 15.0, -45.0, -81.0], Some(4.0)),
    edge("B14", "ijk,ljk->li", "i=7 j=33 k=5 l=6", [-358, -37_033], &[94.0, 112.0, 138.0, 27.0], Some(459.0)),
    edge("B21", "i,j->ij", "i=70 j=66", [2204, 116_984], &[], None),
];

const fn edge(
    id: &'static str,
    notation: &'static str,
    extents: &'static str,
    sums: [i64; 2],
    first: &'static [f64],
    last: Option<f64>,
) -> Edge {
    Edge { id, notation, extents, sums, first, last }
}

/// The oracle gives the published sums, and the emulator what the oracle gives.
fn check_edge(edge: &Edge, tile: u32, failures: &mut Vec<String>) {
    let levels = common::compile(&format!("\"{}\", tile = {tile}", edge.notation));
    let problem = common::problem(&levels, &common::extents(edge.extents), &[Fill::Hash]);
    let right: Vec<f64> = problem.evaluations[0].rounded().into_iter().collect();
    assert_eq!(common::sums(&right), edge.sums, "{} in the oracle", edge.id);
    assert_eq!(right[..edge.first.len()], *edge.first, "{} in the oracle", edge.id);
    assert!(edge.last.is_none_or(|last| right.last() == Some(&last)), "{} in the oracle", edge.id);
    let what = format!("{} `{}` at {}, tile {tile}", edge.id, edge.notation, edge.extents);
    check(&what, &levels, &problem, Agreement::Equal, failures);
}

#[test]
fn tile_edges() {
    let mut failures = Vec::new();
    for tile in [16, 32, 64] {
        for edge in &EDGES {
            check_edge(edge, tile, &mut failures);
        }
    }
    assert_none(&failures);
}

#[test]
fn a_thousand_each_way() {
    let mut failures = Vec::new();
    let first = &[55.0, 56.0, -645.0, -17.0];
    let extents = "i=1000 k=1001 j=999";
    let edge = edge("G9", MATMUL, extents, [54_929, 19_764_482], first, Some(66.0));
    check_edge(&edge, 64, &mut failures);
    assert_none(&failures);
}

#[test]
fn thirteen_significant_bits_survive() {
    let mut failures = Vec::new();
    for tile in [16, 64] {
        let levels = common::compile(&format!("\"{MATMUL}\", tile = {tile}"));
        let small = vec![vec![2049.0, 4097.0, 8193.0, 16385.0], vec![1.0, 0.0, 0.0, 1.0]];
        let problem = common::problem_on(&levels, &common::extents("i=2 k=2 j=2"), small);
        check("J1", &levels, &problem, Agreement::Equal, &mut failures);

        let extents = common::extents("i=33 k=65 j=17");
        let problem = common::problem(&levels, &extents, &[Fill::Wide, Fill::Ternary]);
        let right: Vec<f64> = problem.evaluations[0].rounded().into_iter().collect();
        assert_eq!(common::sums(&right), [94_854, -4_431_756], "J4 in the oracle");
        check("J4", &levels, &problem, Agreement::Equal, &mut failures);
    }
    assert_none(&failures);
}

/// Values that are not finite stay in the rows and columns that use them (rule R18), also where
/// tiles are padded beyond the extents.
#[test]
fn non_finite_values_stay_local() {
    let nan = f64::NAN;
    let inf = f64::INFINITY;
    #[rustfmt::skip]
    let rows = vec![
        -82.0, 12.0, 103.0, -11.0,
        -3.0, -146.0, 32.0, -80.0,
        nan, nan, nan, nan,
        -132.0, -163.0, 21.0, 81.0,
        77.0, -145.0, -69.0, -280.0,
    ];
    let columns = vec![inf, inf, inf, inf, inf, -inf];
    let mut failures = Vec::new();
    for tile in [16, 32, 64] {
        let levels = common::compile(&format!("\"{MATMUL}\", tile = {tile}"));
        let plant = |extents: &str, operand: usize, at: usize, value: f64| {
            let extents = common::extents(extents);
            let mut operands = common::problem(&levels, &extents, &[Fill::Hash]).operands;
            operands[operand][at] = value;
            common::problem_on(&levels, &extents, operands)
        };

        let problem = plant("i=5 k=70 j=4", 0, 2 * 70 + 3, nan);
        check("I2", &levels, &problem, Agreement::Equal, &mut failures);
        let got: Vec<f64> = problem.evaluations[0].rounded().into_iter().collect();
        assert_eq!(format!("{got:?}"), format!("{rows:?}"), "I2 in the oracle");

        let problem = plant("i=6 k=5 j=4", 1, 4 + 2, inf);
        check("I3", &levels, &problem, Agreement::Equal, &mut failures);
        let got: Vec<f64> = problem.evaluations[0].rounded().into_iter().collect();
        let third: Vec<f64> = got.iter().skip(2).step_by(4).copied().collect();
        assert_eq!(third, columns, "I3 in the oracle");
    }
    assert_none(&failures);
}

/// C7: a diagonal into an output that the caller holds, fresh and added to.
#[test]
fn a_diagonal_into_the_callers_output() {
    let mut failures = Vec::new();
    for (options, expected) in [
        ("", [1.0, 5.0, 9.0, 28.0, 32.0, 36.0]),
        ("accumulate = true", [2.0, 7.0, 12.0, 32.0, 37.0, 42.0]),
    ] {
        let levels = common::compile(&format!("\"aabb->ab\", {options}"));
        let problem = common::problem(&levels, &common::extents("a=2 b=3"), &[Fill::Ramp]);
        assert_eq!(problem.evaluations[0].values.as_slice(), Some(&expected[..]));
        check("C7", &levels, &problem, Agreement::Equal, &mut failures);
    }
    assert_none(&failures);
}
