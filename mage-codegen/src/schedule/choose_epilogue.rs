//! Which statements go on with the results of a launch while they are in registers.

use std::ops::RangeInclusive;

use mage_einsum::index::{Access, Program, Statement, TensorId, TensorKind};

use super::{Epilogue, Launch, Reason, Resources, Strategy, Tiled};
use crate::device::Device;

/// Takes the statements after a launch that are computed from each of its results alone and from
/// operands beside it.
pub fn choose_epilogue(program: &Program, launch: &mut Launch) {
    match launch.strategy {
        Strategy::Tiled(_)
        | Strategy::Reduction(_)
        | Strategy::Segments(_)
        | Strategy::Elementwise(_)
        | Strategy::PerOutput(_) => {}
        Strategy::Transpose(_) | Strategy::Rows(_) => return,
    }
    let first = launch.last;
    launch.last = last_of(program, launch.statement);
    if launch.last == first {
        return;
    }
    let written = (first..launch.last).map(|at| program.statements[at].target.tensor);
    let names: Vec<String> =
        written.map(|tensor| format!("`{}`", program.tensor(tensor).name)).collect();
    launch.reasons.push(Reason {
        decision: format!("{} in registers", names.join(", ")),
        because: "what follows is computed from each of its elements alone, so it need not go \
                  through memory"
            .to_string(),
    });
}

/// The last of the statements that go on with the results of statement `first`.
fn last_of(program: &Program, first: usize) -> usize {
    let mut last = first;
    while program.statements.get(last + 1).is_some_and(|next| goes_on(program, first..=last, next))
    {
        last += 1;
    }
    last
}

/// What the statements that go on with the results of statement `first` read beside them.
pub fn beside(program: &Program, first: usize) -> Vec<&Access> {
    let statements = &program.statements[first..=last_of(program, first)];
    let written = |access: &Access| {
        statements.iter().any(|statement| statement.target.tensor == access.tensor)
    };
    let mut reads: Vec<&Access> = Vec::new();
    for access in statements[1..].iter().flat_map(Statement::factors) {
        if !written(access) && !reads.contains(&access) {
            reads.push(access);
        }
    }
    reads
}

/// Those of `beside` that the rows of a tile share, as far as their stage takes no block from a
/// multiprocessor.
pub fn staged(beside: &[&Access], tiled: &Tiled, device: &Device) -> Vec<Access> {
    if tiled.epilogue != Epilogue::Direct || tiled.threads.fragments {
        return Vec::new();
    }
    let is_shared =
        |access: &&&Access| access.modes == [tiled.col.mode] && access.gathers.is_empty();
    let beside = beside.iter().filter(is_shared).map(|access| (*access).clone()).collect();
    let staged = Tiled { beside, ..tiled.clone() };
    let blocks = |tiled: &Tiled| Resources::of(tiled, device).residency.blocks;
    let fits = staged.shared_bytes() <= device.capability.static_shared_bytes;
    if fits && blocks(&staged) == blocks(tiled) { staged.beside } else { Vec::new() }
}

/// Whether a statement has one value for each result of the launch, made of that result and of
/// operands that are there before.
fn goes_on(program: &Program, launch: RangeInclusive<usize>, next: &Statement) -> bool {
    let last = *launch.end();
    let target = &program.statements[last].target;
    let within: Vec<TensorId> = launch.map(|at| program.statements[at].target.tensor).collect();
    let last_is_inner = program.tensor(target.tensor).kind == TensorKind::Temp;
    let is_elementwise = next.reduced.is_empty() && next.target.modes == target.modes;
    let reads = next.factors();
    let reads_results_alone = reads.iter().all(|access| {
        access.gathers.is_empty()
            && (!within.contains(&access.tensor) || access.modes == target.modes)
    });
    let reads_last = reads.iter().any(|access| access.tensor == target.tensor);
    let is_read_later = |tensor: &TensorId| {
        let later = program.statements[last + 1..].iter();
        let mut later = later.filter(|statement| statement.target != next.target);
        later.any(|statement| statement.factors().iter().any(|access| access.tensor == *tensor))
    };
    last_is_inner
        && is_elementwise
        && reads_results_alone
        && reads_last
        && !within.iter().any(is_read_later)
}
