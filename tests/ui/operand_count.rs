//! One rank for two operands.

mage::einsum_kernel!("ik,kj->ij", ranks = 2);

fn main() {}
