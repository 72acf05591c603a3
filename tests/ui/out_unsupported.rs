//! The output has the type of the operands or of their sums.

mage::einsum_kernel!("ik,kj->ij", dtype = f16, out = bf16);

fn main() {}
