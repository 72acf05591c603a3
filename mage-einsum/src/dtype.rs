//! Element types: how wide they are, what their sums are accumulated in, and how a value is
//! rounded to one. Every value of every type is exact in f64, which is how the oracle and the
//! emulator carry them.

use half::{bf16, f16};

/// The element type of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dtype {
    /// IEEE 754 binary16: 11 significant bits, up to 65504.
    F16,
    /// The upper half of binary32: 8 significant bits, its range.
    BF16,
    /// IEEE 754 binary32: 24 significant bits.
    F32,
    /// IEEE 754 binary64: 53 significant bits.
    F64,
}

impl Dtype {
    /// Every type, the narrowest first.
    pub const ALL: [Dtype; 4] = [Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64];

    /// The type that options and Rust call `name`.
    pub fn from_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// The name in options, and of the Rust type.
    pub fn name(self) -> &'static str {
        match self {
            Dtype::F16 => "f16",
            Dtype::BF16 => "bf16",
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
        }
    }

    /// Bytes of one element.
    pub fn size_bytes(self) -> u64 {
        match self {
            Dtype::F16 | Dtype::BF16 => 2,
            Dtype::F32 => 4,
            Dtype::F64 => 8,
        }
    }

    /// The type that sums of this one are accumulated in (rule R15).
    pub fn accumulator(self) -> Dtype {
        match self {
            Dtype::F16 | Dtype::BF16 | Dtype::F32 => Dtype::F32,
            Dtype::F64 => Dtype::F64,
        }
    }

    /// The nearest value of the type, of two the even one. A value that is already rounded to the
    /// accumulator is rounded once more here, as a kernel does it.
    #[inline]
    pub fn round(self, value: f64) -> f64 {
        match self {
            Dtype::F16 => f64::from(f16::from_f32(value as f32)),
            Dtype::BF16 => f64::from(bf16::from_f32(value as f32)),
            Dtype::F32 => f64::from(value as f32),
            Dtype::F64 => value,
        }
    }

    /// Half the distance from `value` to its neighbours in the type: what one rounding may cost.
    pub fn half_ulp(self, value: f64) -> f64 {
        let (significant_bits, least_exponent) = match self {
            Dtype::F16 => (11, -14),
            Dtype::BF16 => (8, -126),
            Dtype::F32 => (24, -126),
            Dtype::F64 => (53, -1022),
        };
        // The exponent field, less its bias; a subnormal has the least exponent's spacing.
        let exponent = (value.abs().to_bits() >> 52) as i32 - 1023;
        2.0_f64.powi(exponent.max(least_exponent) - significant_bits)
    }
}

impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A number that arrays on the host hold.
pub trait Element: Copy {
    /// Its type.
    const DTYPE: Dtype;

    /// The same value.
    fn to_f64(self) -> f64;

    /// The nearest value, as [`Dtype::round`] rounds.
    fn from_f64(value: f64) -> Self;
}

macro_rules! element {
    ($($rust:ty, $dtype:ident, |$value:ident| $rounded:expr;)+) => { $(
        impl Element for $rust {
            const DTYPE: Dtype = Dtype::$dtype;

            fn to_f64(self) -> f64 {
                f64::from(self)
            }

            fn from_f64($value: f64) -> $rust {
                $rounded
            }
        }
    )+ };
}

element! {
    f16, F16, |value| f16::from_f32(value as f32);
    bf16, BF16, |value| bf16::from_f32(value as f32);
    f32, F32, |value| value as f32;
    f64, F64, |value| value;
}

#[cfg(test)]
mod tests {
    use super::{Dtype, Element, bf16, f16};

    fn rounds_like<T: Element>(values: &[f64]) {
        for value in values {
            let rounded = T::DTYPE.round(*value);
            assert_eq!(rounded.to_bits(), T::from_f64(*value).to_f64().to_bits(), "{value}");
            assert_eq!(T::DTYPE.round(rounded), rounded);
        }
    }

    #[test]
    fn both_roundings_agree() {
        let values = [0.0, -0.0, 1.0, 2049.0, 2051.0, 65504.0, 65520.0, 1e-8, 3e38, 1e300, -0.1];
        rounds_like::<f16>(&values);
        rounds_like::<bf16>(&values);
        rounds_like::<f32>(&values);
        rounds_like::<f64>(&values);
        assert_eq!(Dtype::F16.round(2049.0), 2048.0);
        assert_eq!(Dtype::F16.round(2051.0), 2052.0);
        assert_eq!(Dtype::F16.round(65520.0), f64::INFINITY);
        assert_eq!(Dtype::BF16.round(257.0), 256.0);
    }

    #[test]
    fn half_an_ulp_is_what_rounding_costs() {
        assert_eq!(Dtype::F32.half_ulp(1.0), 1.0 / 16_777_216.0);
        assert_eq!(Dtype::F64.half_ulp(1.5), 2.0_f64.powi(-53));
        assert_eq!(Dtype::F16.half_ulp(2050.0), 1.0);
        assert_eq!(Dtype::BF16.half_ulp(-256.0), 1.0);
        // A subnormal of f16 is a multiple of 2^-24.
        assert_eq!(Dtype::F16.half_ulp(1e-7), 2.0_f64.powi(-25));
        assert_eq!(Dtype::F16.half_ulp(0.0), 2.0_f64.powi(-25));
    }
}
