//! What rounding may do to the value of an expression: each operation passes on what its operands
//! may be off by, and adds its own roundoff (Higham, Accuracy and Stability of Numerical Algorithms,
//! section 2.2 and 3.1, to first order with the second kept).

use crate::dtype::Dtype;
use crate::function::Function;
use crate::index::Operator;
use crate::reducer::{Reducer, larger, smaller};

/// A value, and how far from it a kernel's may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub(super) value: f64,
    pub(super) error: f64,
}

/// The arithmetic of a kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounding {
    /// What an operation may cost, of its result: half a unit in the last place of 1, or that twice
    /// where the oracle rounds as the kernel does.
    unit: f64,
    /// What a result below the normal numbers may lose.
    least: f64,
    /// The largest number; a kernel that passes it gives infinity where the oracle does not.
    most: f64,
}

impl Rounding {
    /// That of a type that sums are accumulated in.
    pub(super) fn of(accumulator: Dtype) -> Rounding {
        let unit = accumulator.half_ulp(1.0);
        match accumulator {
            Dtype::F16 | Dtype::BF16 | Dtype::F32 => {
                Rounding { unit, least: f64::from(f32::MIN_POSITIVE), most: f64::from(f32::MAX) }
            }
            // The oracle computes expressions in f64, too, and is off by as much as the kernel.
            Dtype::F64 => Rounding { unit: 2.0 * unit, least: f64::MIN_POSITIVE, most: f64::MAX },
        }
    }

    /// A number that is written in a statement.
    pub(super) fn number(self, value: f64) -> Near {
        let is_exact = f64::from(value as f32) == value;
        Near { value, error: if is_exact { 0.0 } else { self.unit * value.abs() } }
    }

    /// An element less the mean that it is a part of, corrected: what deviations are off by
    /// together stands in the mean's place.
    pub(super) fn deviation(self, of: Near, mean: Near) -> Near {
        let value = of.value - mean.value;
        Near { value, error: of.error + mean.error + 2.0 * self.unit * value.abs() }
    }

    /// The square of a deviation, as a term of the mean that the square of the correction is taken
    /// off. The correction is no more than `mean` may be off by, and its square is rounded with the
    /// terms, in their mean, by itself and in the difference.
    pub(super) fn squared(self, deviation: Near, mean: Near) -> Near {
        let square = self.product(deviation, deviation);
        let taken_off = 4.0 * self.unit * (mean.error * mean.error + self.least);
        Near { value: square.value, error: square.error + taken_off }
    }

    /// `value` once more rounded, where it was off by `error` before. What passed the largest
    /// number on the way may have become anything.
    fn rounded(self, value: f64, error: f64, operands: &[Near]) -> Near {
        let overflows =
            |near: &Near| near.value.is_finite() && near.value.abs() + near.error > self.most;
        if operands.iter().any(overflows) {
            return Near { value, error: f64::INFINITY };
        }
        Near { value, error: error + self.unit * (value.abs() + error) }
    }

    pub(super) fn binary(self, operator: Operator, left: Near, right: Near) -> Near {
        let (a, b) = (left.value, right.value);
        let both = [left, right];
        match operator {
            Operator::Add => self.rounded(a + b, left.error + right.error, &both),
            Operator::Subtract => self.rounded(a - b, left.error + right.error, &both),
            Operator::Divide => {
                let least = b.abs() - right.error;
                let error = match right.error {
                    0.0 => left.error / b.abs(),
                    _ if least > 0.0 => (left.error + (a / b).abs() * right.error) / least,
                    _ => f64::INFINITY,
                };
                let error = if error.is_nan() { 0.0 } else { error };
                self.rounded(a / b, error + self.least, &both)
            }
            Operator::Max => Near { value: larger(a, b), error: left.error.max(right.error) },
            Operator::Min => Near { value: smaller(a, b), error: left.error.max(right.error) },
        }
    }

    pub(super) fn product(self, left: Near, right: Near) -> Near {
        let (a, b) = (left.value, right.value);
        let error =
            finite(a.abs() * right.error) + finite(b.abs() * left.error) + left.error * right.error;
        self.rounded(a * b, error + self.least * self.unit, &[left, right])
    }

    /// The value of a function. A change of the argument is passed on by the largest slope between
    /// the two ends of where it may be, which for the functions here is at one of them, or below
    /// the stated bound.
    pub(super) fn call(self, function: Function, inner: Near) -> Near {
        let value = function.of(inner.value);
        let passed = match inner.error {
            0.0 => 0.0,
            error => function.slope_within(inner.value, error) * error,
        };
        let own = function.relative_roundoffs() * self.unit * (value.abs() + passed)
            + function.absolute_error();
        let exact = own == 0.0;
        let near = self.rounded(value, passed, &[inner]);
        let error = if exact { passed } else { near.error + own + self.least };
        Near { value, error: if near.error.is_infinite() { near.error } else { error } }
    }

    /// `total`, the sum of `n_terms` terms whose absolute values and errors add up to these
    /// (semantics, Tolerance). Roundoffs of different terms cancel in part, so that they grow with
    /// the root of their number; a term that is repeated may be rounded the same way each time, so
    /// they grow with how often it is.
    fn sum(self, running: &Running) -> Near {
        let Running { value: total, magnitude, errors, n_terms, .. } = *running;
        let most_distinct = running.most_distinct.clamp(1, n_terms.max(1));
        let root = n_terms as f64 / (most_distinct as f64).sqrt();
        let own = self.unit * (32.0 * (magnitude + errors) + 3.0 * root * total.abs());
        let own = if n_terms <= 1 { 0.0 } else { own };
        Near { value: total, error: errors + own }
    }
}

/// Nothing for a product with an infinite factor, whose value is no number to be off from.
fn finite(error: f64) -> f64 {
    if error.is_finite() { error } else { 0.0 }
}

/// A reduction on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Running {
    reducer: Reducer,
    value: f64,
    magnitude: f64,
    errors: f64,
    n_terms: u64,
    /// How many different terms there are at most.
    most_distinct: u64,
}

impl Running {
    pub(super) fn new(reducer: Reducer, most_distinct: u64) -> Running {
        let (magnitude, errors, n_terms) = (0.0, 0.0, 0);
        Running { reducer, value: reducer.start(), magnitude, errors, n_terms, most_distinct }
    }

    pub(super) fn add(&mut self, term: Near) {
        self.n_terms += 1;
        match self.reducer {
            Reducer::Sum | Reducer::Mean => {
                self.value += term.value;
                self.magnitude += term.value.abs();
                self.errors += term.error;
            }
            Reducer::Max => {
                self.value = larger(self.value, term.value);
                self.errors = self.errors.max(term.error);
            }
            Reducer::Min => {
                self.value = smaller(self.value, term.value);
                self.errors = self.errors.max(term.error);
            }
        }
    }

    pub(super) fn finish(self, rounding: Rounding) -> Near {
        match self.reducer {
            Reducer::Sum => rounding.sum(&self),
            Reducer::Mean => {
                let sum = rounding.sum(&self);
                let count = Near { value: self.n_terms as f64, error: 0.0 };
                rounding.binary(Operator::Divide, sum, count)
            }
            Reducer::Max | Reducer::Min => Near { value: self.value, error: self.errors },
        }
    }
}
