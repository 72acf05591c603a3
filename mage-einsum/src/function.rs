//! The functions of one number that statements apply to elements: their names, their values, and
//! what a change of the argument does to them. Kernels compute them as `mage-codegen` says.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI};

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Function {
    /// `-x`, written as a sign.
    Negate,
    /// The absolute value.
    Abs,
    /// The square root.
    Sqrt,
    /// One over the square root.
    Rsqrt,
    /// The exponential.
    Exp,
    /// The natural logarithm.
    Ln,
    /// The hyperbolic tangent.
    Tanh,
    /// The error function.
    Erf,
    /// `max(x, 0)`; NaN stays NaN.
    Relu,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// `x * sigmoid(x)`.
    Silu,
    /// `x/2 * (1 + erf(x / sqrt(2)))` (Hendrycks, Gimpel, Gaussian Error Linear Units, 2016).
    GeluErf,
    /// `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3)))` (the same, section 2).
    GeluTanh,
}

/// The weight of the cube in the tanh form of GELU (Hendrycks, Gimpel, section 2).
pub const GELU_CUBE: f64 = 0.044_715;

impl Function {
    /// All of them, in the order of the enumeration.
    pub const ALL: [Function; 13] = [
        Function::Negate,
        Function::Abs,
        Function::Sqrt,
        Function::Rsqrt,
        Function::Exp,
        Function::Ln,
        Function::Tanh,
        Function::Erf,
        Function::Relu,
        Function::Sigmoid,
        Function::Silu,
        Function::GeluErf,
        Function::GeluTanh,
    ];

    /// The name in statements. A sign has none there; `neg` is what levels below call it.
    pub fn name(self) -> &'static str {
        match self {
            Function::Negate => "neg",
            Function::Abs => "abs",
            Function::Sqrt => "sqrt",
            Function::Rsqrt => "rsqrt",
            Function::Exp => "exp",
            Function::Ln => "ln",
            Function::Tanh => "tanh",
            Function::Erf => "erf",
            Function::Relu => "relu",
            Function::Sigmoid => "sigmoid",
            Function::Silu => "silu",
            Function::GeluErf => "gelu_erf",
            Function::GeluTanh => "gelu_tanh",
        }
    }

    /// The function that statements call `name`.
    pub fn from_name(name: &str) -> Option<Function> {
        let named = Function::ALL.into_iter().filter(|function| *function != Function::Negate);
        named.into_iter().find(|function| function.name() == name)
    }

    /// The value at `x`, to f64; NaN and infinities as IEEE 754 has them.
    pub fn of(self, x: f64) -> f64 {
        match self {
            Function::Negate => -x,
            Function::Abs => x.abs(),
            Function::Sqrt => x.sqrt(),
            Function::Rsqrt => x.sqrt().recip(),
            Function::Exp => x.exp(),
            Function::Ln => x.ln(),
            Function::Tanh => x.tanh(),
            Function::Erf => libm::erf(x),
            Function::Relu if x.is_nan() => x,
            Function::Relu => x.max(0.0),
            Function::Sigmoid => ((-x).exp() + 1.0).recip(),
            Function::Silu => x / ((-x).exp() + 1.0),
            // `1 + erf(y)` would cancel where y is far below zero.
            Function::GeluErf => x * 0.5 * libm::erfc(-x * FRAC_1_SQRT_2),
            Function::GeluTanh => {
                let inner = FRAC_2_PI.sqrt() * (x + GELU_CUBE * x * x * x);
                x / ((-2.0 * inner).exp() + 1.0)
            }
        }
    }

    /// The largest slope between `x - error` and `x + error`, or a bound of it: silu's is 1.0998,
    /// that of both forms of GELU below 1.1290.
    pub fn slope_within(self, x: f64, error: f64) -> f64 {
        let low = (x - error).max(0.0);
        match self {
            Function::Negate | Function::Abs | Function::Relu | Function::Tanh => 1.0,
            Function::Sqrt => 0.5 / low.sqrt(),
            Function::Rsqrt => 0.5 / (low * low.sqrt()),
            Function::Exp => (x + error).exp(),
            Function::Ln => low.recip(),
            Function::Erf => std::f64::consts::FRAC_2_SQRT_PI,
            Function::Sigmoid => 0.25,
            Function::Silu => 1.1,
            Function::GeluErf | Function::GeluTanh => 1.13,
        }
    }

    /// How far from the value a kernel's result may lie, relative to the value, in units of half
    /// the distance from 1 to the next number of its type: `2^-24` for f32, `2^-53` for f64. It
    /// holds with every error that the PTX ISA allows an approximate instruction (`ex2.approx` 2
    /// ulp, `rcp.approx` 1 ulp, `rsqrt.approx` `2^-22.9`).
    pub fn relative_roundoffs(self) -> f64 {
        match self {
            Function::Negate | Function::Abs | Function::Relu => 0.0,
            Function::Sqrt => 1.0,
            Function::Ln => 2.0,
            Function::Erf => 3.0,
            Function::Rsqrt => 4.0,
            Function::Exp => 6.0,
            Function::Tanh => 7.0,
            Function::Sigmoid | Function::Silu | Function::GeluTanh => 8.0,
            Function::GeluErf => 10.0,
        }
    }

    /// How much farther than that it may lie, whatever the value: results below the normal numbers
    /// of f32 lose bits or become 0, and so does what is a product with one. The tanh form of GELU
    /// loses bits of its exponent where it is far below zero.
    pub fn absolute_error(self) -> f64 {
        let subnormal = f64::from(f32::MIN_POSITIVE);
        match self {
            Function::Negate
            | Function::Abs
            | Function::Relu
            | Function::Sqrt
            | Function::Rsqrt
            | Function::Ln => 0.0,
            Function::Exp | Function::Tanh | Function::Erf | Function::Sigmoid => subnormal,
            // The other factor is below 128 where one is subnormal.
            Function::Silu | Function::GeluErf => 128.0 * subnormal,
            Function::GeluTanh => 1e-11,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Function;

    fn near(function: Function, x: f64, expected: f64) {
        let got = function.of(x);
        assert!((got - expected).abs() <= 1e-10, "{function:?}({x}) = {got}");
    }

    /// Cases N5 and N6.
    #[test]
    fn both_forms_of_gelu() {
        near(Function::GeluErf, 2.69894, 2.689_552_990_0);
        near(Function::GeluTanh, 2.69894, 2.690_026_225_5);
        near(Function::GeluErf, -4.0, -1.266_849_7e-4);
        near(Function::GeluTanh, -4.0, -7.024_594_8e-5);
    }

    #[test]
    fn limits_are_met() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for function in [Function::GeluErf, Function::GeluTanh] {
            assert_eq!(function.of(inf), inf);
            assert_eq!(function.of(-1e30), 0.0);
            assert!(function.of(nan).is_nan());
        }
        assert!(Function::Relu.of(nan).is_nan());
        assert!(Function::Ln.of(-1.0).is_nan());
        assert_eq!(Function::Ln.of(0.0), -inf);
        assert_eq!(Function::Rsqrt.of(0.0), inf);
        assert_eq!(Function::Sigmoid.of(-inf), 0.0);
    }

    #[test]
    fn names_lead_back() {
        for function in Function::ALL.into_iter().skip(1) {
            assert_eq!(Function::from_name(function.name()), Some(function));
        }
        assert_eq!(Function::from_name("neg"), None);
        assert_eq!(Function::from_name("gelu"), None);
    }
}
