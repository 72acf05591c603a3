//! The table `cases.txt`: each line is evaluated, compared with what it expects, and evaluated
//! again by the tree walk and through the index form.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may")]

mod support;

use mage_einsum::index::print_statement;
use mage_einsum::oracle::{evaluate, evaluate_by_tree};
use ndarray::{ArrayD, ArrayViewD};
use support::{filled, program};

/// The tree walk takes about a microsecond a product.
const PRODUCTS_FOR_THE_TREE: u64 = 400_000;

struct Case<'t> {
    id: &'t str,
    notation: &'t str,
    operands: Vec<ArrayD<f32>>,
    expected: &'t str,
}

fn cases() -> Vec<Case<'static>> {
    let lines = include_str!("cases.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(case).collect()
}

fn case(line: &'static str) -> Case<'static> {
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    let &[id, notation, shapes, fills, expected] = cells.as_slice() else {
        panic!("`{line}` does not have five cells");
    };
    let fills: Vec<&str> = fills.split(' ').collect();
    let operands = shapes.split_whitespace().enumerate().map(|(operand_idx, text)| {
        let name = fills.get(operand_idx).or(fills.first()).expect(line);
        filled(&shape(text), name, operand_idx as u32)
    });
    Case { id, notation, operands: operands.collect(), expected }
}

fn views(operands: &[ArrayD<f32>]) -> Vec<ArrayViewD<'_, f32>> {
    operands.iter().map(|operand| operand.view()).collect()
}

fn shape(text: &str) -> Vec<usize> {
    let extents = text.split('x').filter(|extent| *extent != "-");
    extents.map(|extent| extent.parse().expect(text)).collect()
}

/// What a line expects, written from the values with the same words.
fn told(expected: &str, values: &ArrayD<f64>) -> String {
    let flat: Vec<i64> = values.iter().map(|value| *value as i64).collect();
    let join = |values: &[i64]| values.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
    let extents: Vec<String> = values.shape().iter().map(usize::to_string).collect();
    let mut words = vec![if extents.is_empty() { "-".to_owned() } else { extents.join("x") }];
    for word in expected.split(' ') {
        let weighted = flat.iter().enumerate().map(|(n, value)| (n as i64 % 97 + 1) * value);
        match word.split('=').next() {
            Some("S") => words.push(format!("S={}", flat.iter().sum::<i64>())),
            Some("Q") => words.push(format!("Q={}", weighted.sum::<i64>())),
            Some("first") => words.push(format!("first {}", join(&flat[..flat.len().min(4)]))),
            Some("last") => words.push(format!("last {}", join(&flat[flat.len() - 1..]))),
            Some("all") => words.push(format!("all {}", join(&flat)).trim_end().to_owned()),
            _ => {}
        }
    }
    words.join(" ")
}

#[test]
fn every_case_has_its_values() {
    for Case { id, notation, operands, expected } in cases() {
        let views = views(&operands);
        let evaluation = &evaluate(&program(notation), &views).expect(id)[0];
        assert!(evaluation.values.iter().all(|value| value.fract() == 0.0), "{id} {notation}");
        assert_eq!(told(expected, &evaluation.values), expected, "{id} {notation}");
        assert!(evaluation.values.is_standard_layout(), "{id} {notation}");
    }
}

#[test]
fn the_tree_walk_agrees() {
    for Case { id, notation, operands, .. } in cases() {
        let views = views(&operands);
        let program = program(notation);
        let quick = evaluate(&program, &views).expect(id);
        let n_products = quick[0].n_terms * quick[0].values.len() as u64;
        if n_products <= PRODUCTS_FOR_THE_TREE {
            assert_eq!(evaluate_by_tree(&program, &views).expect(id), quick, "{id}");
        }
    }
}

#[test]
fn a_zero_is_positive() {
    for Case { id, notation, operands, .. } in
        cases().into_iter().filter(|case| case.id.starts_with('E'))
    {
        let views = views(&operands);
        let values = &evaluate(&program(notation), &views).expect(id)[0].values;
        assert!(values.iter().all(|value| value.is_sign_positive()), "{id} {notation}");
    }
}

#[test]
fn the_index_form_means_the_same() {
    for Case { id, notation, .. } in cases() {
        let classic = program(notation);
        let statement = print_statement(&classic);
        let mut from_index_form = program(&statement);
        assert_eq!(print_statement(&from_index_form), statement, "{id}");
        from_index_form.notation.clone_from(&classic.notation);
        assert_eq!(from_index_form, classic, "{id} {statement}");
    }
}
