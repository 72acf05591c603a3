//! A matrix product by the macro: the kernel runs in the emulator, the oracle says what is right,
//! and the two are compared element by element. On a GPU, `matmul::launch` would take its place.
//!
//! Run it with `cargo run --example matmul`.

use std::error::Error;

use mage::fill::{Fill, fill};
use mage::ndarray::{ArrayD, IxDyn};
use mage::tolerance;

mage::einsum_kernel!("ik,kj->ij", tile = 64, name = matmul);

fn main() -> Result<(), Box<dyn Error>> {
    // 65, 66 and 63 are no multiples of the tile, so every edge of it is used.
    let extents = matmul::Extents { i: 65, k: 66, j: 63 };
    let a = fill(Fill::Normal, 0, extents.i * extents.k);
    let b = fill(Fill::Normal, 1, extents.k * extents.j);

    let emulated = matmul::emulate(&extents, &a, &b)?;

    let a = ArrayD::from_shape_vec(IxDyn(&[extents.i, extents.k]), a)?;
    let b = ArrayD::from_shape_vec(IxDyn(&[extents.k, extents.j]), b)?;
    let reference = matmul::reference(a.view(), b.view())?;

    let comparison = tolerance::compare(&emulated, &reference);
    println!("{} elements compared", comparison.compared);
    println!("worst error {:.2e}", comparison.worst_error);
    println!("of {:.2e} allowed there", comparison.worst_bound);
    if !comparison.passes() {
        return Err(format!("{} elements are wrong", comparison.failures).into());
    }

    // A caller's mistake is an error that names the label or the operand, on a GPU as here.
    let Err(refusal) = matmul::emulate(&extents, &emulated, &[]) else {
        return Err("an operand without elements was accepted".into());
    };
    println!("refused: {refusal}");
    Ok(())
}
