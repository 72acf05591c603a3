//! What each mode is to a statement. It is derived, so `lower`, `merge` and `verify` agree by
//! asking here.

use super::{Access, ModeId, Role, Segment};

/// The modes of a statement in order of first appearance in its factors, each with its role. The row
/// of a segment counts as a factor of its own.
///
/// With three factors or more a mode is free left if it is in the first of them and free right if
/// it is in a later one only, until a contraction path makes pairs of them.
pub(super) fn roles(
    target: &Access,
    factors: &[&Access],
    segment: Option<Segment>,
) -> Vec<(ModeId, Role)> {
    let mut factors: Vec<Vec<ModeId>> = factors.iter().map(|factor| factor.run_modes()).collect();
    factors.extend(segment.map(|segment| vec![segment.row]));
    let mut roles: Vec<(ModeId, Role)> = Vec::new();
    for &mode in factors.iter().flatten() {
        if !roles.iter().any(|(known, _)| *known == mode) {
            roles.push((mode, role(mode, target, &factors)));
        }
    }
    roles
}

fn role(mode: ModeId, target: &Access, factors: &[Vec<ModeId>]) -> Role {
    let n_with_mode = factors.iter().filter(|factor| factor.contains(&mode)).count();
    let is_in_first = factors.first().is_some_and(|factor| factor.contains(&mode));
    if !target.modes.contains(&mode) {
        return if n_with_mode >= 2 { Role::Contracted } else { Role::Reduced };
    }
    if factors.len() >= 2 && n_with_mode == factors.len() {
        Role::Batch
    } else if is_in_first {
        Role::FreeLeft
    } else {
        Role::FreeRight
    }
}
