//! The case of a fixed label differs.

mage::einsum_kernel!("ik,kj->ij", extents = (K = 64));

fn main() {}
