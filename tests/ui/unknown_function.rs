//! GELU without its form.

mage::einsum_kernel!("Y[i,j] = gelu(X[i,j] + b[j])");

fn main() {}
