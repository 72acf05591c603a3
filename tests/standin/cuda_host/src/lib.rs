//! CPU stand-in for cuda-oxide's `cuda-host`: what the expansion of `#[cuda_module]` calls to load and to launch.

use std::fmt;

pub use cuda_device::cuda_module;

/// Why a module could not be loaded; the stand-in's modules always can.
#[derive(Debug)]
pub enum EmbeddedModuleError {
    /// The executable holds no module of this name.
    ModuleNotFound {
        /// The name that was looked for.
        name: String,
    },
}

impl fmt::Display for EmbeddedModuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::ModuleNotFound { name } = self;
        write!(f, "embedded CUDA module '{name}' was not found")
    }
}

impl std::error::Error for EmbeddedModuleError {}

pub mod standin {
    //! The launch itself, and the choice of the order in which threads run.

    use std::sync::Arc;

    use cuda_core::{CudaContext, CudaStream, DriverError, LaunchConfig, memory};
    pub use cuda_device::standin::{Order, set_order};

    /// Runs a kernel over a grid, and panics when a barrier diverges or a guard region was written.
    pub fn launch(
        context: &Arc<CudaContext>,
        stream: &CudaStream,
        config: LaunchConfig,
        max_threads: u32,
        kernel: impl Fn() + Copy + 'static,
    ) -> Result<(), DriverError> {
        if !Arc::ptr_eq(context, stream.context()) {
            return Err(DriverError::INVALID_CONTEXT);
        }
        config.check()?;
        let (x, y, z) = config.block_dim;
        if x * y * z > max_threads {
            return Err(DriverError::INVALID_VALUE);
        }
        cuda_device::standin::run_grid(
            config.grid_dim,
            config.block_dim,
            kernel,
            memory::check_guards,
        );
        Ok(())
    }
}
