//! Whether index operands are what the module says, as the handles of the source check it before
//! anything is launched. The words are those of the oracle.

use mage_einsum::diagnostic::Code;

use super::HostFailure;
use super::arguments::Arguments;
use super::facts::Facts;
use crate::kernel::{BufferId, BufferUse, IndexUse};

/// Checks every index buffer, in their order.
pub(super) fn check(facts: &Facts<'_>, arguments: &Arguments<'_>) -> Result<(), HostFailure> {
    let buffers = facts.module.buffers.iter().enumerate();
    let buffers = buffers.filter(|(_, buffer)| buffer.usage == BufferUse::Index);
    for ((position, buffer), values) in buffers.zip(arguments.indices) {
        let bound = facts.bound(BufferId(position)).unwrap_or(0);
        let name =
            |label: usize| facts.module.labels.get(label).map_or("?", |label| label.name.as_str());
        let wrong = match buffer.index {
            Some(IndexUse::Below(label)) => beyond(values, bound, name(label)),
            Some(IndexUse::Pointers { into }) => disorder(values, bound, name(into)),
            Some(IndexUse::Parts { .. }) | None => None,
        };
        if let Some(what) = wrong {
            let message = format!("index operand `{}` {what}", buffer.name);
            return Err(HostFailure { code: Code::IndexOutOfRange, message });
        }
    }
    Ok(())
}

fn beyond(values: &[u32], extent: u64, label: &str) -> Option<String> {
    let at = values.iter().position(|value| u64::from(*value) >= extent)?;
    Some(format!("is {} at {at}, but label `{label}` is {extent}", values[at]))
}

/// Row pointers begin at 0, never fall, and end at the extent.
pub(super) fn disorder(values: &[u32], extent: u64, label: &str) -> Option<String> {
    if let Some(first) = values.first().filter(|first| **first != 0) {
        return Some(format!("begins at {first}, not at 0"));
    }
    if let Some(at) = values.windows(2).position(|pair| pair[1] < pair[0]) {
        return Some(format!("falls from {} to {} at {}", values[at], values[at + 1], at + 1));
    }
    let last = values.last().map_or(0, |last| u64::from(*last));
    (last != extent).then(|| format!("ends at {last}, but label `{label}` is {extent}"))
}
