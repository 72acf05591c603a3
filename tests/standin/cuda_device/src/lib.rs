//! CPU stand-in for cuda-oxide's `cuda-device`: thread indices, barriers, shared memory, and the blocks' execution.
//!
//! Emitted kernels come before it; `cuda-host`, whose launches call `standin`, comes after.
//! It proves the text and the logic of a kernel. It proves nothing about its speed, nor that cuda-oxide accepts it.

pub mod async_copy;
mod pause;
pub mod number;
pub mod ptx;
mod shared;
pub mod standin;
pub mod thread;
pub mod warp;
pub mod wmma;

pub use cuda_macros::{cuda_module, kernel, launch_bounds, launch_contract};
pub use shared::SharedArray;
