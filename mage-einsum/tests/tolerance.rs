//! The bound accepts what f32 arithmetic may give and nothing else.

mod support;

use mage_einsum::dtype::Dtype;
use mage_einsum::tolerance::{bound, compare};
use support::{array, filled, values_of};

#[test]
fn the_bound_of_a_cancelling_sum() {
    let (a, b) = (array(&[3], &[1e8, 1., -1e8]), array(&[3], &[1., 1., 1.]));
    let evaluation = values_of("i,i->", &[a.view(), b.view()]);
    assert_eq!(bound(1.0, 200_000_001.0, 3, Dtype::F32).round(), 381.0);
    assert!(compare(&[0.0], &evaluation).passes());
    assert!(compare(&[1.0], &evaluation).passes());
    assert!(!compare(&[400.0], &evaluation).passes());
}

#[test]
fn the_worst_element_is_told() {
    let a = array(&[3], &[1., 2., 3.]);
    let evaluation = values_of("i->i", &[a.view()]);
    let comparison = compare(&[1.0, 2.5, 3.0], &evaluation);
    assert_eq!((comparison.compared, comparison.failures), (3, 1));
    assert_eq!((comparison.worst_index, comparison.worst_error), (Some(1), 0.5));
    assert_eq!(comparison.worst_ratio, 0.5 / comparison.worst_bound);
    assert_eq!(compare(&[1.0, 2.0], &evaluation).failures, 1);
}

#[test]
fn values_that_are_not_finite_must_be_met() {
    let a = array(&[3], &[f32::NAN, f32::INFINITY, 1.]);
    let evaluation = values_of("i->i", &[a.view()]);
    assert!(compare(&[f32::NAN, f32::INFINITY, 1.], &evaluation).passes());
    assert_eq!(compare(&[1., f32::NEG_INFINITY, f32::NAN], &evaluation).failures, 3);
    let large = array(&[1], &[1e20]);
    let overflown = values_of("i,i->", &[large.view(), large.view()]);
    assert!(compare(&[f32::INFINITY], &overflown).passes());
    assert!(!compare(&[f32::MAX], &overflown).passes());
}

#[test]
fn f32_sums_pass_and_rounded_operands_fail() {
    let k = 4096;
    let (a, b) = (filled(&[k], "normal", 0), filled(&[k], "normal", 1));
    let evaluation = values_of("i,i->", &[a.view(), b.view()]);
    let plain = a.iter().zip(&b).fold(0.0_f32, |sum, (a, b)| a.mul_add(*b, sum));
    assert!(compare(&[plain], &evaluation).passes());

    // Eight significant bits, as in bf16; the sign pattern of the products stays.
    let short = |x: f32| f32::from_bits(x.to_bits() & 0xffff_0000);
    let rounded = a.iter().zip(&b).fold(0.0_f32, |sum, (a, b)| short(*a).mul_add(short(*b), sum));
    assert!(!compare(&[rounded], &evaluation).passes());
}
