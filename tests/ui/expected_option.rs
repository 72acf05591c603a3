//! A tile as people say it.

mage::einsum_kernel!("ik,kj->ij", tile = 64x64);

fn main() {}
