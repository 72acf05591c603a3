//! Two modules of one name.

mage::einsum_kernel!("ik,kj->ij", tile = 16, name = matmul);
mage::einsum_kernel!("ki,kj->ij", tile = 16, name = matmul);

fn main() {}
