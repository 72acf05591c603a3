//! A result that is neither read nor named.

mage::einsum_kernel!(
    "m[i] = mean(j) X[i,j]; v[i] = max(j) X[i,j]; Y[i,j] = X[i,j] - m[i]",
    outputs = (Y, m)
);

fn main() {}
