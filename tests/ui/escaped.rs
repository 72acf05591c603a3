//! With an escape in the literal its places are told in words.

mage::einsum_kernel!("ik,\tkj->ij");

fn main() {}
