//! A path that names an operand that is not left.

mage::einsum_kernel!("ij,jk,kl->il", path = ((0, 1), (0, 2)));

fn main() {}
