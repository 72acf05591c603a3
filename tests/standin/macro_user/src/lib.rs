//! A crate as a user writes it: kernels by Mage's macro, under its own feature `cuda-oxide`, over
//! the CPU stand-in. It denies every warning, and names things as users do.
//!
//! What the types of `launch` do not let through (cases H9 and K4): an output that is an operand,
//!
//! ```compile_fail,E0502
//! use cuda_core::{CudaStream, DeviceBuffer};
//! use mage_standin_macro_user::matmul::{Extents, device, launch};
//!
//! fn square(module: &device::LoadedModule, stream: &CudaStream, a: &mut DeviceBuffer<f32>) {
//!     launch(module, stream, &Extents { i: 2, k: 2, j: 2 }, a, a, a).unwrap();
//! }
//! ```
//!
//! one buffer for two outputs,
//!
//! ```compile_fail,E0499
//! use cuda_core::{CudaStream, DeviceBuffer};
//! use mage_standin_macro_user::centered::{Extents, device, launch};
//!
//! fn once(
//!     module: &device::LoadedModule,
//!     stream: &CudaStream,
//!     x: &DeviceBuffer<f32>,
//!     y: &mut DeviceBuffer<f32>,
//! ) {
//!     launch(module, stream, &Extents { i: 2, j: 1 }, x, y, y).unwrap();
//! }
//! ```
//!
//! and an operand of another element type.
//!
//! ```compile_fail,E0308
//! use cuda_core::{CudaStream, DeviceBuffer};
//! use mage_standin_macro_user::matmul::{Extents, device, launch};
//!
//! fn mixed(
//!     module: &device::LoadedModule,
//!     stream: &CudaStream,
//!     a: &DeviceBuffer<f32>,
//!     b: &DeviceBuffer<f64>,
//!     c: &mut DeviceBuffer<f32>,
//! ) {
//!     launch(module, stream, &Extents { i: 2, k: 2, j: 2 }, a, b, c).unwrap();
//! }
//! ```
//!
//! The same operand twice is let through.
//!
//! ```
//! use cuda_core::{CudaStream, DeviceBuffer};
//! use mage_standin_macro_user::matmul::{Extents, device, launch};
//!
//! fn square(
//!     module: &device::LoadedModule,
//!     stream: &CudaStream,
//!     a: &DeviceBuffer<f32>,
//!     c: &mut DeviceBuffer<f32>,
//! ) {
//!     launch(module, stream, &Extents { i: 2, k: 2, j: 2 }, a, a, c).unwrap();
//! }
//! ```

#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub)]

use mage::einsum_kernel;

einsum_kernel!("ik,kj->ij", tile = 32, name = matmul);
einsum_kernel!("ik,kj->ij", tile = 16);
einsum_kernel!("iI,Ij->ij", tile = 16, name = capitals,);
einsum_kernel!(r"ikc,jkc->ijc", tile = (16, 32, 4), name = triangle);
einsum_kernel!("ik,kj->ij", tile = 32, extents = (i = 64, j = 32, k = 48), name = fixed);
einsum_kernel!("ij,jk,kl->il", tile = 16, name = chain);
einsum_kernel!("ij,kj->ik", tile = 16, strides = runtime, name = strided);
einsum_kernel!("m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]", outputs = (Y, m), name = centered);
