//! Labels alone are indices.

mage::einsum_kernel!("C[i] = A[i+1]");

fn main() {}
