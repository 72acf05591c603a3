//! Mage turns einsum notation into tiled GPU kernels in Rust for cuda-oxide, and shows its work.
//! The index form of the notation also has what stands around contractions: functions, reductions
//! along rows, several statements, sums over the rows of a CSR matrix.
//!
//! [`einsum_kernel!`] makes a module from a specification. On the CPU the module runs the kernel
//! in the emulator and asks the oracle for the right values; on a GPU, under the caller's feature
//! `cuda-oxide`, it launches the kernel.
//!
//! ```
//! use mage::ndarray::{ArrayD, IxDyn};
//! use mage::{fill, tolerance};
//!
//! mage::einsum_kernel!("ik,kj->ij", tile = 64, name = matmul);
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let extents = matmul::Extents { i: 65, k: 66, j: 63 };
//!     let a = fill::fill(fill::Fill::Normal, 0, extents.i * extents.k);
//!     let b = fill::fill(fill::Fill::Normal, 1, extents.k * extents.j);
//!
//!     let emulated = matmul::emulate(&extents, &a, &b)?;
//!
//!     let a = ArrayD::from_shape_vec(IxDyn(&[extents.i, extents.k]), a)?;
//!     let b = ArrayD::from_shape_vec(IxDyn(&[extents.k, extents.j]), b)?;
//!     let reference = matmul::reference(a.view(), b.view())?;
//!     assert!(tolerance::compare(&emulated, &reference).passes());
//!
//!     println!("{}", matmul::EXPLANATION);
//!     Ok(())
//! }
//! ```
//!
//! A classic einsum goes on with its results by an `epilogue`. In the index form a literal may go
//! on in the next line after a `\`, and index operands come after the others:
//!
//! ```
//! use mage::EmulateError;
//!
//! mage::einsum_kernel!(
//!     "ik,kj->ij",
//!     tile = 16,
//!     name = layer,
//!     epilogue = |acc, bias: j| relu(acc + bias)
//! );
//! mage::einsum_kernel!(
//!     "m[i] = mean(j) X[i,j]; \
//!      Y[i,j] = (X[i,j] - m[i]) / 2",
//!     name = centered
//! );
//! mage::einsum_kernel!("Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]", name = neighbours);
//!
//! # fn main() -> Result<(), EmulateError> {
//! let extents = layer::Extents { i: 1, k: 2, j: 2 };
//! let out = layer::emulate(&extents, &[1.0, 2.0], &[1.0, 0.0, 0.0, 1.0], &[0.5, -3.0])?;
//! assert_eq!(out, [1.5, 0.0]);
//!
//! let out = centered::emulate(&centered::Extents { i: 1, j: 2 }, &[1.0, 5.0])?;
//! assert_eq!(out, [-1.0, 1.0]);
//!
//! // Row 0 has two neighbours, 1 and 0, and row 1 has none; index 2 would be refused.
//! let (pointers, sources) = ([0, 2, 2], [1, 0]);
//! let extents = neighbours::Extents { i: 2, e: 2, f: 1, s: 2 };
//! let out = neighbours::emulate(&extents, &[2.0, 3.0], &[5.0, 7.0], &pointers, &sources)?;
//! assert_eq!(out, [29.0, 0.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Each level of the compiler can be read and run by itself: [`notation`], [`index`],
//! [`schedule`], [`kernel`], [`emit`]; [`pipeline`] calls them in order.

mod emulate_error;
#[doc(hidden)]
pub mod support;

pub use half;
pub use mage_codegen::{device, emit, emulate, kernel, pipeline, schedule};
pub use mage_einsum::{
    binding, diagnostic, dtype, fill, index, notation, options, oracle, reducer, spec, tolerance,
    view,
};
pub use mage_macros::einsum_kernel;
pub use ndarray;

pub use emulate_error::EmulateError;
pub use mage_einsum::diagnostic::Diagnostics;
