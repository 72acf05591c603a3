//! Strides that are written down, where only the launch can give them.

mage::einsum_kernel!("ik,kj->ij", strides = (1, 64));

fn main() {}
