//! What registers become, as Rust: operators where Rust has them, else functions of the device
//! module.

use mage_einsum::dtype::Dtype;
use mage_einsum::function::Function;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::scope::Scope;
use super::{expr, math, oxide};
use crate::kernel::{Reg, Value};

/// A statement that gives a register its value.
pub fn compute(scope: &Scope<'_>, to: &Reg, value: &Value) -> TokenStream {
    let target = expr::register(scope, to);
    let show = |reg: &Reg| expr::register(scope, reg);
    if let Some((sign, source)) = compound(to, value) {
        let source = show(source);
        return quote!(#target #sign #source;);
    }
    let dtype = scope.kernel.registers[to.array.0].dtype;
    let value = match value {
        Value::Copy(from) => show(from),
        Value::Number(value) => number(*value, dtype),
        Value::Index(index) => expr::number(scope, index, dtype),
        Value::Tf32(from) => {
            let from = show(from);
            quote!(Tf32::round(#from))
        }
        Value::Add(left, right) => operator(scope, left, quote!(+), right),
        Value::Sub(left, right) => operator(scope, left, quote!(-), right),
        Value::Mul(left, right) => operator(scope, left, quote!(*), right),
        Value::Div(left, right) => operator(scope, left, quote!(/), right),
        // Not `f32::mul_add`: every method of f32 that cuda-oxide does not inline asks for
        // libdevice, and then no PTX is written. It contracts a product and a sum by default.
        Value::Fma(first, second, third) if third == to => {
            let (first, second) = (show(first), show(second));
            return quote!(#target += #first * #second;);
        }
        Value::Fma(first, second, third) => {
            let (first, second, third) = (show(first), show(second), show(third));
            quote!(#first * #second + #third)
        }
        Value::Call(Function::Negate, from) => {
            let from = show(from);
            quote!(-#from)
        }
        Value::Max(left, right) => math::call(dtype, "max", &[show(left), show(right)]),
        Value::Min(left, right) => math::call(dtype, "min", &[show(left), show(right)]),
        Value::Call(function, from) => math::call(dtype, function.name(), &[show(from)]),
    };
    quote!(#target = #value;)
}

/// A number with a point and a type: nothing else of an array of numbers says what it holds.
pub fn typed_number(value: f32, dtype: Dtype) -> TokenStream {
    special(f64::from(value), dtype)
        .unwrap_or_else(|| finite(&format!("{:?}{dtype}", value.abs()), value.is_sign_negative()))
}

/// A number with a point, rounded to the type of what it is for.
fn number(value: f64, dtype: Dtype) -> TokenStream {
    let shown = match dtype {
        Dtype::F64 => format!("{:?}", value.abs()),
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => format!("{:?}", (value as f32).abs()),
    };
    special(value, dtype).unwrap_or_else(|| finite(&shown, value.is_sign_negative()))
}

/// NaN and the infinities; what is finite in f64 may be infinite in f32.
fn special(value: f64, dtype: Dtype) -> Option<TokenStream> {
    let ty = oxide::element_type(dtype);
    let value = match dtype {
        Dtype::F64 => value,
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => f64::from(value as f32),
    };
    if value.is_nan() {
        return Some(quote!(#ty::NAN));
    }
    let sign = value.is_sign_negative().then(|| quote!(-));
    value.is_infinite().then(|| quote!(#sign #ty::INFINITY))
}

fn finite(magnitude: &str, is_negative: bool) -> TokenStream {
    let sign = is_negative.then(|| quote!(-));
    // Rust's own text of a finite number is a literal.
    let literal = magnitude.parse::<Literal>().unwrap_or_else(|_| Literal::f32_unsuffixed(0.0));
    quote!(#sign #literal)
}

fn operator(scope: &Scope<'_>, left: &Reg, sign: TokenStream, right: &Reg) -> TokenStream {
    let (left, right) = (expr::register(scope, left), expr::register(scope, right));
    quote!(#left #sign #right)
}

/// The sign and the right side of `to += right` and the like.
fn compound<'v>(to: &Reg, value: &'v Value) -> Option<(TokenStream, &'v Reg)> {
    let (sign, left, right) = match value {
        Value::Add(left, right) => (quote!(+=), left, right),
        Value::Sub(left, right) => (quote!(-=), left, right),
        Value::Mul(left, right) => (quote!(*=), left, right),
        Value::Div(left, right) => (quote!(/=), left, right),
        Value::Copy(_)
        | Value::Number(_)
        | Value::Index(_)
        | Value::Max(..)
        | Value::Min(..)
        | Value::Call(..)
        | Value::Fma(..)
        | Value::Tf32(_) => return None,
    };
    (left == to).then_some((sign, right))
}
