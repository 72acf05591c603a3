//! What kernels compute that Rust has no operator for, as functions of the device module: `Math`
//! for f32 and `Math64` for f64. `emit::stmt` calls them; a module defines those that it calls and
//! those that they call. No method of f32 can stand there: all but a few ask for libdevice, and
//! then cuda-oxide 29396b7f writes no PTX.

mod single;
mod double;
mod instruction;

use std::collections::BTreeSet;

use mage_einsum::dtype::Dtype;
use mage_einsum::function::Function;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::kernel::walk;
use crate::kernel::{Module, Stmt, Value};

use instruction::Instruction;

/// A function of the device module, in the order of the text: callees first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// One instruction, which Rust cannot name.
    Instruction(Instruction),
    /// `2^(a b + rest)`.
    Exp2Product,
    /// The larger one.
    Max,
    /// The smaller one.
    Min,
    /// A function that statements know.
    Call(Function),
}

/// A call of the function that has this name.
pub fn call(dtype: Dtype, name: &str, sources: &[TokenStream]) -> TokenStream {
    let (ty, name) = (type_name(dtype), format_ident!("{name}"));
    quote!(#ty::#name(#(#sources),*))
}

/// The types `Math` and `Math64`, with what the module's kernels call.
pub fn definitions(module: &Module) -> TokenStream {
    [Dtype::F32, Dtype::F64].into_iter().filter_map(|dtype| definition(module, dtype)).collect()
}

/// Whether some function of the module is an instruction.
pub fn asks_for_ptx(module: &Module) -> bool {
    let used = [Dtype::F32, Dtype::F64].into_iter().flat_map(|dtype| used(module, dtype));
    used.into_iter().any(|part| matches!(part, Part::Instruction(_)))
}

fn type_name(dtype: Dtype) -> Ident {
    match dtype {
        Dtype::F64 => format_ident!("Math64"),
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => format_ident!("Math"),
    }
}

fn definition(module: &Module, dtype: Dtype) -> Option<TokenStream> {
    let parts = used(module, dtype);
    if parts.is_empty() {
        return None;
    }
    let ty = type_name(dtype);
    let about = match dtype {
        Dtype::F64 => " Functions of an f64.",
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => " Functions of an f32; `u` is `2^-24`.",
    };
    let functions = parts.into_iter().map(|part| match (dtype, part) {
        (_, Part::Instruction(instruction)) => instruction::definition(dtype, instruction),
        (Dtype::F64, _) => double::definition(part),
        (Dtype::F16 | Dtype::BF16 | Dtype::F32, _) => single::definition(part),
    });
    Some(quote! {
        #[doc = #about]
        struct #ty;

        impl #ty { #(#functions)* }
    })
}

/// The functions that kernels call for a type, and those that these call.
fn used(module: &Module, dtype: Dtype) -> BTreeSet<Part> {
    let mut found = BTreeSet::new();
    let mut next = Vec::new();
    for kernel in &module.kernels {
        for stmt in walk::statements(&kernel.body) {
            if let Stmt::Compute { to, value } = stmt
                && kernel.registers[to.array.0].dtype == dtype
            {
                next.extend(part(dtype, value));
            }
        }
    }
    while let Some(part) = next.pop() {
        if found.insert(part) {
            next.extend(callees(dtype, part));
        }
    }
    found
}

fn callees(dtype: Dtype, part: Part) -> Vec<Part> {
    match (dtype, part) {
        (_, Part::Instruction(_)) => Vec::new(),
        (Dtype::F64, _) => double::callees(part),
        (Dtype::F16 | Dtype::BF16 | Dtype::F32, _) => single::callees(part),
    }
}

/// The function that computes a value; none where an operator of Rust does.
fn part(dtype: Dtype, value: &Value) -> Option<Part> {
    let is_double = dtype == Dtype::F64;
    match value {
        Value::Max(..) if is_double => Some(Part::Max),
        Value::Min(..) if is_double => Some(Part::Min),
        Value::Max(..) => Some(Part::Instruction(Instruction::Max)),
        Value::Min(..) => Some(Part::Instruction(Instruction::Min)),
        Value::Call(Function::Negate, _) => None,
        Value::Call(Function::Sqrt, _) => Some(Part::Instruction(Instruction::Sqrt)),
        Value::Call(Function::Rsqrt, _) if !is_double => {
            Some(Part::Instruction(Instruction::Rsqrt))
        }
        Value::Call(function, _) => Some(Part::Call(*function)),
        Value::Copy(_)
        | Value::Number(_)
        | Value::Index(_)
        | Value::Add(..)
        | Value::Sub(..)
        | Value::Mul(..)
        | Value::Div(..)
        | Value::Fma(..)
        | Value::Tf32(_) => None,
    }
}
