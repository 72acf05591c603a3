//! An extent of 2^32.

mage::einsum_kernel!("ik,kj->ij", extents = (k = 4294967296));

fn main() {}
