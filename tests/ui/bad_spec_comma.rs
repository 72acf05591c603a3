//! There is no comma after the literal.

mage::einsum_kernel!("ik,kj->ij" tile = 64);

fn main() {}
