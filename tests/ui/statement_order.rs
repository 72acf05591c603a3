//! A result that nothing reads.

mage::einsum_kernel!("m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] * g[j]");

fn main() {}
