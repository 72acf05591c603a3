//! The instructions of PTX that `Math` and `Math64` are made of, each behind a function of its own
//! (PTX ISA, "Floating-Point Instructions").

use mage_einsum::dtype::Dtype;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::super::oxide;

/// One instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Instruction {
    /// `a b + c`, rounded once. As an operator it would be that only where the compiler joins both.
    Fma,
    /// The same, no less than 0 and no more than 1.
    FmaSaturated,
    /// A power of two.
    Exp2,
    /// One over a number.
    Reciprocal,
    /// One over a square root.
    Rsqrt,
    /// The square root.
    Sqrt,
    /// The larger one.
    Max,
    /// The smaller one.
    Min,
}

/// What the text says of an instruction: what it does, its function, the instruction, its operands.
struct Text {
    about: &'static str,
    name: &'static str,
    instruction: &'static str,
    operands: &'static [&'static str],
}

/// The function.
pub(super) fn definition(dtype: Dtype, instruction: Instruction) -> TokenStream {
    let Text { about, name, instruction, operands } = text(dtype, instruction);
    let (about, name) = (format!(" {about}"), format_ident!("{name}"));
    let operands: Vec<_> = operands.iter().map(|operand| format_ident!("{operand}")).collect();
    let ty = oxide::element_type(dtype);
    let body = oxide::instruction(dtype, instruction, &operands);
    quote! {
        #[doc = #about]
        #[inline(always)]
        fn #name(#(#operands: #ty),*) -> #ty { #body }
    }
}

fn text(dtype: Dtype, instruction: Instruction) -> Text {
    let text = |about, name, instruction, operands| Text { about, name, instruction, operands };
    match (instruction, dtype) {
        (Instruction::Fma, _) => {
            text("`a * b + c`, rounded once.", "fma", "fma.rn.f32", &["a", "b", "c"])
        }
        (Instruction::FmaSaturated, _) => text(
            "`a * b + c` cut off to between 0 and 1, and 0 for NaN.",
            "fma_saturated",
            "fma.rn.sat.f32",
            &["a", "b", "c"],
        ),
        (Instruction::Exp2, _) => text(
            "`2^x` within 2 ulp; results below the normal numbers are 0.",
            "exp2",
            "ex2.approx.ftz.f32",
            &["x"],
        ),
        (Instruction::Reciprocal, _) => text(
            "`1 / x` within 1 ulp; results below the normal numbers are 0.",
            "reciprocal",
            "rcp.approx.ftz.f32",
            &["x"],
        ),
        (Instruction::Rsqrt, _) => text(
            "`1 / sqrt(x)` with a relative error of at most `2^-22.9`.",
            "rsqrt",
            "rsqrt.approx.f32",
            &["x"],
        ),
        (Instruction::Sqrt, Dtype::F64) => {
            text("The square root, correctly rounded.", "sqrt", "sqrt.rn.f64", &["x"])
        }
        (Instruction::Sqrt, Dtype::F16 | Dtype::BF16 | Dtype::F32) => {
            text("The square root, correctly rounded.", "sqrt", "sqrt.rn.f32", &["x"])
        }
        (Instruction::Max, _) => text("The larger one, or NaN.", "max", "max.NaN.f32", &["x", "y"]),
        (Instruction::Min, _) => {
            text("The smaller one, or NaN.", "min", "min.NaN.f32", &["x", "y"])
        }
    }
}
