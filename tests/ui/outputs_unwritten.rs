//! An output that no statement writes.

mage::einsum_kernel!("m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]", outputs = (Y, v));

fn main() {}
