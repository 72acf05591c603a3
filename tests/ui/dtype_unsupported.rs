//! There are no kernels of this type.

mage::einsum_kernel!("ik,kj->ij", dtype = i64);

fn main() {}
