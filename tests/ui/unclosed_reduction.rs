//! The sum has no end.

mage::einsum_kernel!("C[i,j] = sum(k A[i,k] * B[k,j]");

fn main() {}
