//! The comparison of an f32 result with the oracle: by a bound that follows from the sum of
//! absolute products, never by relative error.

use crate::oracle::Evaluation;

/// Half a unit in the last place of 1 in f32.
const UNIT_ROUNDOFF: f64 = 1.0 / 16_777_216.0;

/// The largest accepted distance of an f32 sum of `n_terms` products from `reference`, where
/// `magnitude` is the sum of the absolute products (semantics, Tolerance:
/// `u * (32 * sum|a*b| + 3 * sqrt(K) * |ref|)`).
pub fn bound(reference: f64, magnitude: f64, n_terms: u64) -> f64 {
    UNIT_ROUNDOFF * (32.0 * magnitude + 3.0 * (n_terms as f64).sqrt() * reference.abs())
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

/// Compares `got`, in row-major order, with the oracle's evaluation.
pub fn compare(got: &[f32], evaluation: &Evaluation) -> Comparison {
    let n_expected = evaluation.values.len();
    let mut comparison = Comparison {
        compared: got.len().min(n_expected),
        worst_index: None,
        worst_error: 0.0,
        worst_bound: 0.0,
        worst_ratio: 0.0,
        failures: got.len().abs_diff(n_expected),
    };
    let expected = evaluation.values.iter().zip(&evaluation.magnitudes);
    for (position, (got, (reference, magnitude))) in got.iter().zip(expected).enumerate() {
        let bound = bound(*reference, *magnitude, evaluation.n_terms);
        let error = distance(*got, *reference);
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

/// The distance of `got` from the reference. A reference that is not finite in f32 is met only by
/// the same value: both NaN, or infinite with one sign (case I5).
fn distance(got: f32, reference: f64) -> f64 {
    let rounded = reference as f32;
    let is_same = got == rounded || (got.is_nan() && rounded.is_nan());
    if !rounded.is_finite() || !got.is_finite() {
        return if is_same { 0.0 } else { f64::INFINITY };
    }
    (f64::from(got) - reference).abs()
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
