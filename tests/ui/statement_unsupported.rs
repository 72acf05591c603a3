//! A sum of terms.

mage::einsum_kernel!("Y[i,j] = X[i,j] + b[j]");

fn main() {}
