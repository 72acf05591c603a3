mage::einsum_kernel!("ik,kj->ij", dtype = f16, out = bf16);

fn main() {}
