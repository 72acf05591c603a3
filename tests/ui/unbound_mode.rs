//! A mode that is neither in the output nor summed.

mage::einsum_kernel!("C[i,j] = A[i,k] * B[k,j]");

fn main() {}
