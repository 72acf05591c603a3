//! Two extents of one dimension.

mage::einsum_kernel!("C[i,k] = A[i] * A[k]", extents = (i = 2, k = 3));

fn main() {}
