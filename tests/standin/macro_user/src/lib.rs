//! A crate as a user writes it: kernels by Mage's macro, under its own feature `cuda-oxide`, over
//! the CPU stand-in. It denies every warning, and names things as users do.

#![deny(warnings, missing_docs, missing_debug_implementations, unreachable_pub)]

use mage::einsum_kernel;

einsum_kernel!("ik,kj->ij", tile = 32, name = matmul);
einsum_kernel!("ik,kj->ij", tile = 16);
einsum_kernel!("iI,Ij->ij", tile = 16, name = capitals,);
einsum_kernel!(r"ikc,jkc->ijc", tile = (16, 32, 4), name = triangle);
einsum_kernel!("ik,kj->ij", tile = 32, extents = (i = 64, j = 32, k = 48), name = fixed);
einsum_kernel!("ij,jk,kl->il", tile = 16, name = chain);
einsum_kernel!("ij,kj->ik", tile = 16, strides = runtime, name = strided);
