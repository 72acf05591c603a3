//! A rank that is not the number of labels.

mage::einsum_kernel!("...ik,kj->...ij", ranks = (3, 3));

fn main() {}
