//! Several outputs that are added to.

mage::einsum_kernel!(
    "m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]",
    outputs = (Y, m),
    accumulate = true
);

fn main() {}
