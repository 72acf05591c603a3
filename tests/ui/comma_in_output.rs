//! There is one output term.

mage::einsum_kernel!("ij,jk->i,k");

fn main() {}
