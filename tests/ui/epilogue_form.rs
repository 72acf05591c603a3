//! An epilogue that is no closure.

mage::einsum_kernel!("ik,kj->ij", epilogue = gelu_tanh);

fn main() {}
