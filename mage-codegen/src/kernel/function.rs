//! Which functions kernels have for which type. What they compute is in the source itself:
//! `emit::math` defines it, and [`Function`] says how near to the value it lies.

use mage_einsum::dtype::Dtype;
use mage_einsum::function::Function;

/// Whether kernels can apply `function` to registers of `dtype`.
pub fn has_kernel(function: Function, dtype: Dtype) -> bool {
    match dtype {
        Dtype::F32 => true,
        Dtype::F64 => match function {
            Function::Negate
            | Function::Abs
            | Function::Sqrt
            | Function::Rsqrt
            | Function::Relu => true,
            Function::Exp
            | Function::Ln
            | Function::Tanh
            | Function::Erf
            | Function::Sigmoid
            | Function::Silu
            | Function::GeluErf
            | Function::GeluTanh => false,
        },
        // A register that is computed with holds no halves.
        Dtype::F16 | Dtype::BF16 => false,
    }
}
