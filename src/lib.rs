//! Mage turns einsum notation into tiled GPU kernels in Rust for cuda-oxide, and shows its work.
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
