//! The oracle on views, on values that are not finite, and on the size it must be quick at.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]
#![allow(clippy::approx_constant, reason = "the case is about 3.14")]

mod support;

use mage_einsum::oracle::{evaluate, evaluate_by_tree};
use ndarray::{Array2, ArrayD, Axis, IxDyn, ShapeBuilder, Slice};
use support::{array, elements, filled, program, values_of};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

/// Equality that takes NaN as equal to NaN.
#[track_caller]
fn same(got: &[f32], expected: &[f32]) {
    let is_same = |(g, e): (&f32, &f32)| g == e || (g.is_nan() && e.is_nan());
    assert!(got.len() == expected.len(), "{got:?} for {expected:?}");
    assert!(got.iter().zip(expected).all(is_same), "{got:?} for {expected:?}");
}

#[test]
fn scalars() {
    let (three, five, two) = (array(&[], &[3.0]), array(&[], &[5.0]), array(&[], &[2.0]));
    let ramp = filled(&[3], "ramp", 0);
    same(&elements("->", &[three.view()]), &[3.0]);
    same(&elements(",->", &[three.view(), five.view()]), &[15.0]);
    same(&elements("i,->i", &[ramp.view(), two.view()]), &[2.0, 4.0, 6.0]);
    same(&elements(",i->i", &[two.view(), ramp.view()]), &[2.0, 4.0, 6.0]);
}

#[test]
fn a_permuted_view_is_read_in_place() {
    let (a, b) = (filled(&[3, 5, 2], "H", 0), filled(&[4, 5, 2], "H", 1));
    let stored = a.view().permuted_axes(IxDyn(&[2, 0, 1])).as_standard_layout().into_owned();
    let viewed = stored.view().permuted_axes(IxDyn(&[1, 2, 0]));
    let expected = elements("ikc,jkc->ijc", &[a.view(), b.view()]);
    same(&elements("ikc,jkc->ijc", &[viewed, b.view()]), &expected);

    let (a, b) = (filled(&[3, 5], "H", 0), filled(&[5, 4], "H", 1));
    let (at, bt) =
        (a.t().as_standard_layout().into_owned(), b.t().as_standard_layout().into_owned());
    let expected = elements("ik,kj->ij", &[a.view(), b.view()]);
    same(&elements("ik,kj->ij", &[at.t(), bt.t()]), &expected);
}

#[test]
fn a_stride_of_zero_repeats_an_operand() {
    let (row, b) = (filled(&[5], "H", 0), filled(&[4, 5], "H", 1));
    let rows = row.broadcast(IxDyn(&[3, 5])).unwrap();
    let row = [18.0, 0.0, 22.0, 30.0];
    same(&elements("ik,jk->ij", &[rows, b.view()]), &[row, row, row].concat());
}

#[test]
fn negative_strides() {
    let x = filled(&[6, 8], "H", 0);
    let rows = x.slice_axis(Axis(0), Slice::new(0, None, -2));
    let v = rows.slice_axis(Axis(1), Slice::new(0, None, 3));
    same(&v.iter().copied().collect::<Vec<_>>(), &[5., -4., -6., 5., -2., -2., 3., 4., 6.]);
    let expected = [77., 45., -37., 45., 33., -5., -37., -5., 61.];
    same(&elements("ik,jk->ij", &[v.view(), v.view()]), &expected);
}

#[test]
fn overlapping_windows() {
    let x = array(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let window = |start| x.slice_axis(Axis(1), Slice::new(start, Some(start + 2), 1));
    let windows = [window(0), window(1)];
    let stacked = ndarray::stack(Axis(1), &windows).unwrap().into_dyn();
    let expected = [5., 8., 8., 13., 41., 50., 50., 61.];
    same(&elements("abc,acd->abd", &[stacked.view(), stacked.view()]), &expected);
    let columns = ArrayD::from_shape_vec(IxDyn(&[2, 2]).f(), vec![1., 2., 3., 4.]).unwrap();
    same(&elements("ij->ij", &[columns.view()]), &[1., 3., 2., 4.]);
}

#[test]
fn one_operand_twice() {
    let a = filled(&[3, 4], "H", 0);
    let gram = values_of("ij,kj->ik", &[a.view(), a.view()]).values;
    assert_eq!(gram, gram.t());
    let once = evaluate(&program("G[i,k] = sum(j) A[i,j] * A[k,j]"), &[a.view()]).unwrap();
    assert_eq!(once[0].values, gram);
}

#[test]
fn a_nan_reaches_only_its_row() {
    let (mut a, b) = (filled(&[5, 70], "H", 0), filled(&[70, 4], "H", 1));
    a[[2, 3]] = NAN;
    let expected = [
        -82., 12., 103., -11., -3., -146., 32., -80., NAN, NAN, NAN, NAN, -132., -163., 21., 81.,
        77., -145., -69., -280.,
    ];
    same(&elements("ik,kj->ij", &[a.view(), b.view()]), &expected);
}

#[test]
fn an_infinity_reaches_only_its_column() {
    let (a, mut b) = (filled(&[6, 5], "H", 0), filled(&[5, 4], "H", 1));
    let without = values_of("ik,kj->ij", &[a.view(), b.view()]).rounded_to::<f32>();
    b[[1, 2]] = INF;
    let with = values_of("ik,kj->ij", &[a.view(), b.view()]).rounded_to::<f32>();
    let column: Vec<f32> = with.index_axis(Axis(1), 2).iter().copied().collect();
    same(&column, &[INF, INF, INF, INF, INF, -INF]);
    for other in [0, 1, 3] {
        assert_eq!(with.index_axis(Axis(1), other), without.index_axis(Axis(1), other));
    }
}

#[test]
fn values_that_are_not_finite() {
    let a = array(&[2, 2], &[0., 1., 2., 3.]);
    let b = array(&[2, 2], &[INF, 1., 1., 1.]);
    same(&elements("ik,kj->ij", &[a.view(), b.view()]), &[NAN, 1., INF, 5.]);
    let trace = array(&[2, 2], &[1., INF, NAN, 2.]);
    same(&elements("ii->", &[trace.view()]), &[3.]);
    let large = array(&[1], &[1e20]);
    same(&elements("i,i->", &[large.view(), large.view()]), &[INF]);
}

#[test]
fn more_bits_than_tf32_has() {
    let a = array(&[2, 2], &[2049., 4097., 8193., 16385.]);
    let identity = array(&[2, 2], &[1., 0., 0., 1.]);
    same(&elements("ik,kj->ij", &[a.view(), identity.view()]), &[2049., 4097., 8193., 16385.]);
    let z = array(&[2], &[0., 3.14]);
    let form = elements("i,ij,j->", &[z.view(), identity.view(), z.view()]);
    assert!((form[0] - 9.859_601).abs() < 1e-5, "{form:?}");
}

#[test]
fn magnitudes_are_sums_of_absolute_products() {
    let (a, b) = (array(&[3], &[1e8, 1., -1e8]), array(&[3], &[1., 1., 1.]));
    let evaluation = values_of("i,i->", &[a.view(), b.view()]);
    assert_eq!(evaluation.values[[]], 1.0);
    assert_eq!(evaluation.magnitudes[[]], 200_000_001.0);
    assert_eq!(evaluation.n_terms, 3);
}

#[test]
fn the_tree_walk_agrees_on_normal_numbers() {
    let (a, b) = (filled(&[3, 17, 2], "normal", 0), filled(&[5, 17, 2], "normal", 1));
    let program = program("ikc,jkc->ijc");
    let (quick, tree) = (
        evaluate(&program, &[a.view(), b.view()]).unwrap(),
        evaluate_by_tree(&program, &[a.view(), b.view()]).unwrap(),
    );
    assert_eq!(quick, tree);
}

#[test]
fn the_number_of_threads_does_not_show() {
    let (a, b) = (filled(&[300, 64], "normal", 0), filled(&[64, 301], "normal", 1));
    let whole = values_of("ik,kj->ij", &[a.view(), b.view()]).values;
    for row in [0, 149, 150, 299] {
        let row = Slice::new(row, Some(row + 1), 1);
        let one = a.slice_axis(Axis(0), row);
        let alone = values_of("ik,kj->ij", &[one, b.view()]).values;
        let in_whole = whole.slice_axis(Axis(0), row);
        assert_eq!(alone, in_whole);
    }
}

#[test]
fn a_large_matmul_equals_a_plain_one() {
    let (a, b) = (filled(&[512, 512], "normal", 0), filled(&[512, 512], "normal", 1));
    let values = values_of("ik,kj->ij", &[a.view(), b.view()]).values;
    let plain = |operand: &ArrayD<f32>| -> Array2<f64> {
        operand.mapv(f64::from).into_dimensionality().unwrap()
    };
    let product = plain(&a).dot(&plain(&b)).into_dyn();
    assert!(values.iter().zip(&product).all(|(value, plain)| (value - plain).abs() < 1e-12));
}
