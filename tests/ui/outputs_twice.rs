//! An output that is named twice.

mage::einsum_kernel!("m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]", outputs = (Y, m, Y));

fn main() {}
