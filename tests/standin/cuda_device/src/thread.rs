//! What a thread knows of itself, and the barrier of its block.

use std::panic::Location;

use crate::standin;

macro_rules! coordinates {
    ($($name:ident $of:ident $axis:tt $meaning:literal)+) => { $(
        #[doc = $meaning]
        #[allow(non_snake_case)]
        pub fn $name() -> u32 {
            standin::current().$of.$axis
        }
    )+ };
}
coordinates! {
    threadIdx_x thread 0 "The thread's place in its block, along x."
    threadIdx_y thread 1 "The thread's place in its block, along y."
    threadIdx_z thread 2 "The thread's place in its block, along z."
    blockIdx_x block 0 "The block's place in the grid, along x."
    blockIdx_y block 1 "The block's place in the grid, along y."
    blockIdx_z block 2 "The block's place in the grid, along z."
    blockDim_x block_dim 0 "Threads of a block, along x."
    blockDim_y block_dim 1 "Threads of a block, along y."
    blockDim_z block_dim 2 "Threads of a block, along z."
    gridDim_x grid_dim 0 "Blocks of the grid, along x."
    gridDim_y grid_dim 1 "Blocks of the grid, along y."
    gridDim_z grid_dim 2 "Blocks of the grid, along z."
}

/// Waits until every thread of the block has come here.
///
/// The source location tells one barrier from another, so that threads waiting at two barriers are a fault.
#[track_caller]
pub fn sync_threads() {
    standin::wait_at(Location::caller());
}
