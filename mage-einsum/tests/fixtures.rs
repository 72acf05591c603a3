//! Specifications against numpy: `tests/fixtures` at the root holds what numpy says, of random ones
//! (`einsum.txt`) and of those in numpy's and opt_einsum's own tests (`suites.txt`), and how the
//! files were made. The oracle must give the same numbers, and so must the tree walk and it on the
//! pairs of every contraction path.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

mod support;

use mage_einsum::binding::Extents;
use mage_einsum::index::{Program, pairs, verify};
use mage_einsum::options::Options;
use mage_einsum::oracle::{evaluate, evaluate_by_tree};
use ndarray::ArrayD;
use support::{filled, program_with};

const RANDOM: &str = include_str!("../../tests/fixtures/einsum.txt");
const SUITES: &str = include_str!("../../tests/fixtures/suites.txt");

/// The tree walk takes about a microsecond a product.
const PRODUCTS_FOR_THE_TREE: u64 = 400_000;

struct Fixture {
    notation: &'static str,
    /// The option `ranks`, for those that have an ellipsis.
    ranks: String,
    operands: Vec<ArrayD<f32>>,
    expected: &'static str,
}

fn fixtures() -> impl Iterator<Item = Fixture> {
    RANDOM.lines().map(|line| fixture(line, "H")).chain(suites())
}

/// Numpy's and opt_einsum's own tests; their lines name the fill.
fn suites() -> impl Iterator<Item = Fixture> {
    let lines = SUITES.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let fill = if line.contains(" | T | ") { "T" } else { "H" };
        fixture(line, fill)
    })
}

fn fixture(line: &'static str, fill: &str) -> Fixture {
    let cells: Vec<&str> = line.split(" | ").collect();
    let (&[notation, shapes, _, expected] | &[notation, shapes, expected]) = cells.as_slice()
    else {
        panic!("`{line}` does not have three cells, or four with a fill");
    };
    let shapes = shapes.split_whitespace().map(shape).zip(0..);
    let operands: Vec<_> = shapes.map(|(shape, seed)| filled(&shape, fill, seed)).collect();
    let ranks: Vec<String> = operands.iter().map(|o| o.ndim().to_string()).collect();
    let ranks = format!("ranks = ({})", ranks.join(", "));
    Fixture { notation, ranks, operands, expected }
}

fn shape(text: &str) -> Vec<usize> {
    let extents = text.split('x').filter(|extent| *extent != "-");
    extents.map(|extent| extent.parse().expect(text)).collect()
}

/// The number of elements, S and Q of the test cases, the first four elements and the last.
fn told(program: &Program, operands: &[ArrayD<f32>]) -> String {
    let views: Vec<_> = operands.iter().map(|operand| operand.view()).collect();
    let values = &evaluate(program, &views).unwrap()[0].values;
    assert!(values.iter().all(|value| value.fract() == 0.0));
    let flat: Vec<i64> = values.iter().map(|value| *value as i64).collect();
    let weighted = flat.iter().enumerate().map(|(n, value)| (n as i64 % 97 + 1) * value);
    let mut numbers = vec![flat.len() as i64, flat.iter().sum(), weighted.sum()];
    numbers.extend(flat.iter().take(4).chain(flat.last()));
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_oracle_equals_numpy() {
    let mut n_fixtures = 0;
    for Fixture { notation, ranks, operands, expected } in fixtures() {
        assert_eq!(
            told(&program_with(notation, &ranks).unwrap(), &operands),
            expected,
            "`{notation}`"
        );
        n_fixtures += 1;
    }
    assert!(n_fixtures >= 2800, "{n_fixtures} fixtures");
}

#[test]
fn the_tree_walk_equals_the_oracle_on_the_suites() {
    let mut n_walked = 0;
    for Fixture { notation, ranks, operands, .. } in suites() {
        let program = program_with(notation, &ranks).unwrap();
        let views: Vec<_> = operands.iter().map(|operand| operand.view()).collect();
        let quick = evaluate(&program, &views).unwrap();
        if quick[0].n_terms * quick[0].values.len() as u64 <= PRODUCTS_FOR_THE_TREE {
            assert_eq!(evaluate_by_tree(&program, &views).unwrap(), quick, "`{notation}`");
            n_walked += 1;
        }
    }
    assert!(n_walked >= 450, "{n_walked} were walked");
}

#[test]
fn pairs_equal_numpy() {
    for Fixture { notation, ranks, operands, expected } in fixtures() {
        let (paired, _) =
            pairs(&program_with(notation, &ranks).unwrap(), &Options::default()).unwrap();
        assert_eq!(verify(&paired), Ok(()), "`{notation}`");
        assert_eq!(told(&paired, &operands), expected, "`{notation}`");
    }
}

/// With every extent fixed the best order is chosen, which is often another one.
#[test]
fn pairs_in_the_chosen_order_equal_numpy() {
    for Fixture { notation, ranks, operands, expected } in fixtures() {
        let open = program_with(notation, &ranks).unwrap();
        let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape()).collect();
        let extents = Extents::from_shapes(&open, &shapes).unwrap();
        let given: Vec<String> =
            extents.iter().map(|(l, extent)| format!("{l} = {extent}")).collect();
        let options = format!("{ranks}, extents = ({})", given.join(", "));
        let fixed = program_with(notation, &options).unwrap();
        let (paired, _) = pairs(&fixed, &Options::default()).unwrap();
        assert_eq!(verify(&paired), Ok(()), "`{notation}`");
        assert_eq!(told(&paired, &operands), expected, "`{notation}`");
    }
}
