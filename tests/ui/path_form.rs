//! A path with a step of three operands.

mage::einsum_kernel!("ij,jk,kl->il", path = ((0, 1, 2)));

fn main() {}
