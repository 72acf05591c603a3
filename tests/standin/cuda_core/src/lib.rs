//! CPU stand-in for cuda-oxide's `cuda-core`: contexts, streams, device buffers and launch configurations.
//!
//! Emitted host code comes before it; `cuda-host`, which runs the kernels, comes after.
//! Only what Mage emits or its tests need exists here, under cuda-oxide's names and signatures.

mod buffer;
mod context;
mod error;
mod launch;
pub mod memory;

pub use buffer::{DeviceBuffer, DeviceCopy};
pub use context::{CudaContext, CudaStream};
pub use error::DriverError;
pub use launch::LaunchConfig;

/// The driver's raw types, which cuda-oxide re-exports under this name.
pub mod sys {
    /// A device address.
    pub type CUdeviceptr = u64;
    /// A driver status.
    pub type CUresult = u32;
}
