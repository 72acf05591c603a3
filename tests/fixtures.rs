//! Specifications whose values come from numpy, through the whole compiler and the emulator: those
//! of numpy's and opt_einsum's own tests, and random ones, row-major and under other strides. Of
//! the random ones a third runs each time, always the same third; all of them run by
//! `MAGE_FIXTURES=all cargo test --test fixtures`.

use std::collections::BTreeMap;

use common::Agreement;
use mage_einsum::binding::Extents;
use mage_einsum::fill::{Fill, hash_value};

mod common;

const RANDOM: &str = include_str!("fixtures/einsum.txt");
const SUITES: &str = include_str!("fixtures/suites.txt");

/// Elements of the output, S and Q of the test cases, the first elements and the last.
fn told(output: &[f64]) -> String {
    let whole: Vec<i64> = output.iter().map(|value| *value as i64).collect();
    let weighted = whole.iter().enumerate().map(|(n, value)| (n as i64 % 97 + 1) * value);
    let mut numbers = vec![whole.len() as i64, whole.iter().sum(), weighted.sum()];
    numbers.extend(whole.iter().take(4).chain(whole.last()));
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

/// What is wrong with one fixture, if anything.
fn disagreement(line: &str) -> Option<String> {
    let cells: Vec<&str> = line.split(" | ").collect();
    let (notation, shapes, fill, expected) = match *cells.as_slice() {
        [notation, shapes, expected] => (notation, shapes, Fill::Hash, expected),
        [notation, shapes, "H", expected] => (notation, shapes, Fill::Hash, expected),
        [notation, shapes, "T", expected] => (notation, shapes, Fill::Ternary, expected),
        _ => return Some("it does not have three cells, or four with a fill".to_owned()),
    };
    let shapes: Vec<Vec<usize>> = shapes.split(' ').map(shape).collect();
    let shapes: Vec<&[usize]> = shapes.iter().map(Vec::as_slice).collect();
    let ranks: Vec<String> = shapes.iter().map(|shape| shape.len().to_string()).collect();
    let levels = common::compile(&format!("\"{notation}\", ranks = ({})", ranks.join(", ")));
    let extents = match Extents::from_shapes(&levels.program, &shapes) {
        Ok(extents) => extents,
        Err(mistakes) => return Some(mistakes.to_string()),
    };
    let extents: BTreeMap<String, u64> =
        extents.iter().map(|(label, extent)| (label.to_owned(), extent)).collect();
    let problem = common::problem(&levels, &extents, &[fill]);
    match common::emulate(&levels.module, &problem, 16) {
        Err(failure) => Some(failure.to_string()),
        Ok(run) if told(&run.outputs[0]) != expected => {
            Some(format!("{} is not {expected}", told(&run.outputs[0])))
        }
        Ok(run) => common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal)
            .or_else(|| rearranged(notation, &ranks, &extents)),
    }
}

/// The same with strides that the launch gives, in an arrangement that depends on the fixture.
fn rearranged(notation: &str, ranks: &[String], extents: &BTreeMap<String, u64>) -> Option<String> {
    let ranks = ranks.join(", ");
    let levels = common::compile(&format!("\"{notation}\", ranks = ({ranks}), strides = runtime"));
    let letters = notation.bytes().map(u32::from).sum();
    let arrangements = common::arrangements(&levels.module);
    let arrangement = arrangements[hash_value(letters, 0) as usize % arrangements.len()];
    let problem = common::arranged(&levels, extents, &[Fill::Hash], arrangement);
    let wrong = match common::emulate(&levels.module, &problem, 16) {
        Err(failure) => Some(failure.to_string()),
        Ok(run) => common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal),
    };
    wrong.map(|wrong| format!("{arrangement:?}: {wrong}"))
}

fn shape(text: &str) -> Vec<usize> {
    let extents = text.split('x').filter(|extent| *extent != "-");
    extents.map(|extent| extent.parse().unwrap_or(usize::MAX)).collect()
}

#[test]
fn kernels_equal_numpy() {
    let run_all = std::env::var("MAGE_FIXTURES").is_ok_and(|which| which == "all");
    let is_chosen = |line_idx: u32| run_all || hash_value(line_idx, 0).is_multiple_of(3);
    let chosen = RANDOM.lines().zip(0..).filter(|(_, line_idx)| is_chosen(*line_idx));
    let mut n_run = 0;
    let failures: Vec<String> = chosen
        .inspect(|_| n_run += 1)
        .filter_map(|(line, _)| disagreement(line).map(|why| format!("{line}: {why}")))
        .collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(n_run >= 700, "{n_run} fixtures ran");
}

#[test]
fn the_suites_of_numpy_and_opt_einsum() {
    let lines: Vec<&str> = SUITES.lines().filter(|line| !line.starts_with('#')).collect();
    let failures: Vec<String> = lines
        .iter()
        .filter_map(|line| disagreement(line).map(|why| format!("{line}: {why}")))
        .collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(lines.len() >= 450, "{} lines ran", lines.len());
}
