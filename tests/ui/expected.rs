//! A product without its mark.

mage::einsum_kernel!("C[i] = A[i] B[i]");

fn main() {}
