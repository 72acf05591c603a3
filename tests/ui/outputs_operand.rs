//! An operand that is named as an output.

mage::einsum_kernel!("m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]", outputs = (Y, X));

fn main() {}
