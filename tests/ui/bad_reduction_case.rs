//! The sum has the label in the other case.

mage::einsum_kernel!("C[i] = sum(K) A[i,k]");

fn main() {}
