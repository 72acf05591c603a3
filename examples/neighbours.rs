//! Weighted sums over the neighbours in a graph, and what each layer of a graph network does with
//! them next: LayerNorm. Two programs of statements, each run in the emulator and compared with
//! the oracle. The graph is a CSR matrix, whose indices are checked before anything runs.
//!
//! Run it with `cargo run --example neighbours`.

use std::error::Error;

use mage::fill::{Fill, fill};
use mage::ndarray::ArrayView;
use mage::tolerance;

mage::einsum_kernel!("Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]", name = neighbours);

mage::einsum_kernel!(
    "m[i] = mean(f) X[i,f]; \
     v[i] = mean(f) (X[i,f] - m[i])^2; \
     Y[i,f] = (X[i,f] - m[i]) * rsqrt(v[i] + 1e-5) * gain[f] + bias[f]",
    name = layer_norm
);

fn main() -> Result<(), Box<dyn Error>> {
    // The neighbours of node 0 are 1 and 2, node 1 has none, those of node 2 are 0, 1 and 2.
    let pointers = [0, 2, 2, 5];
    let sources = [1, 2, 0, 1, 2];
    let weights = [0.5, 0.25, 1.0, -1.0, 2.0];
    let features = fill(Fill::Normal, 0, 3 * 8);

    let extents = neighbours::Extents { i: 3, e: 5, f: 8, s: 3 };
    let sums = neighbours::emulate(&extents, &weights, &features, &pointers, &sources)?;
    let reference = neighbours::reference(
        ArrayView::from(&weights).into_dyn(),
        ArrayView::from_shape((3, 8), &features)?.into_dyn(),
        ArrayView::from(&pointers).into_dyn(),
        ArrayView::from(&sources).into_dyn(),
    )?;
    tell("neighbours", &tolerance::compare(&sums, &reference))?;

    let (gain, bias) = (fill(Fill::Normal, 1, 8), fill(Fill::Normal, 2, 8));
    let extents = layer_norm::Extents { i: 3, f: 8 };
    let normed = layer_norm::emulate(&extents, &sums, &gain, &bias)?;
    let reference = layer_norm::reference(
        ArrayView::from_shape((3, 8), &sums)?.into_dyn(),
        ArrayView::from(&gain).into_dyn(),
        ArrayView::from(&bias).into_dyn(),
    )?;
    tell("layer_norm", &tolerance::compare(&normed, &reference))?;

    // An edge from a node that there is not is refused before a kernel could follow it.
    let extents = neighbours::Extents { i: 3, e: 5, f: 8, s: 3 };
    let Err(refusal) =
        neighbours::emulate(&extents, &weights, &features, &pointers, &[1, 2, 0, 1, 3])
    else {
        return Err("an index beyond its extent was accepted".into());
    };
    println!("refused: {refusal}");
    Ok(())
}

fn tell(what: &str, comparison: &tolerance::Comparison) -> Result<(), Box<dyn Error>> {
    let tolerance::Comparison { compared, failures, worst_error, worst_bound, .. } = comparison;
    println!("{what}: {compared} elements, worst error {worst_error:.2e} of {worst_bound:.2e}");
    if comparison.passes() { Ok(()) } else { Err(format!("{failures} are wrong").into()) }
}
