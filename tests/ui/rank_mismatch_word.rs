//! A word is as many labels as it has letters.

mage::einsum_kernel!("batch i,i j->batch j", ranks = (2, 2));

fn main() {}
