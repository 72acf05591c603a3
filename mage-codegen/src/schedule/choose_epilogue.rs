//! Which statements go on with the results of a launch while they are in registers.

use mage_einsum::index::{Program, Statement, TensorId, TensorKind};

use super::{Launch, Reason, Strategy};

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
    while program.statements.get(launch.last + 1).is_some_and(|next| goes_on(program, launch, next))
    {
        launch.last += 1;
    }
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

/// Whether a statement has one value for each result of the launch, made of that result and of
/// operands that are there before.
fn goes_on(program: &Program, launch: &Launch, next: &Statement) -> bool {
    let target = &program.statements[launch.last].target;
    let within: Vec<TensorId> =
        launch.statements().map(|at| program.statements[at].target.tensor).collect();
    let last_is_inner = program.tensor(target.tensor).kind == TensorKind::Temp;
    let is_elementwise = next.reduced.is_empty() && next.target.modes == target.modes;
    let reads = next.factors();
    let reads_results_alone = reads.iter().all(|access| {
        access.gathers.is_empty()
            && (!within.contains(&access.tensor) || access.modes == target.modes)
    });
    let reads_last = reads.iter().any(|access| access.tensor == target.tensor);
    let is_read_later = |tensor: &TensorId| {
        let later = program.statements[launch.last + 1..].iter();
        let mut later = later.filter(|statement| statement.target != next.target);
        later.any(|statement| statement.factors().iter().any(|access| access.tensor == *tensor))
    };
    last_is_inner
        && is_elementwise
        && reads_results_alone
        && reads_last
        && !within.iter().any(is_read_later)
}
