//! A digit is no label.

mage::einsum_kernel!("i1,1j->ij");

fn main() {}
