//! A tile has an extent.

mage::einsum_kernel!("ik,kj->ij", tile = 0);

fn main() {}
