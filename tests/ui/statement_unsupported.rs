//! A power that is no product.

mage::einsum_kernel!("Y[i] = X[i]^1.5");

fn main() {}
