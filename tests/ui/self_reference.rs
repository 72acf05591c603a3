//! An output that is read.

mage::einsum_kernel!("A[i] = A[i] * B[i]");

fn main() {}
