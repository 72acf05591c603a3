//! Device buffers: host memory between guards, reached through a stream as on a GPU.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::context::{CudaContext, CudaStream};
use crate::error::DriverError;
use crate::memory;
use crate::sys::CUdeviceptr;

/// Plain values whose every bit pattern is valid, zero included.
///
/// # Safety
///
/// The implementor promises just that.
pub unsafe trait DeviceCopy: Copy {}

macro_rules! device_copy {
    ($($scalar:ty)+) => { $(
        // SAFETY: every bit pattern of a number is a number.
        unsafe impl DeviceCopy for $scalar {}
    )+ };
}
device_copy!(i8 i16 i32 i64 isize u8 u16 u32 u64 u128 usize half::f16 half::bf16 f32 f64);

/// An owned run of `T` in device memory.
pub struct DeviceBuffer<T> {
    /// Null when the buffer is empty, as on a GPU.
    address: usize,
    len: usize,
    context: Arc<CudaContext>,
    values: PhantomData<T>,
}

impl<T> DeviceBuffer<T> {
    /// The device address, for kernel arguments.
    pub fn cu_deviceptr(&self) -> CUdeviceptr {
        self.address as CUdeviceptr
    }

    /// Elements in the buffer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer has no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes in the buffer.
    pub fn num_bytes(&self) -> usize {
        self.len * size_of::<T>()
    }

    /// The context that owns the memory.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    fn allocate(stream: &CudaStream, len: usize) -> Result<Self, DriverError> {
        let n_bytes = len.checked_mul(size_of::<T>()).ok_or(DriverError::INVALID_VALUE)?;
        Ok(Self {
            address: if n_bytes == 0 { 0 } else { memory::allocate(n_bytes) },
            len,
            context: stream.context().clone(),
            values: PhantomData,
        })
    }

    fn values(&self) -> *mut T {
        if self.address == 0 {
            return std::ptr::dangling_mut();
        }
        std::ptr::with_exposed_provenance_mut(self.address)
    }
}

impl<T: DeviceCopy> DeviceBuffer<T> {
    /// A buffer with a copy of `data`.
    pub fn from_host(stream: &CudaStream, data: &[T]) -> Result<Self, DriverError> {
        let mut buffer = Self::allocate(stream, data.len())?;
        buffer.copy_from_host(stream, data)?;
        Ok(buffer)
    }

    /// A buffer of `len` zeros.
    pub fn zeroed(stream: &CudaStream, len: usize) -> Result<Self, DriverError> {
        let buffer = Self::allocate(stream, len)?;
        // SAFETY: the buffer holds `len` elements, and zero is a value of `T` (`DeviceCopy`).
        unsafe { buffer.values().write_bytes(0, len) };
        Ok(buffer)
    }

    /// A copy of the buffer's elements.
    pub fn to_host_vec(&self, _stream: &CudaStream) -> Result<Vec<T>, DriverError> {
        // SAFETY: the buffer holds `len` elements whose every bit pattern is valid (`DeviceCopy`).
        Ok(unsafe { std::slice::from_raw_parts(self.values(), self.len) }.to_vec())
    }

    /// Copies the buffer's elements to the start of `dst`.
    pub fn copy_to_host(&self, stream: &CudaStream, dst: &mut [T]) -> Result<(), DriverError> {
        dst[..self.len].copy_from_slice(&self.to_host_vec(stream)?);
        Ok(())
    }

    /// Copies `src`, which is as long as the buffer, into it.
    pub fn copy_from_host(&mut self, _stream: &CudaStream, src: &[T]) -> Result<(), DriverError> {
        assert_eq!(src.len(), self.len, "source and buffer differ in length");
        // SAFETY: both hold `len` elements, and a new allocation cannot overlap a borrowed slice.
        unsafe { std::ptr::copy_nonoverlapping(src.as_ptr(), self.values(), self.len) };
        Ok(())
    }
}

impl<T> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.address != 0 {
            memory::free(self.address);
        }
    }
}
