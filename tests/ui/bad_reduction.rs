//! An output mode that is summed.

mage::einsum_kernel!("C[i,j] = sum(k,j) A[i,k] * B[k,j]");

fn main() {}
