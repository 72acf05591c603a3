//! The gradients that `index::gradients` names are those of the contraction: the oracle evaluates
//! them, and finite differences of the oracle's values judge them.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use std::fs;

use mage_einsum::dtype::Dtype;
use mage_einsum::fill::{Fill, fill};
use mage_einsum::index::{self, Program, TensorKind, gradients};
use mage_einsum::options::Options;
use mage_einsum::oracle::evaluate;
use mage_einsum::{notation, spec};
use ndarray::{ArrayD, ArrayViewD, IxDyn};

fn program(text: &str, ranks: Option<Vec<usize>>) -> Program {
    let notation = notation::parse(text).expect(text);
    let options = Options { dtype: Dtype::F64, ranks, ..Options::default() };
    index::lower(&notation, &options).expect(text)
}

fn filled(shape: &[usize], seed: u32) -> ArrayD<f64> {
    let values = fill(Fill::Normal, seed, shape.iter().product());
    ArrayD::from_shape_vec(IxDyn(shape), values).expect("a shape and its elements")
}

fn value(program: &Program, operands: &[ArrayD<f64>]) -> ArrayD<f64> {
    let views: Vec<ArrayViewD<'_, f64>> = operands.iter().map(|one| one.view()).collect();
    evaluate(program, &views).expect("they fit").remove(0).values
}

/// The shape of each input and of the output where every label has an extent of its own from 2 on,
/// but for those that index one dimension of one tensor.
fn shapes(program: &Program) -> Vec<Vec<usize>> {
    let mut extents: Vec<usize> = (0..program.modes.len()).map(|mode| 2 + mode % 3).collect();
    for _ in 0..extents.len() {
        for same in &program.same_extents {
            extents[same.other.0] = extents[same.first.0];
        }
    }
    let shape = |modes: &[index::ModeId]| modes.iter().map(|mode| extents[mode.0]).collect();
    program.tensors.iter().map(|tensor| shape(&tensor.dims)).collect()
}

/// Compares every gradient that has a notation; how many there were.
fn check(program: &Program) -> usize {
    let text = &program.notation;
    let shapes = shapes(program);
    let n_inputs = program.tensors_of(TensorKind::Input).count();
    let operands: Vec<ArrayD<f64>> =
        shapes[..n_inputs].iter().zip(0..).map(|(shape, seed)| filled(shape, seed)).collect();
    let weights = filled(&shapes[n_inputs], 99);
    let loss = |operands: &[ArrayD<f64>]| (value(program, operands) * &weights).sum();
    let all = gradients(program);
    let mut n_checked = 0;
    for (position, input) in program.tensors[..n_inputs].iter().enumerate() {
        let of_input: Vec<_> = all.iter().filter(|gradient| gradient.of == input.name).collect();
        let mut sum = ArrayD::<f64>::zeros(IxDyn(&shapes[position]));
        let mut is_whole = true;
        for gradient in &of_input {
            let Ok(backward) = &gradient.notation else {
                is_whole = false;
                continue;
            };
            let backward = self::program(backward, None);
            let given = gradient.operands[1..].iter().map(|name| {
                let at = program.tensors.iter().position(|tensor| tensor.name == *name);
                operands[at.expect("it is an input")].clone()
            });
            // A tensor that is read twice is given once.
            let mut unique: Vec<ArrayD<f64>> = vec![weights.clone()];
            let mut names: Vec<&String> = Vec::new();
            let classic = backward.notation.contains("->");
            for (operand, name) in given.zip(&gradient.operands[1..]) {
                if classic || !names.contains(&name) {
                    unique.push(operand);
                }
                names.push(name);
            }
            sum += &value(&backward, &unique);
        }
        if !is_whole {
            continue;
        }
        for (at, found) in sum.iter().enumerate() {
            // The loss is a polynomial of low degree, so a central difference is as good as its step.
            let step = 1e-4;
            let moved = |by: f64| {
                let mut operands = operands.clone();
                *operands[position].iter_mut().nth(at).expect("it is there") += by;
                loss(&operands)
            };
            let expected = (moved(step) - moved(-step)) / (2.0 * step);
            let error = (found - expected).abs();
            assert!(error < 1e-7 * (1.0 + expected.abs()), "{text}: {found}, not {expected}");
        }
        n_checked += of_input.len();
    }
    n_checked
}

#[test]
fn gradients_are_finite_differences() {
    for text in
        ["ik,kj->ij", "ikc,jkc->ijc", "bhqd,bhkd->bhqk", "ij,jk,kl->il", "i,j->ij", "ij->ji"]
    {
        let program = program(text, None);
        assert_eq!(check(&program), program.statements[0].factors().len(), "{text}");
    }
    for text in [
        "C[row,col] = sum(mid) A[row,mid] * B[mid,col]",
        "C[i,j] = sum(k) A[i,k] * A[j,k]",
        "i,i->",
        ",->",
        "A[i] = B[i] * dA[i]",
    ] {
        assert_eq!(check(&program(text, None)), 2, "{text}");
    }
    assert_eq!(check(&program("...ik,...kj->...ij", Some(vec![3, 4]))), 2);
}

#[test]
fn every_spec_has_its_gradients() {
    let mut n_checked = 0;
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/specs")).expect("specs") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "spec") {
            let text = fs::read_to_string(&path).expect("it can be read");
            let file = spec::parse_file(&text).expect("it is a spec");
            n_checked += check(&program(&file.spec.notation_text, file.spec.options.ranks));
        }
    }
    assert!(n_checked > 100, "{n_checked} gradients");
}

#[test]
fn what_no_contraction_gives_is_said() {
    let why = |text: &str| gradients(&program(text, None))[0].notation.clone().expect_err(text);
    assert!(why("ij->i").contains("label `j` is summed in `A` alone"), "{}", why("ij->i"));
    assert!(why("ii->").contains("on the diagonal of label `i`"), "{}", why("ii->"));
}
