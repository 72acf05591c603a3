//! There are no kernels of this type.

mage::einsum_kernel!("ik,kj->ij", dtype = f64);

fn main() {}
