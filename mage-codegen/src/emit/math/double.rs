//! The functions of f64: those that are exact or correctly rounded, and `rsqrt`, of two roundings.

use mage_einsum::function::Function;
use proc_macro2::TokenStream;
use quote::quote;

use super::Part;
use super::instruction::Instruction;

/// What the function calls.
pub(super) fn callees(part: Part) -> Vec<Part> {
    match part {
        Part::Call(Function::Rsqrt) => vec![Part::Instruction(Instruction::Sqrt)],
        Part::Instruction(_) | Part::Exp2Product | Part::Max | Part::Min | Part::Call(_) => {
            Vec::new()
        }
    }
}

/// The function's text; nothing for one that `kernel::function` refuses.
pub(super) fn definition(part: Part) -> TokenStream {
    match part {
        Part::Max => quote! {
            /// The larger one, or NaN; of two zeros, either.
            #[inline(always)]
            fn max(x: f64, y: f64) -> f64 {
                if x > y { x } else if x <= y { y } else { x + y }
            }
        },
        Part::Min => quote! {
            /// The smaller one, or NaN; of two zeros, either.
            #[inline(always)]
            fn min(x: f64, y: f64) -> f64 {
                if x < y { x } else if x >= y { y } else { x + y }
            }
        },
        Part::Call(Function::Abs) => quote! {
            /// The absolute value.
            #[inline(always)]
            fn abs(x: f64) -> f64 {
                f64::from_bits(x.to_bits() & 0x7fff_ffff_ffff_ffff)
            }
        },
        Part::Call(Function::Rsqrt) => quote! {
            /// `1 / sqrt(x)`, rounded twice.
            #[inline(always)]
            fn rsqrt(x: f64) -> f64 {
                1.0 / Math64::sqrt(x)
            }
        },
        Part::Call(Function::Relu) => quote! {
            /// The larger one of `x` and 0, or NaN.
            #[inline(always)]
            fn relu(x: f64) -> f64 {
                if x < 0.0 { 0.0 } else { x }
            }
        },
        // An operator, an instruction, and those that have no kernel.
        Part::Call(
            Function::Negate
            | Function::Sqrt
            | Function::Exp
            | Function::Ln
            | Function::Tanh
            | Function::Erf
            | Function::Sigmoid
            | Function::Silu
            | Function::GeluErf
            | Function::GeluTanh,
        )
        | Part::Instruction(_)
        | Part::Exp2Product => TokenStream::new(),
    }
}
