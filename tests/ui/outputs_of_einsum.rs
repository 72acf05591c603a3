//! The output of a classic einsum has the name `out`.

mage::einsum_kernel!("ik,kj->ij", outputs = C);

fn main() {}
