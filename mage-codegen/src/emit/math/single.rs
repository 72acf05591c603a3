//! The functions of f32. Their errors are those of `Function::relative_roundoffs` and hold
//! whatever the approximate instructions do within what the PTX ISA allows them;
//! `tests/functions.rs` of the stand-in measures them. Polynomials were fitted here to the least largest relative error of the
//! function (Lawson, Contributions to the theory of linear least maximum approximation, 1961) and
//! rounded one coefficient after the other, lowest first, each time fitting the others again.

mod error_function;

use mage_einsum::function::Function;
use proc_macro2::TokenStream;
use quote::quote;

use super::Part;
use super::instruction::Instruction;

/// What the function calls.
pub(super) fn callees(part: Part) -> Vec<Part> {
    let [fma, fma_saturated, exp2, reciprocal] =
        [Instruction::Fma, Instruction::FmaSaturated, Instruction::Exp2, Instruction::Reciprocal]
            .map(Part::Instruction);
    match part {
        Part::Exp2Product => vec![fma, fma_saturated, exp2],
        Part::Call(Function::Exp) => vec![Part::Exp2Product],
        Part::Call(Function::Ln) => vec![fma],
        Part::Call(Function::Tanh) => vec![Part::Call(Function::Abs), fma, exp2, reciprocal],
        Part::Call(Function::Erf) => vec![Part::Call(Function::Abs), fma, exp2],
        Part::Call(Function::Relu) => vec![Part::Instruction(Instruction::Max)],
        Part::Call(Function::Sigmoid) => vec![Part::Call(Function::Exp), reciprocal],
        Part::Call(Function::Silu) => vec![Part::Call(Function::Sigmoid)],
        Part::Call(Function::GeluErf) => {
            vec![Part::Call(Function::Abs), fma, Part::Exp2Product, reciprocal]
        }
        Part::Call(Function::GeluTanh) => vec![fma, Part::Exp2Product, reciprocal],
        Part::Call(Function::Negate | Function::Abs | Function::Sqrt | Function::Rsqrt)
        | Part::Instruction(_)
        | Part::Max
        | Part::Min => Vec::new(),
    }
}

/// The function's text; nothing where an operator or an instruction is all of it.
pub(super) fn definition(part: Part) -> TokenStream {
    match part {
        Part::Exp2Product => exp2_product(),
        Part::Call(Function::Abs) => quote! {
            /// The absolute value.
            #[inline(always)]
            fn abs(x: f32) -> f32 {
                f32::from_bits(x.to_bits() & 0x7fff_ffff)
            }
        },
        Part::Call(Function::Exp) => exp(),
        Part::Call(Function::Ln) => ln(),
        Part::Call(Function::Tanh) => tanh(),
        Part::Call(Function::Erf) => error_function::erf(),
        Part::Call(Function::Relu) => quote! {
            /// The larger one of `x` and 0, or NaN.
            #[inline(always)]
            fn relu(x: f32) -> f32 {
                Math::max(x, 0.0)
            }
        },
        Part::Call(Function::Sigmoid) => quote! {
            /// `1 / (1 + exp(-x))` with a relative error of at most `8 u`; results below the normal
            /// numbers are 0.
            #[inline(always)]
            fn sigmoid(x: f32) -> f32 {
                Math::reciprocal(1.0 + Math::exp(-x))
            }
        },
        Part::Call(Function::Silu) => quote! {
            /// `x / (1 + exp(-x))` with a relative error of at most `8 u`, and 0 for `x` below -87.4.
            #[inline(always)]
            fn silu(x: f32) -> f32 {
                x * Math::sigmoid(x)
            }
        },
        Part::Call(Function::GeluErf) => error_function::gelu_erf(),
        Part::Call(Function::GeluTanh) => gelu_tanh(),
        Part::Call(Function::Negate | Function::Sqrt | Function::Rsqrt)
        | Part::Instruction(_)
        | Part::Max
        | Part::Min => TokenStream::new(),
    }
}

fn exp2_product() -> TokenStream {
    quote! {
        /// `2^(a * b + rest)`, where `rest` is small and the product is not rounded. `scale` has
        /// the nearest integer, but none below -126 or above 126, in its low bits, as the exponent
        /// of a power of two.
        #[inline(always)]
        fn exp2_product(a: f32, b: f32, rest: f32) -> f32 {
            let scale = Math::fma(Math::fma_saturated(a, b * (1.0 / 252.0), 0.5), 252.0, 12582913.0);
            let fraction = Math::fma(a, b, 12583039.0 - scale) + rest;
            Math::exp2(fraction) * f32::from_bits(scale.to_bits() << 23)
        }
    }
}

fn exp() -> TokenStream {
    quote! {
        /// The exponential with a relative error of at most `6 u`.
        #[inline(always)]
        fn exp(x: f32) -> f32 {
            Math::exp2_product(x, core::f32::consts::LOG2_E, x * 1.925963e-8)
        }
    }
}

fn ln() -> TokenStream {
    quote! {
        /// The natural logarithm with a relative error of at most `2 u`: that of a power of two,
        /// and a polynomial for a factor between 2/3 and 4/3.
        #[inline(always)]
        fn ln(x: f32) -> f32 {
            let is_subnormal = x < f32::MIN_POSITIVE;
            let bits = (if is_subnormal { x * 8388608.0 } else { x }).to_bits();
            let exponent = bits.wrapping_sub(0x3f2a_aaab) & 0xff80_0000;
            let shift = if is_subnormal { -23.0 } else { 0.0 };
            let power = Math::fma(exponent as i32 as f32, 1.0 / 8388608.0, shift);
            let d = f32::from_bits(bits.wrapping_sub(exponent)) - 1.0;
            let p = Math::fma(-0.12874262, d, 0.13986707);
            let p = Math::fma(p, d, -0.12188382);
            let p = Math::fma(p, d, 0.1400534);
            let p = Math::fma(p, d, -0.1668018);
            let p = Math::fma(p, d, 0.20010445);
            let p = Math::fma(p, d, -0.24999805);
            let p = Math::fma(p, d, 0.33333215);
            let p = Math::fma(p, d, -0.5);
            let factor = Math::fma(p, d * d, d);
            let value = Math::fma(power, core::f32::consts::LN_2, factor);
            if x > 0.0 && x < f32::INFINITY {
                value
            } else if x == 0.0 {
                -f32::INFINITY
            } else if x < 0.0 {
                f32::NAN
            } else {
                x
            }
        }
    }
}

fn tanh() -> TokenStream {
    quote! {
        /// The hyperbolic tangent with a relative error of at most `7 u`: a polynomial near 0,
        /// `1 - 2 / (exp(2x) + 1)` elsewhere.
        #[inline(always)]
        fn tanh(x: f32) -> f32 {
            let magnitude = Math::abs(x);
            let power = Math::exp2(magnitude * (2.0 * core::f32::consts::LOG2_E));
            let far = Math::fma(Math::reciprocal(power + 1.0), -2.0, 1.0);
            let square = x * x;
            let p = Math::fma(-0.0062459926, square, 0.021052472);
            let p = Math::fma(p, square, -0.05384785);
            let p = Math::fma(p, square, 0.13332546);
            let p = Math::fma(p, square, -0.33333316);
            let near = Math::fma(p * square, x, x);
            if magnitude > 0.55 {
                f32::from_bits(far.to_bits() | (x.to_bits() & 0x8000_0000))
            } else {
                near
            }
        }
    }
}

/// The coefficients are `-2 log2(e) sqrt(2/pi)` and that times 0.044715, each in two parts.
fn gelu_tanh() -> TokenStream {
    quote! {
        /// `x / (1 + exp(-2y))`, where `y` is `sqrt(2/pi) * (x + 0.044715 x^3)`, with a relative
        /// error of at most `8 u`, and for `x` below -4.7 an absolute one of `1e-11`.
        #[inline(always)]
        fn gelu_tanh(x: f32) -> f32 {
            let product = x * x;
            let square = if product < 256.0 { product } else { 256.0 };
            let square_low = Math::fma(x, x, -square);
            let factor = Math::fma(square, -0.10294324, -2.3022082);
            let low = Math::fma(square, -0.10294324, -2.3022082 - factor) - 1.2948402e-8;
            let low = Math::fma(square, 2.0161983e-9, low);
            let low = Math::fma(square_low, -0.10294324, low);
            x * Math::reciprocal(1.0 + Math::exp2_product(x, factor, x * low))
        }
    }
}
