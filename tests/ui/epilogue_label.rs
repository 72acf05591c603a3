//! An operand of the epilogue with a label that the output lacks.

mage::einsum_kernel!("ik,kj->ij", epilogue = |acc, bias: k| acc + bias);

fn main() {}
