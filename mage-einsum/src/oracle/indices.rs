//! Whether index operands are what they must be, so that what is evaluated stays in its arrays.

use ndarray::ArrayViewD;

use crate::binding::Extents;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::{Program, TensorKind};

/// Checks every index operand, in their order.
pub(super) fn check(
    program: &Program,
    extents: &Extents,
    indices: &[ArrayViewD<'_, u32>],
) -> Result<(), Diagnostics> {
    let operands = program.tensors.iter().filter(|tensor| tensor.kind.is_index());
    let mut mistakes = Vec::new();
    for (tensor, values) in operands.zip(indices) {
        let problem = match tensor.kind {
            TensorKind::Indices { below } => {
                let mode = program.mode(below);
                beyond(values, extents.of_mode(mode), &mode.name)
            }
            TensorKind::Pointers { into } => {
                let mode = program.mode(into);
                disorder(values, extents.of_mode(mode), &mode.name)
            }
            TensorKind::Input | TensorKind::Temp | TensorKind::Output => None,
        };
        mistakes.extend(problem.map(|problem| {
            let message = format!("index operand `{}` {problem}", tensor.name);
            let mistake = Diagnostic::new(Code::IndexOutOfRange, message);
            let mistake = mistake.place(format!("operand `{}`", tensor.name));
            mistake.help("correct the index operand; nothing is clamped or wrapped")
        }));
    }
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}

fn beyond(values: &ArrayViewD<'_, u32>, extent: u64, label: &str) -> Option<String> {
    let (at, value) = values.iter().enumerate().find(|(_, value)| u64::from(**value) >= extent)?;
    Some(format!("is {value} at {at}, but label `{label}` is {extent}"))
}

/// Row pointers begin at 0, never fall, and end at the extent.
fn disorder(values: &ArrayViewD<'_, u32>, extent: u64, label: &str) -> Option<String> {
    let values: Vec<u32> = values.iter().copied().collect();
    if let Some(first) = values.first().filter(|first| **first != 0) {
        return Some(format!("begins at {first}, not at 0"));
    }
    if let Some(at) = values.windows(2).position(|pair| pair[1] < pair[0]) {
        return Some(format!("falls from {} to {} at {}", values[at], values[at + 1], at + 1));
    }
    let last = values.last().copied().unwrap_or(0);
    (u64::from(last) != extent).then(|| format!("ends at {last}, but label `{label}` is {extent}"))
}
