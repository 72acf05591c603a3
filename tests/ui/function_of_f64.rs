//! A function that has no kernel for the type.

mage::einsum_kernel!("Y[i] = exp(X[i])", dtype = f64);

fn main() {}
