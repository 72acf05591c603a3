//! The driver's errors, by the numbers that `cuda.h` gives them.

use std::fmt;

use crate::sys::CUresult;

/// A driver status other than success.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DriverError(pub CUresult);

impl DriverError {
    /// `CUDA_ERROR_INVALID_VALUE`: what the driver answers to a grid, block or shared size it cannot launch.
    pub const INVALID_VALUE: Self = Self(1);
    /// `CUDA_ERROR_OUT_OF_MEMORY`.
    pub const OUT_OF_MEMORY: Self = Self(2);
    /// `CUDA_ERROR_INVALID_CONTEXT`: a stream and a module of two contexts.
    pub const INVALID_CONTEXT: Self = Self(201);
}

impl fmt::Debug for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Self::INVALID_VALUE => "invalid argument",
            Self::OUT_OF_MEMORY => "out of memory",
            Self::INVALID_CONTEXT => "invalid device context",
            _ => "unknown error",
        };
        f.debug_tuple("DriverError").field(&self.0).field(&text).finish()
    }
}

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for DriverError {}
