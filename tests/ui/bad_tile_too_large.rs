//! The stages of the tile do not fit shared memory.

mage::einsum_kernel!("ik,kj->ij", tile = (128, 128, 64));

fn main() {}
