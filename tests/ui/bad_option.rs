//! An option that there is not, and one that there is.

mage::einsum_kernel!("ik,kj->ij", tiles = 64);

fn main() {}
