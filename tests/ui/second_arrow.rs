//! There is one output.

mage::einsum_kernel!("ij,jk->ik->i", tile = 64);

fn main() {}
