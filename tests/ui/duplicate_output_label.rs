//! An output label stands once.

mage::einsum_kernel!("i->ii");

fn main() {}
