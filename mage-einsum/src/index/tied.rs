//! Modes that are tied: they index one dimension of a tensor that is read twice, and so must have
//! one extent. Lowering asks about fixed extents, binding about those of a run.

use super::{ModeId, Program};
use crate::diagnostic::{Code, Diagnostic};

/// Tied modes with different extents, where both are known.
pub(crate) fn unequal_extents(
    program: &Program,
    extent_of: impl Fn(ModeId) -> Option<u64>,
) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    for tie in &program.same_extents {
        let (Some(first), Some(other)) = (extent_of(tie.first), extent_of(tie.other)) else {
            continue;
        };
        if first != other {
            let (first_label, other_label) =
                (&program.mode(tie.first).name, &program.mode(tie.other).name);
            let message = format!(
                "label `{first_label}` is {first} but label `{other_label}` is {other}, and both \
                 index dimension {} of `{}`",
                tie.dim,
                program.tensor(tie.tensor).name
            );
            let mistake = Diagnostic::new(Code::ExtentMismatch, message);
            mistakes.push(mistake.help("give both labels one extent"));
        }
    }
    mistakes
}
