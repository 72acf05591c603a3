//! `einsum_kernel!`: arguments in, tokens out. Nothing is decided here: `mage_codegen::expand`
//! makes the module or the mistakes, and `invocation` says where in the caller's file they are.

mod invocation;

use std::ops::Range;

use proc_macro2::TokenStream;
use quote::quote_spanned;

use invocation::Invocation;

/// Makes a module from a program in einsum notation and options.
///
/// A classic einsum is one sum of products; an epilogue goes on with each of its results, and
/// types the operands beside the result by their labels:
///
/// ```text
/// mage::einsum_kernel!("ik,kj->ij", tile = 64, name = matmul);
/// mage::einsum_kernel!(
///     "ik,kj->ij",
///     name = layer,
///     epilogue = |acc, bias: j| gelu_tanh(acc + bias)
/// );
/// ```
///
/// The index form has statements of any expression, the last of which is the output unless `outputs`
/// names others. A literal may go on in the next line after a `\`:
///
/// ```text
/// mage::einsum_kernel!(
///     "m[i] = max(j) X[i,j]; \
///      e[i,j] = exp(X[i,j] - m[i]); \
///      s[i] = sum(j) e[i,j]; \
///      Y[i,j] = e[i,j] / s[i]",
///     name = softmax,
///     outputs = (Y, s)
/// );
/// mage::einsum_kernel!("Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]", name = neighbours);
/// ```
///
/// - `sum(k)`, `mean(k)`, `max(k)` and `min(k)` take the product that follows.
/// - Functions: `abs`, `erf`, `exp`, `gelu_erf`, `gelu_tanh`, `ln`, `relu`, `rsqrt`, `sigmoid`,
///   `silu`, `sqrt`, `tanh`, and of two numbers `max(x, y)` and `min(x, y)`.
/// - `X[s[e],f]` looks up what the index operand `s` selects, and `e in p[i]..p[i+1]` is between
///   the row pointers `p` of a CSR matrix; both operands are of u32.
///
/// # Options
///
/// | option | meaning |
/// |---|---|
/// | `name = matmul` | the module's name |
/// | `tile = 64`, `tile = (m, n, k)` | the extents of a block's tile of a contraction |
/// | `epilogue = \|acc, bias: j\| ..` | what becomes of each result of a classic einsum |
/// | `outputs = (Y, m)` | the results that are returned, in order |
/// | `dtype = f16`, `out = f32` | element types: f16, bf16, f32 (the default) or f64 |
/// | `precision = tf32` | factors of f32 may be rounded for the tensor cores |
/// | `accumulate = true` | the result is added to what the output holds |
/// | `extents = (k = 64)` | extents known now; the others come with each launch |
/// | `strides = runtime` | operands under strides that come with each launch |
/// | `ranks = (3, 4)` | the operands' ranks, which say what `...` stands for |
/// | `path = ((0, 1), (0, 1))` | the order in which operands are contracted |
/// | `device = h200` | the device to plan for; `rtx4090` is the default |
///
/// # The module
///
/// - `reference` is the oracle: the right values, in f64, with what their rounding may cost.
/// - `emulate` runs the kernel on the CPU.
/// - `Extents` has a field a label, and for each dimension that an index operand selects from one
///   with the operand's name.
/// - `SOURCE`, `SOURCE_HASH`, `EXPLANATION`, `NOTATION` and `OPTIONS` are texts.
/// - Under the caller's feature `cuda-oxide`: `device` holds the kernels and `launch` starts them.
///   Index operands reach `launch` as `Indices` and `RowPointers` alone, whose `new` has checked
///   every value.
///
/// Both functions take the operands in the order of the notation, then index operands, then the
/// output's values where they are added to. Of several outputs they give a tuple.
///
/// A mistake is a compile error with its code, its place and what to do. The crate `mage` shows
/// each form in use.
#[proc_macro]
pub fn einsum_kernel(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let invocation = Invocation::new(input.into());
    let tokens = match mage_codegen::expand::expand(&invocation.text) {
        Ok(module) => module,
        Err(mistakes) => mistakes
            .iter()
            .map(|mistake| error(&invocation, mistake.bytes.as_ref(), &mistake.text))
            .collect(),
    };
    tokens.into()
}

/// A `compile_error!` that stands from the first to the last of `bytes`.
fn error(invocation: &Invocation, bytes: Option<&Range<usize>>, text: &str) -> TokenStream {
    let (first, last) = invocation.spans(bytes);
    let mut tokens = quote_spanned!(first=> ::core::compile_error);
    tokens.extend(quote_spanned!(last=> !{ #text }));
    tokens
}
