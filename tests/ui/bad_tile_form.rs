//! A tile has one extent or three.

mage::einsum_kernel!("ik,kj->ij", tile = (64, 64));

fn main() {}
