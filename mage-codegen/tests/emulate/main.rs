//! The emulator: values of hand-written kernels, and one planted fault for every rule it enforces.

mod build;
mod kernels;
mod neighbours;
mod values;
mod faults;
mod host;
mod strided;
mod indices;
mod counts;
mod verify;
