//! A module cannot have this name.

mage::einsum_kernel!("ik,kj->ij", name = match);

fn main() {}
