//! An ellipsis that stands for a mode and is missing from the output.

mage::einsum_kernel!("...ik,kj->ij", ranks = (3, 2));

fn main() {}
