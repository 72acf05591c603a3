//! The notation is a literal.

mage::einsum_kernel!(matmul, tile = 64);

fn main() {}
