//! What the host must find before accesses may be several elements wide.

use mage_einsum::index::{Access, Layout, Program, TensorId};

use super::builder::{buffer, host_extent};
use super::names::Names;
use super::total::Partial;
use crate::kernel::{BufferId, HostPred, Module};
use crate::schedule::{Launch, Schedule, lies_along};

/// A wide access needs its address to be a multiple of its bytes: the buffer's start is, every
/// position along the last mode is a multiple of so many elements, and so is every other stride. Row-major
/// strides are when the last extent is; others are looked at, and the last must be 1. A temporary
/// starts as well aligned as the workspace. A sum in parts writes partial sums in its output's
/// place.
pub fn eligible(
    program: &Program,
    names: &Names,
    module: &Module,
    (wide, partial): (&[(&Access, u32)], Option<&Partial>),
) -> HostPred {
    let mut all: Vec<HostPred> = Vec::new();
    let accessed = |access: &Access| match partial {
        Some(partial) if partial.target == access.tensor => partial.sums,
        Some(_) | None => buffer(access),
    };
    let preds = wide.iter().flat_map(|(access, elems)| {
        of_access(program, names, module, (access, accessed(access)), u64::from(*elems))
    });
    for pred in preds {
        if !all.contains(&pred) {
            all.push(pred);
        }
    }
    HostPred::All(all)
}

/// The operands of a launch's later statements that are loaded as wide as results are stored: those
/// that lie along the target's last mode.
pub fn beside<'p>(schedule: &'p Schedule, launch: &Launch) -> Vec<&'p Access> {
    let target = schedule.target(launch);
    let statements = &schedule.program.statements;
    let written: Vec<TensorId> =
        launch.statements().map(|position| statements[position].target.tensor).collect();
    let later = launch.statements().skip(1);
    let read = later.flat_map(|position| statements[position].factors());
    let is_wide = |access: &&Access| {
        let is_row_major = schedule.program.tensor(access.tensor).layout == Layout::RowMajor;
        !written.contains(&access.tensor)
            && target.modes.last().is_some_and(|mode| lies_along(access, *mode))
            && is_row_major
    };
    read.filter(is_wide).collect()
}

fn of_access(
    program: &Program,
    names: &Names,
    module: &Module,
    (access, buffer): (&Access, BufferId),
    elems: u64,
) -> Vec<HostPred> {
    let bytes = elems * module.buffers[buffer.0].dtype.size_bytes();
    let aligned = HostPred::AlignedTo(module.memory_of(buffer), bytes);
    let Some((last, others)) = access.modes.split_last() else {
        return vec![aligned];
    };
    let multiple = HostPred::MultipleOf(host_extent(program, names, *last), elems);
    let strides = match program.tensor(access.tensor).layout {
        Layout::RowMajor => Vec::new(),
        Layout::Strided => {
            let unit = HostPred::UnitStride(buffer, others.len());
            let others = 0..others.len();
            let multiples = others.map(|dim| HostPred::StrideMultipleOf(buffer, dim, elems));
            [unit].into_iter().chain(multiples).collect()
        }
    };
    [multiple, aligned].into_iter().chain(strides).collect()
}
