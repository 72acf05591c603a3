//! Mistakes in the notation and in the options are told together.

mage::einsum_kernel!("ik,kj->iq", tile = big);

fn main() {}
