//! The comparison of a result with the oracle: by a bound that follows from the sum of absolute
//! products, never by relative error.

use crate::dtype::{Dtype, Element};
use crate::oracle::Evaluation;

/// The largest accepted distance from `reference` of a sum of `n_terms` products that was
/// accumulated and then rounded to `dtype`, where `magnitude` is the sum of the absolute products
/// (semantics, Tolerance: `u * (32 * sum|a*b| + 3 * sqrt(K) * |ref|)` with the accumulator's `u`,
/// and half a unit in the last place of a narrower output).
pub fn bound(reference: f64, magnitude: f64, n_terms: u64, dtype: Dtype) -> f64 {
    let unit_roundoff = dtype.accumulator().half_ulp(1.0);
    let summed =
        unit_roundoff * (32.0 * magnitude + 3.0 * (n_terms as f64).sqrt() * reference.abs());
    stored(summed, reference, dtype)
}

/// What was off by `error` in the accumulator's type and was then rounded to `dtype`.
fn stored(error: f64, reference: f64, dtype: Dtype) -> f64 {
    if dtype == dtype.accumulator() { error } else { error + dtype.half_ulp(reference) }
}

/// What a comparison found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Elements compared.
    pub compared: usize,
    /// The element with the largest ratio of error to bound, in row-major order; none where no
    /// elements were compared.
    pub worst_index: Option<usize>,
    /// Its distance from the reference.
    pub worst_error: f64,
    /// The distance that was accepted there.
    pub worst_bound: f64,
    /// The first over the second; infinite where the bound is zero or a value is not finite.
    pub worst_ratio: f64,
    /// Elements beyond their bound, and elements that are missing or too many.
    pub failures: usize,
}

impl Comparison {
    /// Whether every element is there and within its bound.
    pub fn passes(&self) -> bool {
        self.failures == 0
    }
}

/// Compares `got`, in row-major order, with the oracle's evaluation, whose `dtype` says how the
/// values were rounded, and whose `precision` what their products may have lost before.
pub fn compare<T: Element>(got: &[T], evaluation: &Evaluation) -> Comparison {
    let n_expected = evaluation.values.len();
    let dtype = evaluation.dtype;
    let mut comparison = Comparison {
        compared: got.len().min(n_expected),
        worst_index: None,
        worst_error: 0.0,
        worst_bound: 0.0,
        worst_ratio: 0.0,
        failures: got.len().abs_diff(n_expected),
    };
    let expected = evaluation.values.iter().zip(&evaluation.magnitudes);
    let errors = evaluation.errors.as_ref().map(|errors| errors.iter());
    let mut errors = errors.into_iter().flatten();
    for (position, (got, (reference, magnitude))) in got.iter().zip(expected).enumerate() {
        let factors = evaluation.precision.factor_error(evaluation.n_factors) * magnitude;
        let bound = match errors.next() {
            None => bound(*reference, *magnitude, evaluation.n_terms, dtype) + factors,
            Some(error) => stored(*error, *reference, dtype),
        };
        let error = distance(got.to_f64(), *reference, bound, dtype);
        let ratio = ratio(error, bound);
        comparison.failures += usize::from(ratio > 1.0);
        if comparison.worst_index.is_none() || ratio > comparison.worst_ratio {
            comparison.worst_index = Some(position);
            comparison.worst_error = error;
            comparison.worst_bound = bound;
            comparison.worst_ratio = ratio;
        }
    }
    comparison
}

/// The distance of `got` from the reference. A reference that is not finite in the output's type
/// is met only by the same value: both NaN, or infinite with one sign (case I5). Where a kernel may
/// have passed the largest number on the way, which an infinite bound says, anything meets it.
fn distance(got: f64, reference: f64, bound: f64, dtype: Dtype) -> f64 {
    if bound == f64::INFINITY {
        return 0.0;
    }
    let rounded = dtype.round(reference);
    let is_same = got == rounded || (got.is_nan() && rounded.is_nan());
    if !rounded.is_finite() || !got.is_finite() {
        return if is_same { 0.0 } else { f64::INFINITY };
    }
    (got - reference).abs()
}

fn ratio(error: f64, bound: f64) -> f64 {
    if error == 0.0 {
        0.0
    } else if error.is_finite() {
        error / bound
    } else {
        f64::INFINITY
    }
}
