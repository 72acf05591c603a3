//! The context and its streams. Work runs when it is launched, so a stream holds nothing and is always idle.

use std::sync::Arc;

use crate::DriverError;

/// The handle that modules are loaded into; the stand-in has any number of equal devices.
#[derive(Debug)]
pub struct CudaContext {
    ordinal: usize,
}

impl CudaContext {
    /// Opens device `ordinal`.
    pub fn new(ordinal: usize) -> Result<Arc<Self>, DriverError> {
        Ok(Arc::new(Self { ordinal }))
    }

    /// The position of the device.
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// The stream that every context has.
    pub fn default_stream(self: &Arc<Self>) -> Arc<CudaStream> {
        Arc::new(CudaStream { context: self.clone() })
    }

    /// A further stream.
    pub fn new_stream(self: &Arc<Self>) -> Result<Arc<CudaStream>, DriverError> {
        Ok(self.default_stream())
    }

    /// Waits for all work, of which none is ever pending.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        Ok(())
    }
}

/// An order of work in one context.
#[derive(Debug)]
pub struct CudaStream {
    context: Arc<CudaContext>,
}

impl CudaStream {
    /// The context that the stream belongs to.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// Waits for the stream's work, of which none is ever pending.
    pub fn synchronize(&self) -> Result<(), DriverError> {
        Ok(())
    }
}
