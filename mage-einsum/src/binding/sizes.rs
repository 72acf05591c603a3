//! The checks on products of extents (rule R20), made where extents enter so that no later level
//! has to.

use super::Extents;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::{ModeId, Program};

/// One extent is below this (design: products of two fit 64 bits).
const EXTENT_LIMIT: u64 = 1 << 32;

/// A tensor has fewer bytes than this: offsets are signed on the CPU.
const TENSOR_BYTES_LIMIT: u64 = 1 << 63;

/// Returns `extents` if every extent, every tensor and every sum keeps its limit.
pub(super) fn checked(program: &Program, extents: Extents) -> Result<Extents, Diagnostics> {
    let mut mistakes: Vec<Diagnostic> = extents
        .iter()
        .filter(|(_, extent)| *extent >= EXTENT_LIMIT)
        .map(|(label, extent)| {
            overflow(format!("label `{label}` is {extent}, the limit is below 2^32"))
        })
        .collect();
    if mistakes.is_empty() {
        mistakes = products(program, &extents);
    }
    if mistakes.is_empty() { Ok(extents) } else { Err(Diagnostics(mistakes)) }
}

fn products(program: &Program, extents: &Extents) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    for tensor in &program.tensors {
        let n_elements = count(program, extents, &tensor.dims);
        let n_bytes = n_elements.and_then(|n| n.checked_mul(tensor.dtype.size_bytes()));
        if n_bytes.is_none_or(|n_bytes| n_bytes >= TENSOR_BYTES_LIMIT) {
            let name = &tensor.name;
            mistakes.push(overflow(format!("tensor `{name}` has 2^63 bytes or more")));
        }
    }
    for statement in &program.statements {
        if count(program, extents, &statement.reduced).is_none() {
            mistakes.push(overflow("the sum has 2^64 terms or more".to_owned()));
        }
    }
    mistakes
}

/// The product of the extents. A zero counts as one: the strides of an empty tensor are products
/// of its other extents, and they must fit too.
fn count(program: &Program, extents: &Extents, modes: &[ModeId]) -> Option<u64> {
    let parts = modes.iter().flat_map(|mode| &program.mode(*mode).parts);
    let mut sizes = parts.map(|part| extents.get(&part.label).unwrap_or(1).max(1));
    sizes.try_fold(1_u64, u64::checked_mul)
}

fn overflow(message: String) -> Diagnostic {
    Diagnostic::new(Code::SizeOverflow, message).help("give smaller extents")
}
