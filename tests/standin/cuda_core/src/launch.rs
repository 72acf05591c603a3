//! The launch configuration and the limits that the driver checks it against.

use crate::DriverError;

/// Grid, block and dynamic shared memory of one launch.
#[derive(Clone, Copy, Debug)]
pub struct LaunchConfig {
    /// Blocks, by `(x, y, z)`.
    pub grid_dim: (u32, u32, u32),
    /// Threads of a block, by `(x, y, z)`.
    pub block_dim: (u32, u32, u32),
    /// Dynamic shared memory of a block, in bytes.
    pub shared_mem_bytes: u32,
}

impl LaunchConfig {
    /// Refuses what the driver refuses.
    ///
    /// The limits are those of compute capability 8.9 and 9.0: CUDA C++ Programming Guide, table
    /// "Technical Specifications per Compute Capability".
    pub fn check(&self) -> Result<(), DriverError> {
        let within = |(x, y, z): (u32, u32, u32), limit: (u32, u32, u32)| {
            (1..=limit.0).contains(&x) && (1..=limit.1).contains(&y) && (1..=limit.2).contains(&z)
        };
        let (x, y, z) = self.block_dim;
        let n_threads = u64::from(x) * u64::from(y) * u64::from(z);
        let fits = within(self.grid_dim, (0x7fff_ffff, 65_535, 65_535))
            && within(self.block_dim, (1024, 1024, 64))
            && n_threads <= 1024
            && self.shared_mem_bytes <= 48 * 1024;
        if fits { Ok(()) } else { Err(DriverError::INVALID_VALUE) }
    }
}
