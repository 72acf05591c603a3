//! What the oracle accumulates in: f64 for operands up to f32, whose products are exact there, and
//! pairs of f64 for f64 operands (rule R16).

/// A number that products are made of and summed in.
pub(super) trait Number: Copy + Send + Sync {
    /// The same value.
    fn of(value: f64) -> Self;

    /// The product with an operand's element.
    fn times(self, factor: f64) -> Self;

    /// The sum.
    fn plus(self, other: Self) -> Self;

    /// The nearest f64.
    fn rounded(self) -> f64;
}

impl Number for f64 {
    #[inline]
    fn of(value: f64) -> f64 {
        value
    }

    #[inline]
    fn times(self, factor: f64) -> f64 {
        self * factor
    }

    #[inline]
    fn plus(self, other: f64) -> f64 {
        self + other
    }

    #[inline]
    fn rounded(self) -> f64 {
        self
    }
}

/// The unevaluated sum of two f64 of which the second is at most half a unit in the last place of
/// the first: 106 significant bits (Dekker, A Floating-Point Technique for Extending the Available
/// Precision, 1971).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    /// `high + low` with `high` the rounded sum; `low` is small against `high`. What is not finite
    /// has no lower part: infinity less infinity would make it NaN.
    fn normal(high: f64, low: f64) -> DoubleDouble {
        let sum = high + low;
        if sum.is_finite() {
            DoubleDouble { high: sum, low: low - (sum - high) }
        } else {
            DoubleDouble { high: sum, low: 0.0 }
        }
    }
}

impl Number for DoubleDouble {
    fn of(value: f64) -> DoubleDouble {
        DoubleDouble { high: value, low: 0.0 }
    }

    fn times(self, factor: f64) -> DoubleDouble {
        let high = self.high * factor;
        if !high.is_finite() {
            return DoubleDouble { high, low: 0.0 };
        }
        let error = self.high.mul_add(factor, -high);
        DoubleDouble::normal(high, error + self.low * factor)
    }

    /// Knuth's sum of the upper parts, exact with its error; the lower parts are added to that.
    fn plus(self, other: DoubleDouble) -> DoubleDouble {
        let high = self.high + other.high;
        if !high.is_finite() {
            return DoubleDouble { high, low: 0.0 };
        }
        let of_other = high - self.high;
        let error = (self.high - (high - of_other)) + (other.high - of_other);
        DoubleDouble::normal(high, error + (self.low + other.low))
    }

    fn rounded(self) -> f64 {
        self.high
    }
}

#[cfg(test)]
mod tests {
    use super::{DoubleDouble, Number};

    fn sum(terms: &[(f64, f64)]) -> f64 {
        let product = |(a, b): &(f64, f64)| DoubleDouble::of(*a).times(*b);
        let zero = DoubleDouble::of(0.0);
        terms.iter().map(product).fold(zero, DoubleDouble::plus).rounded()
    }

    #[test]
    fn what_f64_loses_is_kept() {
        assert_eq!(sum(&[(1e17, 1.0), (1.0, 1.0), (-1e17, 1.0)]), 1.0);
        // (1 + e)(1 - e) - 1 = -e^2, of which a rounded product keeps nothing.
        let e = 2.0_f64.powi(-30);
        assert_eq!(sum(&[(1.0 + e, 1.0 - e), (-1.0, 1.0)]), -e * e);
        // Case J12: a million copies of a value whose last bits a running f64 sum loses.
        let value = 1.0 + 8196.0 * f64::EPSILON;
        assert_eq!(sum(&vec![(value, 1.0); 1_000_000]) / 1e6, value);
    }

    #[test]
    fn what_is_not_finite_is_as_in_f64() {
        assert_eq!(sum(&[(1e200, 1e200), (1.0, 1.0)]), f64::INFINITY);
        assert_eq!(sum(&[(f64::NEG_INFINITY, 2.0)]), f64::NEG_INFINITY);
        assert!(sum(&[(f64::INFINITY, 1.0), (f64::NEG_INFINITY, 1.0)]).is_nan());
        assert!(sum(&[(f64::INFINITY, 0.0)]).is_nan());
    }
}
