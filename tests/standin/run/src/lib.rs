//! The emitted source of every spec, compiled against the CPU stand-in as a user would compile it
//! against cuda-oxide, and a table of their `launch` functions under one signature.

#![deny(warnings, missing_docs)]

use std::sync::Arc;

use cuda_core::{CudaContext, CudaStream, DeviceBuffer, DeviceCopy, DriverError};
use mage_einsum::dtype::Element;

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

    /// A buffer with the values, each rounded to the element type.
    fn upload<T: Element + DeviceCopy>(&self, values: &[f64]) -> DeviceBuffer<T> {
        let elements: Vec<T> = values.iter().map(|value| T::from_f64(*value)).collect();
        match DeviceBuffer::from_host(&self.stream, &elements) {
            Ok(buffer) => buffer,
            Err(error) => panic!("the stand-in cannot allocate: {error}"),
        }
    }

    /// The values of a buffer.
    fn download<T: Element + DeviceCopy>(&self, buffer: &DeviceBuffer<T>) -> Vec<f64> {
        match buffer.to_host_vec(&self.stream) {
            Ok(elements) => elements.into_iter().map(T::to_f64).collect(),
            Err(error) => panic!("the stand-in cannot copy: {error}"),
        }
    }
}

/// An operand of a launch. An f64 carries an element of any type.
pub struct Operand {
    /// The elements of its buffer.
    pub data: Vec<f64>,
    /// Where the operand begins in it, for a spec with strides.
    pub first: usize,
    /// The strides, for a spec that has them.
    pub strides: Vec<isize>,
}

/// What each output holds.
pub type Outputs = Vec<Vec<f64>>;

/// Loads and launches one spec: extents in the order of labels, operands, index operands, what
/// workspace (which most specs have no use for) and outputs hold before.
pub type Launch =
    fn(&Device, &[usize], &[Operand], &[Vec<u32>], &[f64], &[Vec<f64>]) -> Result<Outputs, String>;

/// One spec's emitted source behind the common signature.
pub struct Emitted {
    /// The spec file's name without its ending.
    pub name: &'static str,
    /// Calls the module's `launch`; an error is its text.
    pub launch: Launch,
}

include!(concat!(env!("OUT_DIR"), "/specs.rs"));

include!(concat!(env!("OUT_DIR"), "/csr.rs"));

pub mod functions {
    //! The functions of one number.

    use super::{Device, Emitted, Operand, Outputs};

    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}
