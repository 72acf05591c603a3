//! Modes that always stand side by side become one: in `abk,kcd->abcd` the pairs `ab` and `cd`
//! are each one mode of a matmul. It holds for row-major tensors, whose adjacent dimensions are
//! one dimension of the product of their extents; modes of a strided tensor stay apart.

use super::{Access, Extent, Layout, Mode, ModeId, Program, Statement, TensorKind};

/// The same contraction over as few modes as its accesses allow.
pub fn merge(program: &Program) -> Program {
    let mut merged = program.clone();
    while let Some((outer, inner)) = mergeable_pair(&merged) {
        merged = fuse(&merged, outer, inner);
    }
    merged
}

fn accesses(statement: &Statement) -> Vec<&Access> {
    let mut accesses = statement.factors();
    accesses.push(&statement.target);
    accesses
}

fn mergeable_pair(program: &Program) -> Option<(ModeId, ModeId)> {
    let accesses: Vec<&Access> = program.statements.iter().flat_map(accesses).collect();
    let mut pairs = accesses.iter().flat_map(|access| access.modes.windows(2));
    let pair = pairs.find(|pair| is_mergeable(program, &accesses, pair[0], pair[1]))?;
    Some((pair[0], pair[1]))
}

/// Whether `inner` directly follows `outer` wherever either stands, with one role. Modes that are
/// tied to others through a tensor read twice stay apart, because the tie is between labels.
fn is_mergeable(program: &Program, accesses: &[&Access], outer: ModeId, inner: ModeId) -> bool {
    let stand_together = |access: &&Access| {
        let stands = |mode: ModeId| -> Vec<usize> {
            let dims = access.modes.iter().enumerate();
            dims.filter(|(_, found)| **found == mode).map(|(dim, _)| dim).collect()
        };
        match (stands(outer).as_slice(), stands(inner).as_slice()) {
            ([], []) => true,
            ([outer_dim], [inner_dim]) => {
                let layout = program.tensor(access.tensor).layout;
                outer_dim + 1 == *inner_dim && layout == Layout::RowMajor
            }
            (_, _) => false,
        }
    };
    let is_tied = tied(program).iter().any(|mode| *mode == outer || *mode == inner);
    let have_one_role = program.statements.iter().all(|s| s.role(outer) == s.role(inner));
    outer != inner && !is_tied && have_one_role && accesses.iter().all(stand_together)
}

/// Modes that are told apart by something else than accesses: a tie, an index operand, a segment.
fn tied(program: &Program) -> Vec<ModeId> {
    let ties = program.same_extents.iter().flat_map(|same| [same.first, same.other]);
    let of_tensor = program.tensors.iter().flat_map(|tensor| match tensor.kind {
        TensorKind::Indices { below: mode } | TensorKind::Pointers { into: mode } => {
            [tensor.dims.as_slice(), &[mode]].concat()
        }
        TensorKind::Input | TensorKind::Temp | TensorKind::Output => Vec::new(),
    });
    ties.chain(of_tensor).collect()
}

/// `outer` takes in `inner`; the modes after `inner` move up by one.
fn fuse(program: &Program, outer: ModeId, inner: ModeId) -> Program {
    let mut fused = program.clone();
    let absorbed = fused.modes.remove(inner.0);
    let outer_after = if inner < outer { outer.0 - 1 } else { outer.0 };
    let name = merged_name(program, outer, inner);
    let mode = &mut fused.modes[outer_after];
    mode.parts.extend(absorbed.parts);
    *mode = Mode {
        name,
        extent: Extent::product(mode.parts.iter().map(|part| part.extent)),
        parts: mode.parts.clone(),
    };
    let renumber = |modes: &[ModeId]| -> Vec<ModeId> {
        let kept = modes.iter().filter(|mode| **mode != inner);
        kept.map(|mode| if *mode > inner { ModeId(mode.0 - 1) } else { *mode }).collect()
    };
    for statement in &mut fused.statements {
        statement.target.modes = renumber(&statement.target.modes);
        statement.reduced = renumber(&statement.reduced);
        for access in statement.value.accesses_mut() {
            for gather in &mut access.gathers {
                let before = &access.modes[..gather.dim];
                gather.dim -= before.iter().filter(|mode| **mode == inner).count();
                gather.modes = renumber(&gather.modes);
            }
            access.modes = renumber(&access.modes);
        }
        if let Some(segment) = &mut statement.segment {
            segment.row = renumber(&[segment.row])[0];
        }
        statement.roles.retain(|(mode, _)| *mode != inner);
        for (mode, _) in &mut statement.roles {
            *mode = renumber(&[*mode])[0];
        }
    }
    for same in &mut fused.same_extents {
        let dims = &program.tensor(same.tensor).dims;
        same.dim -= dims[..same.dim].iter().filter(|mode| **mode == inner).count();
        same.first = renumber(&[same.first])[0];
        same.other = renumber(&[same.other])[0];
    }
    for tensor in &mut fused.tensors {
        tensor.dims = renumber(&tensor.dims);
        match &mut tensor.kind {
            TensorKind::Indices { below: mode } | TensorKind::Pointers { into: mode } => {
                *mode = renumber(&[*mode])[0];
            }
            TensorKind::Input | TensorKind::Temp | TensorKind::Output => {}
        }
    }
    fused
}

/// Single letters are joined as they are, longer names with `_`; a name that is taken gets one
/// more `_`.
fn merged_name(program: &Program, outer: ModeId, inner: ModeId) -> String {
    let are_letters =
        program.modes.iter().flat_map(|mode| &mode.parts).all(|part| part.label.len() == 1);
    let joint = if are_letters { "" } else { "_" };
    let mut name = format!("{}{joint}{}", program.mode(outer).name, program.mode(inner).name);
    while program.modes.iter().any(|mode| mode.name == name) {
        name.push('_');
    }
    name
}
