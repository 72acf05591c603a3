//! Program to program: modes that index one dimension of a tensor read twice have one extent, so
//! that where no statement runs over both, the first can stand for the other. In
//! `Y[i,j] = exp(X[i,j] - max(l) X[i,l])` the maximum then runs over `j`, as the row does.

use super::roles::roles;
use super::{ModeId, Program, Statement, TensorKind};

/// The same program with as few tied modes in its statements as they allow. The ties stay, for
/// whoever binds the extents.
pub fn unify(program: &Program) -> Program {
    let mut unified = program.clone();
    for same in &program.same_extents {
        if can_stand_for(&unified, same.first, same.other) {
            replace(&mut unified, same.first, same.other);
        }
    }
    unified
}

fn uses(statement: &Statement, mode: ModeId) -> bool {
    let hidden = statement.value.accesses().into_iter().flat_map(|access| &access.modes);
    statement.role(mode).is_some() || hidden.into_iter().any(|found| *found == mode)
}

/// No statement uses both, and what the caller knows by the other mode is left alone.
fn can_stand_for(program: &Program, first: ModeId, other: ModeId) -> bool {
    let use_both = |statement: &Statement| uses(statement, first) && uses(statement, other);
    let is_known = program.tensors.iter().any(|tensor| match tensor.kind {
        TensorKind::Output => tensor.dims.contains(&other),
        TensorKind::Indices { below: mode } | TensorKind::Pointers { into: mode } => {
            mode == other || tensor.dims.contains(&other)
        }
        TensorKind::Input | TensorKind::Temp => false,
    });
    !is_known && !program.statements.iter().any(use_both)
}

fn replace(program: &mut Program, first: ModeId, other: ModeId) {
    let renamed = |modes: &mut Vec<ModeId>| {
        modes.iter_mut().filter(|mode| **mode == other).for_each(|mode| *mode = first);
    };
    for tensor in program.tensors.iter_mut().filter(|tensor| tensor.kind == TensorKind::Temp) {
        renamed(&mut tensor.dims);
    }
    for statement in &mut program.statements {
        renamed(&mut statement.target.modes);
        renamed(&mut statement.reduced);
        for access in statement.value.accesses_mut() {
            renamed(&mut access.modes);
        }
        statement.roles = roles(&statement.target, &statement.value.accesses(), statement.segment);
    }
}
