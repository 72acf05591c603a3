//! What an evaluation gives: the values, and what the tolerance needs beside them.

use ndarray::ArrayD;

/// The values of a program's output.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The output, row-major, accumulated in f64. A product of two f32 is exact there.
    pub values: ArrayD<f64>,
    /// For each element the sum of the absolute products.
    pub magnitudes: ArrayD<f64>,
    /// Terms of each element's sum; 1 where nothing is summed.
    pub n_terms: u64,
}

impl Evaluation {
    /// The values rounded once to f32, which is where a large one becomes infinite.
    pub fn to_f32(&self) -> ArrayD<f32> {
        self.values.mapv(|value| value as f32)
    }
}
