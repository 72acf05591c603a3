//! A word processor made a dash of the arrow.

mage::einsum_kernel!("ik,kj—>ij");

fn main() {}
