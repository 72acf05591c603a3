//! The value cases in the emulator: every line of `mage-einsum/tests/cases.txt` but the large tile
//! edges, which `crosscheck.rs` runs, and the cases whose operands are written out. The oracle
//! equals what the file expects (`mage-einsum/tests/values.rs`), so the kernels are compared with it.

#![allow(clippy::expect_used, reason = "a test may stop at once")]
#![allow(clippy::approx_constant, reason = "the case is about 3.14")]

use std::collections::BTreeMap;

use common::Agreement;
use mage_codegen::emulate::{self, Failure};
use mage_codegen::pipeline::Levels;
use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::Code;
use mage_einsum::fill::Fill;

mod common;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn shape(text: &str) -> Vec<usize> {
    let extents = text.split('x').filter(|extent| *extent != "-");
    extents.map(|extent| extent.parse().expect(text)).collect()
}

fn bound(levels: &Levels, shapes: &[Vec<usize>]) -> BTreeMap<String, u64> {
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let extents = Extents::from_shapes(&levels.program, &shapes).expect("the shapes fit");
    extents.iter().map(|(label, extent)| (label.to_owned(), extent)).collect()
}

#[test]
fn every_line_of_the_table() {
    let lines = include_str!("../mage-einsum/tests/cases.txt").lines();
    let cases = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut failures = Vec::new();
    let mut n_cases = 0;
    for line in cases.filter(|line| !line.starts_with('G') || line.starts_with("G19")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let (notation, shapes, fills) = (cells[1], cells[2], cells[3]);
        let shapes: Vec<Vec<usize>> = shapes.split_whitespace().map(shape).collect();
        let fills = fills.split(' ').map(|name| Fill::from_name(name).expect(line));
        let fills: Vec<Fill> = fills.collect();
        let levels = common::compile(&format!("\"{notation}\""));
        let problem = common::problem(&levels, &bound(&levels, &shapes), &fills);
        for byte_alignment in [16, 4] {
            let wrong = match common::emulate(&levels.module, &problem, byte_alignment) {
                Ok(run) => {
                    common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal)
                }
                Err(failure) => Some(failure.to_string()),
            };
            failures.extend(wrong.map(|wrong| format!("{line}: {wrong}")));
        }
        n_cases += 1;
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(n_cases >= 60, "{n_cases} cases");
}

/// A shape and its elements.
type Operand<'t> = (&'t [usize], &'t [f64]);

/// What the kernel gives on operands that are written out.
fn output(notation: &str, operands: &[Operand<'_>]) -> Vec<f64> {
    output_under(notation, "", operands)
}

/// The same under options.
fn output_under(notation: &str, options: &str, operands: &[Operand<'_>]) -> Vec<f64> {
    let levels = common::compile(&format!("\"{notation}\", {options}"));
    let shapes: Vec<Vec<usize>> = operands.iter().map(|(shape, _)| shape.to_vec()).collect();
    let data = operands.iter().map(|(_, data)| data.to_vec()).collect();
    let problem = common::problem_on(&levels, &bound(&levels, &shapes), data);
    common::emulate(&levels.module, &problem, 16).expect(notation).outputs.remove(0)
}

/// Equality that takes NaN as equal to NaN.
#[track_caller]
fn same(got: &[f64], expected: &[f64]) {
    let is_same =
        |(got, expected): (&f64, &f64)| got == expected || got.is_nan() && expected.is_nan();
    assert!(got.len() == expected.len(), "{got:?} for {expected:?}");
    assert!(got.iter().zip(expected).all(is_same), "{got:?} for {expected:?}");
}

#[test]
fn scalars() {
    let (ramp, two): (Operand<'_>, Operand<'_>) = ((&[3], &[1., 2., 3.]), (&[], &[2.]));
    same(&output("->", &[(&[], &[3.])]), &[3.]);
    same(&output(",->", &[(&[], &[3.]), (&[], &[5.])]), &[15.]);
    same(&output("i,->i", &[ramp, two]), &[2., 4., 6.]);
    same(&output(",i->i", &[two, ramp]), &[2., 4., 6.]);
}

#[test]
fn values_that_are_not_finite() {
    same(&output("ii->", &[(&[2, 2], &[1., INF, NAN, 2.])]), &[3.]);
    let (a, b): (&[f64], &[f64]) = (&[0., 1., 2., 3.], &[INF, 1., 1., 1.]);
    same(&output("ik,kj->ij", &[(&[2, 2], a), (&[2, 2], b)]), &[NAN, 1., INF, 5.]);
    same(&output("i,i->", &[(&[1], &[1e20]), (&[1], &[1e20])]), &[INF]);
}

#[test]
fn precision_of_f32() {
    let (z, identity): (&[f64], &[f64]) = (&[0., 3.14], &[1., 0., 0., 1.]);
    let form = output("i,ij,j->", &[(&[2], z), (&[2, 2], identity), (&[2], z)]);
    assert!((form[0] - 9.859_601).abs() < 1e-5, "{form:?}");

    let cancelled = output("i,i->", &[(&[3], &[1e8, 1., -1e8]), (&[3], &[1., 1., 1.])]);
    assert!([0., 1.].contains(&cancelled[0]), "{cancelled:?}");

    // The order of three factors decides whether f32 overflows; the oracle in f64 does not.
    let (large, small): (&[f64], &[f64]) = (&[1e30, 1e30], &[1e-30, 1e-30]);
    let product = output("i,i,i->", &[(&[2], large), (&[2], large), (&[2], small)]);
    assert!(product[0] == INF || (product[0] - 2e30).abs() < 1e24, "{product:?}");

    let summed = output("i,j->j", &[(&[4], &[3e38; 4]), (&[1], &[1e-10])]);
    assert!(summed[0] == INF || (summed[0] - 1.2e29).abs() < 1e23, "{summed:?}");
}

/// A sum in f16 would stop at 2048, and its greatest number is 65504.
#[test]
fn halves_are_accumulated_in_f32() {
    let ones: Operand<'_> = (&[4096], &[1.; 4096]);
    let large: Operand<'_> = (&[2], &[300.; 2]);
    for options in ["dtype = f16", "dtype = f16, out = f32"] {
        same(&output_under("i,i->", options, &[ones, ones]), &[4096.]);
    }
    same(&output_under("i,i->", "dtype = f16, out = f32", &[large, large]), &[180_000.]);
    same(&output_under("i,i->", "dtype = f16", &[large, large]), &[INF]);
}

#[test]
fn two_runs_give_the_same_bits() {
    let data: Vec<f64> = mage_einsum::fill::fill(Fill::Normal, 0, 33 * 70);
    for notation in ["ik,jk->ij", "ik,jk->"] {
        let run = || output(notation, &[(&[33, 70], &data), (&[33, 70], &data)]);
        let bits = |values: Vec<f64>| values.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        assert_eq!(bits(run()), bits(run()), "{notation}");
    }
}

/// More blocks than the second and third coordinate of a grid hold; and more than the first.
#[test]
fn grids_beyond_65535_blocks() {
    let plan = |tile: u32, i: u64, j: u64| {
        let levels = common::compile(&format!("\"ik,kj->ij\", tile = {tile}"));
        let extents =
            BTreeMap::from([("i", i), ("k", 1), ("j", j)].map(|(l, e)| (l.to_owned(), e)));
        let extents = common::label_extents(&levels.module, &extents);
        emulate::plan(&levels.module, &extents, &vec![16; levels.module.buffers.len()])
    };
    let launched = plan(64, 65_536 * 64 + 1, 1).expect("a launch");
    assert_eq!(launched.iter().map(|launch| launch.blocks).collect::<Vec<_>>(), [65_537]);
    let Err(Failure::Host(refusal)) = plan(1, 1 << 16, 1 << 16) else { unreachable!("a launch") };
    assert_eq!(refusal.code, Code::LaunchLimit);
    assert_eq!(
        refusal.message,
        "blocks in the grid is 4294967296, limit 2147483647 (label `j` is 65536, label `i` is 65536)"
    );
}

/// What is widened only after an extent or a stride was multiplied with, which could have wrapped.
fn narrow_products(source: &str) -> Vec<&str> {
    let ends = source.match_indices(") as usize").map(|(end, _)| end);
    let inside = ends.filter_map(|end| {
        let mut depth = 0;
        let is_open = |&(_, character): &(usize, char)| {
            depth += i32::from(character == ')') - i32::from(character == '(');
            depth < 0
        };
        let start = source[..end].char_indices().rev().find(is_open)?.0;
        Some(&source[start + 1..end])
    });
    let is_extent = |word: &str| word.starts_with("n_") || word.contains("_stride_");
    let is_product = |inside: &&str| {
        let mut words = inside.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        inside.contains('*') && words.any(is_extent)
    };
    inside.filter(is_product).collect()
}

/// A global offset is 64-bit from its first product on (rule R20).
#[test]
fn offsets_are_widened_before_they_are_multiplied() {
    assert_eq!(narrow_products("a.add((i * n_k + k) as usize)"), ["i * n_k + k"]);
    assert_eq!(narrow_products("a.add((f(i) * a_stride_i) as usize)"), ["f(i) * a_stride_i"]);
    assert!(narrow_products("a.add(i as usize * n_k + (k * 4) as usize)").is_empty());
    for case in common::cases() {
        let narrow = narrow_products(&case.levels.source);
        // Positions within a block; an extent is only compared with there.
        let narrow: Vec<&str> =
            narrow.into_iter().filter(|inside| !inside.contains(" < ")).collect();
        assert!(narrow.is_empty(), "{}: {narrow:?}", case.name);
    }
}
