//! The case of a label differs.

mage::einsum_kernel!("ik,kj->iJ");

fn main() {}
