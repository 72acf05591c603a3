//! Device buffers of any element type behind one, so that checking and timing need not know which
//! types a kernel has.

use cuda_core::{CudaStream, DeviceBuffer};
use mage::dtype::{Dtype, Element};
use mage::half::{bf16, f16};

use crate::Error;

/// A buffer of one of the element types.
pub enum Memory {
    /// Of f16.
    F16(DeviceBuffer<f16>),
    /// Of bf16.
    BF16(DeviceBuffer<bf16>),
    /// Of f32.
    F32(DeviceBuffer<f32>),
    /// Of f64.
    F64(DeviceBuffer<f64>),
}

/// An element type of buffers.
pub trait Held: Element + Sized {
    /// The buffer, if it is of this type.
    fn of(memory: &Memory) -> Option<&DeviceBuffer<Self>>;

    /// The same to write to.
    fn of_mut(memory: &mut Memory) -> Option<&mut DeviceBuffer<Self>>;
}

macro_rules! held {
    ($($rust:ty, $variant:ident;)+) => { $(
        impl Held for $rust {
            fn of(memory: &Memory) -> Option<&DeviceBuffer<$rust>> {
                match memory {
                    Memory::$variant(buffer) => Some(buffer),
                    _ => None,
                }
            }

            fn of_mut(memory: &mut Memory) -> Option<&mut DeviceBuffer<$rust>> {
                match memory {
                    Memory::$variant(buffer) => Some(buffer),
                    _ => None,
                }
            }
        }
    )+ };
}

held! {
    f16, F16;
    bf16, BF16;
    f32, F32;
    f64, F64;
}

/// The buffer under the type that a `launch` takes.
pub fn typed<T: Held>(memory: &Memory) -> Result<&DeviceBuffer<T>, Error> {
    T::of(memory).ok_or_else(|| format!("a buffer that is not of {}", T::DTYPE).into())
}

/// The same to write to.
pub fn typed_mut<T: Held>(memory: &mut Memory) -> Result<&mut DeviceBuffer<T>, Error> {
    T::of_mut(memory).ok_or_else(|| format!("a buffer that is not of {}", T::DTYPE).into())
}

impl Memory {
    /// A buffer with the values, each rounded to the element type.
    pub fn upload(stream: &CudaStream, dtype: Dtype, values: &[f64]) -> Result<Memory, Error> {
        fn elements<T: Element>(values: &[f64]) -> Vec<T> {
            values.iter().map(|value| T::from_f64(*value)).collect()
        }
        Ok(match dtype {
            Dtype::F16 => Memory::F16(DeviceBuffer::from_host(stream, &elements(values))?),
            Dtype::BF16 => Memory::BF16(DeviceBuffer::from_host(stream, &elements(values))?),
            Dtype::F32 => Memory::F32(DeviceBuffer::from_host(stream, &elements(values))?),
            Dtype::F64 => Memory::F64(DeviceBuffer::from_host(stream, &elements(values))?),
        })
    }

    /// The values.
    pub fn download(&self, stream: &CudaStream) -> Result<Vec<f64>, Error> {
        fn values<T: Element>(elements: Vec<T>) -> Vec<f64> {
            elements.into_iter().map(T::to_f64).collect()
        }
        Ok(match self {
            Memory::F16(buffer) => values(buffer.to_host_vec(stream)?),
            Memory::BF16(buffer) => values(buffer.to_host_vec(stream)?),
            Memory::F32(buffer) => values(buffer.to_host_vec(stream)?),
            Memory::F64(buffer) => values(buffer.to_host_vec(stream)?),
        })
    }
}
