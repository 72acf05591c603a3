//! Indices that are values, too.

mage::einsum_kernel!("Y[e] = s[e] * X[s[e]]");

fn main() {}
