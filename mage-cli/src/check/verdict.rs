//! The comparison of an output with the oracle: by equality where every sum is exact,
//! else by the bound of the sum of absolute products.

use mage_einsum::oracle::Evaluation;
use mage_einsum::tolerance;

/// By what an output is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Every partial sum is an integer that the accumulator holds, in whatever order it is summed;
    /// the whole sum is rounded once to the output's type.
    Equality,
    /// Sums round.
    Bound,
}

/// What a comparison found.
#[derive(Debug)]
pub struct Verdict {
    /// By what it was compared.
    pub by: By,
    /// Elements compared.
    pub n_compared: usize,
    /// Elements that are wrong, missing or too many.
    pub n_wrong: usize,
    /// The worst element; none where there are no elements.
    pub worst: Option<Worst>,
}

/// The element that is furthest off, as a share of what is allowed.
#[derive(Debug)]
pub struct Worst {
    /// Its place in the output.
    pub at: Vec<usize>,
    /// What the kernel computed.
    pub got: f64,
    /// What the oracle says.
    pub expected: f64,
    /// The distance of both.
    pub error: f64,
    /// The accepted distance.
    pub bound: f64,
    /// The error as a share of the bound; 0 where there is no error.
    pub ratio: f64,
}

/// Compares `got`, in row-major order, with the oracle.
pub fn of(got: &[f64], evaluation: &Evaluation) -> Verdict {
    let by = if is_exact(evaluation) { By::Equality } else { By::Bound };
    let (n_wrong, worst) = match by {
        By::Equality => equality(got, evaluation),
        By::Bound => bound(got, evaluation),
    };
    Verdict { by, n_compared: got.len().min(evaluation.values.len()), n_wrong, worst }
}

/// Whether nothing is rounded: what is no sum of products says so itself, and of sums of products all
/// products are integers and no sum of them can pass the limit. The largest sum of
/// absolute products bounds every partial sum in every order.
fn is_exact(evaluation: &Evaluation) -> bool {
    if let Some(errors) = &evaluation.errors {
        return errors.iter().all(|error| *error == 0.0);
    }
    let limit = evaluation.precision.exact_limit();
    evaluation.magnitudes.iter().all(|sum| sum.fract() == 0.0 && *sum <= limit)
}

fn bound(got: &[f64], evaluation: &Evaluation) -> (usize, Option<Worst>) {
    let comparison = tolerance::compare(got, evaluation);
    let worst = comparison.worst_index.and_then(|position| {
        Some(Worst {
            at: place(position, evaluation.values.shape()),
            got: *got.get(position)?,
            expected: *evaluation.values.iter().nth(position)?,
            error: comparison.worst_error,
            bound: comparison.worst_bound,
            ratio: comparison.worst_ratio,
        })
    });
    (comparison.failures, worst)
}

fn equality(got: &[f64], evaluation: &Evaluation) -> (usize, Option<Worst>) {
    // A sum over nothing is +0, which equals -0 but is told from it (semantics R13).
    let is_empty_sum = evaluation.n_terms == 0;
    let mut n_wrong = got.len().abs_diff(evaluation.values.len());
    let mut worst: Option<Worst> = None;
    for (position, (got, expected)) in got.iter().zip(&evaluation.values).enumerate() {
        // Both may be infinite, where the sum is beyond the output's type.
        let expected = evaluation.dtype.round(*expected);
        let is_same = *got == expected || (got.is_nan() && expected.is_nan());
        let error = if is_same { 0.0 } else { (got - expected).abs() };
        let is_right = error == 0.0 && !(is_empty_sum && got.is_sign_negative());
        n_wrong += usize::from(!is_right);
        // An error that is no number is the worst there can be.
        let error = if error.is_nan() { f64::INFINITY } else { error };
        if worst.as_ref().is_none_or(|worst| error > worst.error) {
            worst = Some(Worst {
                at: place(position, evaluation.values.shape()),
                got: *got,
                expected,
                error,
                bound: 0.0,
                ratio: if is_right { 0.0 } else { f64::INFINITY },
            });
        }
    }
    (n_wrong, worst)
}

/// The coordinates of a row-major position.
fn place(position: usize, shape: &[usize]) -> Vec<usize> {
    let mut rest = position;
    let mut at: Vec<usize> = shape
        .iter()
        .rev()
        .map(|extent| {
            let extent = (*extent).max(1);
            let coordinate = rest % extent;
            rest /= extent;
            coordinate
        })
        .collect();
    at.reverse();
    at
}

#[cfg(test)]
mod tests {
    use mage_einsum::dtype::Dtype;
    use mage_einsum::oracle::Evaluation;
    use mage_einsum::precision::Precision;
    use ndarray::ArrayD;

    use super::{By, Verdict, of};

    fn verdict(got: &[f64], values: [f64; 4], magnitude: f64, n_terms: u64) -> Verdict {
        let array = |data: Vec<f64>| ArrayD::from_shape_vec(vec![2, 2], data).unwrap();
        let evaluation = Evaluation {
            values: array(values.to_vec()),
            magnitudes: array(vec![magnitude; 4]),
            errors: None,
            n_terms,
            dtype: Dtype::F32,
            precision: Precision::Full,
            n_factors: 2,
        };
        of(got, &evaluation)
    }

    #[test]
    fn integers_are_compared_by_equality() {
        let right = verdict(&[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], 9.0, 3);
        assert_eq!((right.by, right.n_wrong, right.n_compared), (By::Equality, 0, 4));
        let wrong = verdict(&[1.0, 2.0, 3.0, 5.0], [1.0, 2.0, 3.0, 4.0], 9.0, 3);
        let worst = wrong.worst.unwrap();
        assert_eq!((wrong.n_wrong, worst.at, worst.error), (1, vec![1, 1], 1.0));
    }

    #[test]
    fn what_rounds_is_compared_by_bound() {
        let near = verdict(&[0.5, 2.0, 3.0, 4.0], [0.5 + 1e-8, 2.0, 3.0, 4.0], 9.5, 3);
        assert_eq!((near.by, near.n_wrong), (By::Bound, 0));
        let far = verdict(&[0.5, 2.0, 3.1, 4.0], [0.5, 2.0, 3.0, 4.0], 9.5, 3);
        assert_eq!((far.n_wrong, far.worst.unwrap().at), (1, vec![1, 0]));
        // Sums that f32 cannot hold are not compared by equality.
        assert_eq!(verdict(&[0.0; 4], [0.0; 4], 33_554_432.0, 3).by, By::Bound);
    }

    #[test]
    fn an_empty_sum_is_positive_zero() {
        assert_eq!(verdict(&[0.0; 4], [0.0; 4], 0.0, 0).n_wrong, 0);
        assert_eq!(verdict(&[-0.0; 4], [0.0; 4], 0.0, 0).n_wrong, 4);
        assert_eq!(verdict(&[-0.0; 4], [0.0; 4], 0.0, 2).n_wrong, 0);
    }

    #[test]
    fn what_is_no_number_or_missing_is_wrong() {
        assert_eq!(verdict(&[f64::NAN; 4], [0.0; 4], 0.0, 2).n_wrong, 4);
        assert_eq!(verdict(&[0.0; 3], [0.0; 4], 0.0, 2).n_wrong, 1);
    }

    #[test]
    fn what_is_no_number_on_both_sides_is_right() {
        let right = verdict(&[f64::NAN, 1.0, 2.0, 3.0], [f64::NAN, 1.0, 2.0, 3.0], 0.0, 2);
        assert_eq!((right.by, right.n_wrong), (By::Equality, 0));
        let infinite = [f64::INFINITY, 1.0, 2.0, 3.0];
        assert_eq!(verdict(&[f64::NAN, 1.0, 2.0, 3.0], infinite, 0.0, 2).n_wrong, 1);
    }
}
