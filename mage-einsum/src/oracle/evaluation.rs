//! What an evaluation gives: the values, and what the tolerance needs beside them.

use ndarray::ArrayD;

use crate::dtype::{Dtype, Element};
use crate::precision::Precision;

/// The values of one output of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The output, row-major, accumulated in f64, where a product of two f32 is exact; for f64
    /// operands accumulated in twice that and rounded once.
    pub values: ArrayD<f64>,
    /// For each element the sum of the absolute products.
    pub magnitudes: ArrayD<f64>,
    /// Terms of each element's sum; 1 where nothing is summed.
    pub n_terms: u64,
    /// For each element what a kernel's rounding may do to it, where the program is more than sums
    /// of products; there the two fields above say nothing of it.
    pub errors: Option<ArrayD<f64>>,
    /// The element type that a kernel rounds the values to.
    pub dtype: Dtype,
    /// How exactly a kernel multiplies.
    pub precision: Precision,
    /// Factors of a product.
    pub n_factors: usize,
}

impl Evaluation {
    /// The values rounded once to the output's type, which is where a large one becomes infinite.
    pub fn rounded(&self) -> ArrayD<f64> {
        self.values.mapv(|value| self.dtype.round(value))
    }

    /// The same as numbers of a Rust type, which is the output's.
    pub fn rounded_to<T: Element>(&self) -> ArrayD<T> {
        self.values.mapv(T::from_f64)
    }
}
