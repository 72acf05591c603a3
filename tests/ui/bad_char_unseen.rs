//! A zero-width space, as texts are pasted with.

mage::einsum_kernel!("ik,​kj->ij");

fn main() {}
