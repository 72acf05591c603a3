//! The ranks of the operands are not known here.

mage::einsum_kernel!("...k,kj->...j");

fn main() {}
