//! A write through an index.

mage::einsum_kernel!("Y[s[e],f] = X[e,f]");

fn main() {}
