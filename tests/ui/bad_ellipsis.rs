//! Two dots.

mage::einsum_kernel!("..ik,kj->...ij", ranks = (3, 2));

fn main() {}
