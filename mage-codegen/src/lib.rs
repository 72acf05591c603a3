//! Levels 3 to 5 of Mage: the schedule, the kernel IR and the cuda-oxide source, with the device
//! models and the emulator. [`pipeline`] is the only file that names all five levels.

pub mod pipeline;
pub mod device;
pub mod fragment;
pub mod schedule;
pub mod kernel;
pub mod emulate;
pub mod emit;
pub mod expand;
