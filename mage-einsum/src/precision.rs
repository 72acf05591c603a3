//! What a kernel may do to the values of its operands before it multiplies them.

/// How exactly operands are multiplied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// As they are: products are rounded at most once.
    #[default]
    Full,
    /// Rounded to the 11 significant bits of TF32, which the tensor cores multiply; only by name
    /// (rule R15).
    Tf32,
}

/// What one rounding to TF32 may cost of a value: half a unit in its 11th bit.
const TF32_ROUNDOFF: f64 = 1.0 / 2048.0;

impl Precision {
    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            Precision::Full => "full",
            Precision::Tf32 => "tf32",
        }
    }

    /// What a product of so many factors may lose to the rounding of factors, as a share of it: each
    /// of them is rounded once, and each temporary that is a factor again.
    pub fn factor_error(self, n_factors: usize) -> f64 {
        match self {
            Precision::Full => 0.0,
            Precision::Tf32 => {
                let roundings = (2 * n_factors).saturating_sub(2) as f64;
                (roundings * TF32_ROUNDOFF.ln_1p()).exp_m1()
            }
        }
    }

    /// The largest sum of absolute products of integers in which nothing is rounded: no factor is
    /// larger than it, and accumulators of f32 hold 24 bits (IEEE 754, binary32).
    pub fn exact_limit(self) -> f64 {
        match self {
            Precision::Full => 16_777_216.0,
            Precision::Tf32 => 2048.0,
        }
    }
}
