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
        mistakes.extend(product(program, &extents));
    }
    if mistakes.is_empty() { Ok(extents) } else { Err(Diagnostics(mistakes)) }
}

/// The first product that does not fit. Others of the same extents would be consequences.
fn product(program: &Program, extents: &Extents) -> Option<Diagnostic> {
    for tensor in &program.tensors {
        let n_elements = count(program, extents, &tensor.dims);
        let elem_bytes = tensor.dtype.size_bytes();
        let n_bytes = n_elements.and_then(|n| n.checked_mul(elem_bytes));
        if n_bytes.is_none_or(|n_bytes| n_bytes >= TENSOR_BYTES_LIMIT) {
            let (name, sizes) = (&tensor.name, written(program, extents, &tensor.dims));
            return Some(overflow(format!(
                "tensor `{name}` has {sizes} elements of {elem_bytes} bytes, the limit is below \
                 2^63 bytes"
            )));
        }
    }
    let too_long = program
        .statements
        .iter()
        .find(|statement| count(program, extents, &statement.reduced).is_none())?;
    let sizes = written(program, extents, &too_long.reduced);
    Some(overflow(format!("the sum has {sizes} terms, the limit is below 2^64")))
}

/// `i*k = 8*16`.
fn written(program: &Program, extents: &Extents, modes: &[ModeId]) -> String {
    let parts: Vec<&str> = modes
        .iter()
        .flat_map(|mode| &program.mode(*mode).parts)
        .map(|part| part.label.as_str())
        .collect();
    let sizes: Vec<String> = parts
        .iter()
        .map(|label| extents.get(label).map_or("?".to_owned(), |extent| extent.to_string()))
        .collect();
    format!("{} = {}", parts.join("*"), sizes.join("*"))
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
