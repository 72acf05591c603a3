//! The emitted source of every spec, compiled against the CPU stand-in as a user would compile it
//! against cuda-oxide, and a table of their `launch` functions under one signature.

#![deny(warnings, missing_docs)]

use std::sync::Arc;

use cuda_core::{CudaContext, CudaStream, DeviceBuffer, DriverError};

/// A context and its stream.
pub struct Device {
    /// Where modules are loaded.
    pub context: Arc<CudaContext>,
    /// Where kernels are launched.
    pub stream: Arc<CudaStream>,
}

impl Device {
    /// The first device.
    ///
    /// # Errors
    ///
    /// What the driver says; the stand-in says nothing.
    pub fn new() -> Result<Device, DriverError> {
        let context = CudaContext::new(0)?;
        let stream = context.default_stream();
        Ok(Device { context, stream })
    }
}

/// An operand of a launch.
pub struct Operand {
    /// The buffer.
    pub buffer: DeviceBuffer<f32>,
    /// Where the operand begins in it, for a spec with strides.
    pub first: usize,
    /// The strides, for a spec that has them.
    pub strides: Vec<isize>,
}

/// Loads and launches one spec: extents in the order of labels, operands, workspace (which most
/// specs have no use for), output.
pub type Launch = fn(
    &Device,
    &[usize],
    &[Operand],
    &mut DeviceBuffer<f32>,
    &mut DeviceBuffer<f32>,
) -> Result<(), String>;

/// One spec's emitted source behind the common signature.
pub struct Emitted {
    /// The spec file's name without its ending.
    pub name: &'static str,
    /// Calls the module's `launch`; an error is its text.
    pub launch: Launch,
}

include!(concat!(env!("OUT_DIR"), "/specs.rs"));
