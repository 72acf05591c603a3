//! Mage: einsum notation to tiled GPU kernels.

pub use mage_codegen::pipeline;
