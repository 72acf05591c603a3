//! The host steps that every module begins with: extents within what coordinates hold, sizes
//! that do not overflow, buffers of exactly the right length, views within their buffers, and no
//! launch without an output.

use mage_einsum::index::{Extent, Layout, ModeId};

use super::builder::host_extent;
use super::names::Names;
use crate::kernel::{
    Arm, BufferId, BufferUse, HostError, HostExpr, HostPred, HostStep, IndexUse, Module,
};
use crate::schedule::{Launch, Schedule, Strategy};

/// Largest extent of a mode in a kernel with 32-bit coordinates: coordinates run up to one tile
/// past the extent, and a tile is far below 2^31.
pub const NARROW_COORDINATES: u64 = 1 << 31;

/// Largest extent of a label anywhere: one extent is below 2^32 (design.md, "Level 2").
const WIDE_COORDINATES: u64 = (1 << 32) - 1;

/// Bytes of a buffer are below this, so that byte offsets stay within `isize`, as pointer
/// arithmetic in Rust demands (`core::ptr`, `add`, "Safety").
const BUFFER_BYTES: u64 = 1 << 63;

/// The checks of a schedule, in the order in which they make each other meaningful.
pub fn checks(schedule: &Schedule, names: &Names, module: &Module) -> Vec<HostStep> {
    let mut steps = Vec::new();
    extents(schedule, module, names, &mut steps);
    for same in &schedule.program.same_extents {
        steps.push(HostStep::Require {
            that: HostPred::Equal(
                host_extent(&schedule.program, names, same.first),
                host_extent(&schedule.program, names, same.other),
            ),
            error: HostError::ExtentMismatch {
                first: names.labels_of(&schedule.program, same.first).start,
                other: names.labels_of(&schedule.program, same.other).start,
                buffer: BufferId(same.tensor.0),
            },
        });
    }
    for position in 0..module.buffers.len() {
        steps.extend(length(module, BufferId(position)));
    }
    let outputs: Vec<BufferId> = module.outputs().map(|(output, _)| output).collect();
    steps.extend(all_empty(module, &outputs).map(HostStep::ReturnIf));
    steps
}

/// When none of some buffers has an element; none where that is never so. One that is empty wherever
/// another of them is need not be looked at.
fn all_empty(module: &Module, buffers: &[BufferId]) -> Option<HostPred> {
    let mut looked_at: Vec<BufferId> = Vec::new();
    for buffer in buffers {
        if elems(module, *buffer).as_const().is_some_and(|number| number > 0) {
            return None;
        }
        if !looked_at.iter().any(|known| is_empty_with(module, *buffer, *known)) {
            looked_at.retain(|known| !is_empty_with(module, *known, *buffer));
            looked_at.push(*buffer);
        }
    }
    let mut preds: Vec<HostPred> =
        looked_at.into_iter().map(|buffer| HostPred::IsZero(elems(module, buffer))).collect();
    Some(if preds.len() == 1 { preds.remove(0) } else { HostPred::All(preds) })
}

/// Whether a buffer is empty wherever another one is: it has all dimensions of the other that can be
/// zero.
fn is_empty_with(module: &Module, buffer: BufferId, other: BufferId) -> bool {
    let dims = |buffer: BufferId| &module.buffers[buffer.0].dims;
    let can_be_zero = |label: &usize| module.extent(*label).as_const().is_none_or(|n| n == 0);
    let mut of_other = dims(other).iter().filter(|label| can_be_zero(label));
    of_other.all(|label| dims(buffer).contains(label))
}

/// The checks of one buffer's element count.
fn length(module: &Module, buffer: BufferId) -> Vec<HostStep> {
    if let Some(workspace) = module.workspace.as_ref().filter(|known| known.buffer == buffer) {
        let need = workspace.least_elems.clone();
        let require = HostStep::Require {
            that: HostPred::LengthAtLeast(buffer, need.clone()),
            error: HostError::WorkspaceTooShort { buffer, need },
        };
        return workspace.is_required().then_some(require).into_iter().collect();
    }
    if module.buffers[buffer.0].usage == BufferUse::Register {
        return Vec::new();
    }
    if module.buffers[buffer.0].parts.is_some() {
        // Their number follows from the extents, and there are few of them.
        return Vec::new();
    }
    if module.buffers[buffer.0].layout == Layout::Strided {
        return vec![HostStep::Require {
            that: HostPred::InBuffer(buffer),
            error: HostError::OutOfBuffer { buffer },
        }];
    }
    let mut steps = Vec::new();
    let elems = elems(module, buffer);
    let most_elems = BUFFER_BYTES / module.buffers[buffer.0].dtype.size_bytes() - 1;
    if elems.as_const().is_none_or(|number| number > most_elems) {
        steps.push(HostStep::Require {
            that: HostPred::AtMost(elems.clone(), most_elems),
            error: HostError::SizeOverflow { buffer },
        });
    }
    if module.buffers[buffer.0].usage != BufferUse::Temp {
        steps.push(HostStep::Require {
            that: HostPred::LengthIs(buffer, elems),
            error: HostError::LengthMismatch { buffer },
        });
    }
    steps.extend(
        module
            .index_requirement(buffer)
            .map(|that| HostStep::Require { that, error: HostError::IndexOutOfRange { buffer } }),
    );
    steps
}

/// The steps that start a launch, left out where nothing that they would write has elements. Where
/// no output has elements, that has ended `launch` before.
pub fn unless_empty(
    schedule: &Schedule,
    launch: &Launch,
    module: &Module,
    steps: Vec<HostStep>,
) -> Vec<HostStep> {
    let stored = schedule.stored(launch);
    let stored: Vec<BufferId> = stored.iter().map(|target| BufferId(target.tensor.0)).collect();
    let is_output = |buffer: &BufferId| module.buffers[buffer.0].usage.is_output();
    let has_ended = stored.iter().any(is_output)
        && module
            .outputs()
            .all(|(output, _)| stored.iter().any(|buffer| is_empty_with(module, output, *buffer)));
    match all_empty(module, &stored).filter(|_| !has_ended) {
        Some(empty) => vec![HostStep::Unless(empty, steps)],
        None => steps,
    }
}

fn extents(schedule: &Schedule, module: &Module, names: &Names, steps: &mut Vec<HostStep>) {
    let narrow =
        schedule.launches.iter().any(|launch| matches!(launch.strategy, Strategy::Tiled(_)));
    let limit = if narrow { NARROW_COORDINATES } else { WIDE_COORDINATES };
    for (label, declared) in module.labels.iter().enumerate() {
        if declared.extent == Extent::Runtime {
            steps.push(HostStep::Require {
                that: HostPred::AtMost(HostExpr::Extent(label), limit),
                error: HostError::ExtentLimit { label, limit },
            });
        }
    }
    for (position, mode) in schedule.program.modes.iter().enumerate() {
        if narrow && mode.parts.len() > 1 {
            let need = host_extent(&schedule.program, names, ModeId(position));
            let what = format!("merged extent {}", mode.name);
            steps.extend(require_limit(&what, need, NARROW_COORDINATES));
        }
    }
}

/// The element count of a buffer.
pub fn elems(module: &Module, buffer: BufferId) -> HostExpr {
    let dims = module.buffers[buffer.0].dims.iter();
    let extents = dims.map(|label| module.extent(*label));
    let product = HostExpr::product(module.buffers[buffer.0].parts.iter().cloned().chain(extents));
    match module.buffers[buffer.0].index {
        Some(IndexUse::Pointers { .. }) => HostExpr::sum([product, HostExpr::Const(1)]),
        Some(IndexUse::Below(_) | IndexUse::Parts { .. }) | None => product,
    }
}

/// The steps that take one of the arms: one arm needs no select.
pub fn selected(mut arms: Vec<Arm>) -> Vec<HostStep> {
    match arms.len() {
        1 => arms.remove(0).steps,
        _ => vec![HostStep::Select(arms)],
    }
}

/// The device's limit on the grid of a launch, which in a sequence is told apart by its target,
/// and in a family of tiles by the tile's size.
pub fn grid_limit(
    schedule: &Schedule,
    launch: &Launch,
    size: Option<&str>,
    blocks: &HostExpr,
) -> Option<HostStep> {
    let limit = u64::from(schedule.device.capability.grid_blocks);
    let size = size.map_or_else(String::new, |size| format!("{size} "));
    let what = match schedule.launches.len() {
        0 | 1 => format!("{size}blocks in the grid"),
        2.. => {
            let target = &schedule.program.tensor(schedule.target(launch).tensor).name;
            format!("{size}blocks in the grid of {target}")
        }
    };
    require_limit(&what, blocks.clone(), limit)
}

/// A launch limit on a value; nothing to check where the value is a number or one extent, which
/// stay below every limit by themselves.
pub fn require_limit(what: &str, need: HostExpr, limit: u64) -> Option<HostStep> {
    let is_small = need.as_const().is_some_and(|number| number <= limit);
    let is_extent = matches!(need, HostExpr::Extent(_));
    if is_small || is_extent && limit >= WIDE_COORDINATES {
        return None;
    }
    Some(HostStep::Require {
        that: HostPred::AtMost(need.clone(), limit),
        error: HostError::LaunchLimit { what: what.to_string(), need, limit },
    })
}
