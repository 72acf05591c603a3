//! Which statements go on with the results of a launch while they are in registers.

use std::ops::{Range, RangeInclusive};

use mage_einsum::index::{Access, Program, Statement, TensorId, TensorKind};

use super::choose_rows::is_closed;
use super::{Epilogue, Launch, Reason, Resources, Strategy, Tiled};
use crate::device::Device;

/// Takes the statements after a launch that are computed from each of its results alone and from
/// operands beside it.
pub fn choose_epilogue(program: &Program, launch: &mut Launch) {
    let passes = match launch.strategy {
        Strategy::Tiled(_)
        | Strategy::Reduction(_)
        | Strategy::Segments(_)
        | Strategy::PerOutput(_) => Passes::Temporaries,
        Strategy::Elementwise(_) if program.tensors_of(TensorKind::Output).count() > 1 => {
            Passes::Outputs
        }
        Strategy::Elementwise(_) => Passes::Temporaries,
        Strategy::Transpose(_) => return,
        Strategy::Rows(_) => {
            launch.reasons.extend(outputs_reason(program, launch));
            return;
        }
    };
    let first = launch.last;
    launch.last = last_of(program, launch.statement, passes);
    let inner = first..launch.last;
    let names = names(program, inner, TensorKind::Temp);
    launch.reasons.extend((!names.is_empty()).then(|| {
        Reason {
            decision: format!("{names} in registers"),
            because: "what follows is computed from each of its elements alone, so it need not go \
                  through memory"
                .to_string(),
        }
    }));
    launch.reasons.extend(outputs_reason(program, launch));
}

/// Which results a launch can go on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Passes {
    /// Those that the next statement alone reads, and that need not be stored.
    Temporaries,
    /// All results, of which it stores outputs on the way.
    Outputs,
}

/// The last of the statements that go on with the results of statement `first`.
fn last_of(program: &Program, first: usize, passes: Passes) -> usize {
    let mut last = first;
    let goes_on = |last, next| goes_on(program, first..=last, next, passes);
    while program.statements.get(last + 1).is_some_and(|next| goes_on(last, next)) {
        last += 1;
    }
    while last > first && !is_closed(program, first, last) {
        last -= 1;
    }
    last
}

/// The targets of one kind that some statements write, quoted.
fn names(program: &Program, statements: Range<usize>, kind: TensorKind) -> String {
    let targets = statements.map(|at| program.tensor(program.statements[at].target.tensor));
    let of_kind = targets.filter(|tensor| tensor.kind == kind);
    of_kind.map(|tensor| format!("`{}`", tensor.name)).collect::<Vec<_>>().join(", ")
}

/// Outputs on the way, and an output that ends a launch which could go on with a temporary.
fn outputs_reason(program: &Program, launch: &Launch) -> Option<Reason> {
    let stored = names(program, launch.statement..launch.last, TensorKind::Output);
    if !stored.is_empty() {
        return Some(Reason {
            decision: format!("{stored} stored on the way"),
            because: "what follows reads the registers, and the caller the buffer".to_string(),
        });
    }
    let ends = match launch.strategy {
        Strategy::Rows(_) | Strategy::Transpose(_) | Strategy::Elementwise(_) => false,
        Strategy::Tiled(_)
        | Strategy::Reduction(_)
        | Strategy::Segments(_)
        | Strategy::PerOutput(_) => last_of(program, launch.last, Passes::Outputs) > launch.last,
    };
    ends.then(|| Reason {
        decision: format!(
            "{} in memory",
            names(program, launch.last..launch.last + 1, TensorKind::Output)
        ),
        because: "it is an output, and this kernel stores what it ends with alone; what follows \
                  reads it from there"
            .to_string(),
    })
}

/// What the statements that go on with the results of statement `first` read beside them.
pub fn beside(program: &Program, first: usize) -> Vec<&Access> {
    let last = last_of(program, first, Passes::Temporaries);
    let statements = &program.statements[first..=last];
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
fn goes_on(
    program: &Program,
    launch: RangeInclusive<usize>,
    next: &Statement,
    passes: Passes,
) -> bool {
    let last = *launch.end();
    let target = &program.statements[last].target;
    let within: Vec<TensorId> = launch.map(|at| program.statements[at].target.tensor).collect();
    let is_elementwise = next.reduced.is_empty() && next.target.modes == target.modes;
    let reads = next.factors();
    let reads_results_alone = reads.iter().all(|access| {
        access.gathers.is_empty()
            && (!within.contains(&access.tensor) || access.modes == target.modes)
    });
    let reads_one =
        |results: &[TensorId]| reads.iter().any(|access| results.contains(&access.tensor));
    let is_read_later = |tensor: &TensorId| {
        let later = program.statements[last + 1..].iter();
        let mut later = later.filter(|statement| statement.target != next.target);
        later.any(|statement| statement.factors().iter().any(|access| access.tensor == *tensor))
    };
    let passes_on = match passes {
        Passes::Outputs => reads_one(&within),
        Passes::Temporaries => {
            program.tensor(target.tensor).kind == TensorKind::Temp
                && reads_one(&[target.tensor])
                && !within.iter().any(is_read_later)
        }
    };
    is_elementwise && reads_results_alone && passes_on
}
