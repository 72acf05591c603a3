//! The oracle on statements of every form: the values of the test cases, and the quick evaluation
//! against the walk of the tree.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use mage_einsum::diagnostic::Code;
use mage_einsum::index::{center, centered, print_statement, verify};
use mage_einsum::oracle::{Evaluation, evaluate_by_tree_indexed, evaluate_indexed};
use ndarray::{ArrayD, ArrayViewD, arr1};
use support::{array, codes, filled, program, values_of};

const LAYER_NORM: &str = "m[i] = mean(j) X[i,j]; v[i] = mean(j) (X[i,j] - m[i])^2; \
    Y[i,j] = (X[i,j] - m[i]) * rsqrt(v[i] + 1e-5) * g[j] + b[j]";
const NEIGHBOURS: &str = "Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]";

fn indexed(
    notation: &str,
    operands: &[ArrayViewD<'_, f32>],
    indices: &[&[u32]],
) -> Result<Evaluation, mage_einsum::diagnostic::Diagnostics> {
    let indices: Vec<ArrayD<u32>> = indices.iter().map(|values| arr1(values).into_dyn()).collect();
    let views: Vec<ArrayViewD<'_, u32>> = indices.iter().map(|values| values.view()).collect();
    evaluate_indexed(&program(notation), operands, &views)
}

fn near(got: &Evaluation, expected: &[f64], tolerance: f64) {
    let got: Vec<f64> = got.values.iter().copied().collect();
    assert_eq!(got.len(), expected.len(), "{got:?}");
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() <= tolerance, "{got} is not {expected}");
    }
}

/// Case N4, and N3: constant rows give zero.
#[test]
fn layer_norm_of_small_rows() {
    let (one, zero) = (array(&[4], &[1.0; 4]), array(&[4], &[0.0; 4]));
    let rows = array(&[1, 4], &[1.0, 2.0, 3.0, 4.0]);
    let notation = LAYER_NORM.replace("1e-5", "0.0");
    let got = values_of(&notation, &[rows.view(), one.view(), zero.view()]);
    near(&got, &[-1.341_640_8, -0.447_213_6, 0.447_213_6, 1.341_640_8], 1e-6);
    let rows = array(&[2, 4], &[1e6, 1e6, 1e6, 1e6, 0.1, 0.1, 0.1, 0.1]);
    let got = values_of(LAYER_NORM, &[rows.view(), one.view(), zero.view()]);
    near(&got, &[0.0; 8], 0.0);
}

/// A large mean does not widen what the corrected deviations may be off by (case N1).
#[test]
fn a_large_mean_leaves_the_bound_small() {
    let (one, zero) = (array(&[16], &[1.0; 16]), array(&[16], &[0.0; 16]));
    for mean in [0.0_f32, 100.0, 1000.0, 10_000.0] {
        let row: Vec<f32> = (0..16_u8).map(|k| mean + f32::from(k) * 1e-3).collect();
        let rows = array(&[1, 16], &row);
        let got = values_of(LAYER_NORM, &[rows.view(), one.view(), zero.view()]);
        let errors = got.errors.as_ref().expect("it is no sum of products");
        let largest = errors.iter().fold(0.0_f64, |largest, error| largest.max(*error));
        assert!(largest < 1e-4, "{mean}: {largest}");
        if mean == 0.0 || mean == 10_000.0 {
            let expected = if mean == 0.0 { -1.341_641 } else { -1.331_333 };
            assert!((got.values[[0, 0]] - expected).abs() < 1e-5, "{}", got.values[[0, 0]]);
        }
    }
}

#[test]
fn deviations_are_corrected_where_they_are_squared() {
    let corrected = center(&program(LAYER_NORM));
    verify(&corrected).unwrap();
    let expected = "m[i] = mean(j) X[i,j]; m_low[i] = mean(j) (X[i,j] - m[i]); \
        v_raw[i] = mean(j) (X[i,j] - m[i])^2; v[i] = max(v_raw[i] - m_low[i]^2, 0); \
        Y[i,j] = (X[i,j] - m[i] - m_low[i]) * rsqrt(v[i] + 1e-5) * g[j] + b[j]";
    assert_eq!(print_statement(&corrected), expected);
    let sum = "m[i] = mean(j) X[i,j]; v[i] = sum(j) (X[i,j] - m[i])^2";
    let expected = "m[i] = mean(j) X[i,j]; m_low[i] = mean(j) (X[i,j] - m[i]); \
        v[i] = sum(j) (X[i,j] - m[i] - m_low[i])^2";
    assert_eq!(print_statement(&center(&program(sum))), expected);
    for other in [
        "m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]",
        "m[i] = mean(j) X[i,j]; Y[j] = mean(i) (X[i,j] - m[i])^2",
        "m[i] = max(j) X[i,j]; Y[i] = sum(j) (X[i,j] - m[i])^2",
        "m[i] = mean(j) X[i,j]; Y[i] = sum(j) (Z[i,j] - m[i])^2",
    ] {
        assert_eq!(centered(&program(other)), [], "{other}");
    }
}

/// Cases N10, N12 and N13.
#[test]
fn rows_of_a_sparse_matrix() {
    let weights = array(&[5], &[0.5, 0.25, 2.0, 1.0, -1.0]);
    let h = array(&[4, 2], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let operands = [weights.view(), h.view()];
    let run =
        |pointers: &[u32], sources: &[u32]| indexed(NEIGHBOURS, &operands, &[pointers, sources]);
    let (pointers, sources) = ([0, 0, 3, 3, 5], [1, 1, 3, 0, 2]);
    let got = run(&pointers, &sources).unwrap();
    assert_eq!(got.values.as_slice().unwrap(), [0.0, 0.0, 16.25, 19.0, 0.0, 0.0, -4.0, -4.0]);
    for wrong in [[1, 1, 4, 0, 2], [1, 1, 104, 0, 2], [1, 1, u32::MAX, 0, 2]] {
        assert_eq!(codes(run(&pointers, &wrong))[0].0, Code::IndexOutOfRange, "{wrong:?}");
    }
    for wrong in [[0, 3, 0, 3, 5], [1, 1, 3, 3, 5], [0, 0, 3, 3, 4], [0, 0, 3, 3, 6]] {
        assert_eq!(codes(run(&wrong, &sources))[0].0, Code::IndexOutOfRange, "{wrong:?}");
    }
    assert_eq!(codes(run(&[], &sources))[0].0, Code::ExtentMismatch);
    let mean = NEIGHBOURS.replace("sum", "mean");
    let got = indexed(&mean, &operands, &[&pointers, &sources]).unwrap();
    assert!(got.values[[0, 0]].is_nan() && got.values[[3, 0]] == -2.0, "{:?}", got.values);
}

#[test]
fn the_quick_evaluation_is_that_of_the_tree() {
    let table: [(&str, &[&[usize]]); 12] = [
        ("Y[i,j] = gelu_tanh(X[i,j] + b[j])", &[&[5, 7], &[7]]),
        ("Y[i,j] = X[j,i] / (1 + abs(b[j])) - 3", &[&[7, 5], &[7]]),
        ("Y[j] = max(X[j], 0.5) * min(X[j], b[j])^3", &[&[9], &[9]]),
        (LAYER_NORM, &[&[3, 33], &[33], &[33]]),
        (
            "m[i] = max(j) X[i,j]; e[i,j] = exp(X[i,j] - m[i]); s[i] = sum(j) e[i,j]; \
             Y[i,j] = e[i,j] / s[i]",
            &[&[4, 31]],
        ),
        ("Y[i,j] = exp(X[i,j] - max(l) X[i,l])", &[&[4, 6]]),
        ("Y[i,j] = silu(sum(k) X[i,k] * W[k,j] + b[j])", &[&[4, 6], &[6, 3], &[3]]),
        ("Y[] = sum(i,j) (X[i,j] - 1)^2", &[&[4, 6]]),
        ("Y[i] = min(j) X[i,j] + mean(l,k) Z[i,l,k]", &[&[4, 6], &[4, 2, 3]]),
        ("Y[i] = sum(j) X[i,i,j]^2", &[&[3, 3, 4]]),
        ("Y[i] = max(j) X[i,j]", &[&[3, 0]]),
        ("Y[i] = mean(j) X[i,j] * B[j]", &[&[3, 5], &[5]]),
    ];
    for (notation, shapes) in table {
        let operands: Vec<ArrayD<f32>> =
            shapes.iter().zip(0..).map(|(shape, seed)| filled(shape, "normal", seed)).collect();
        let views: Vec<ArrayViewD<'_, f32>> =
            operands.iter().map(|operand| operand.view()).collect();
        let quick = indexed(notation, &views, &[]).expect(notation);
        let slow = evaluate_by_tree_indexed(&program(notation), &views, &[]).expect(notation);
        assert_eq!(quick.values.shape(), slow.values.shape(), "{notation}");
        for (quick, slow) in quick.values.iter().zip(&slow.values) {
            let is_near = (quick - slow).abs() <= 1e-12 * slow.abs().max(1.0) || quick == slow;
            assert!(is_near, "{notation}: {quick}, not {slow}");
        }
    }
}

#[test]
fn gathers_are_those_of_the_tree() {
    let x = filled(&[4, 3], "normal", 0);
    let sources: [u32; 6] = [3, 0, 0, 2, 1, 3];
    let targets: [u32; 6] = [1, 1, 2, 0, 0, 3];
    let notation = "Y[e] = sum(f) X[s[e],f] * X[t[e],f]";
    let quick = indexed(notation, &[x.view()], &[&sources, &targets]).unwrap();
    let indices: Vec<ArrayD<u32>> = [sources, targets].map(|i| arr1(&i).into_dyn()).into();
    let views: Vec<ArrayViewD<'_, u32>> = indices.iter().map(|i| i.view()).collect();
    let slow = evaluate_by_tree_indexed(&program(notation), &[x.view()], &views).unwrap();
    for (quick, slow) in quick.values.iter().zip(&slow.values) {
        assert!((quick - slow).abs() <= 1e-12, "{quick}, not {slow}");
    }
}

#[test]
fn what_is_not_finite_is_as_ieee_has_it() {
    let x = array(&[4], &[0.0, -1.0, f32::INFINITY, f32::NAN]);
    let said = |notation: &str| {
        let got = values_of(notation, &[x.view()]);
        got.values.iter().map(|value| format!("{value}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(said("Y[i] = 1 / X[i]"), "inf -1 0 NaN");
    assert_eq!(said("Y[i] = ln(X[i])"), "-inf NaN inf NaN");
    assert_eq!(said("Y[i] = max(X[i], 0)"), "0 0 inf NaN");
    assert_eq!(said("Y[i] = X[i]^-0.5"), "inf NaN 0 NaN");
    assert_eq!(said("Y[] = max(i) X[i]"), "NaN");
    assert_eq!(said("Y[i] = relu(X[i])"), "0 0 inf NaN");
}
