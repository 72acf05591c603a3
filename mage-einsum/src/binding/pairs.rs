//! Extents from named numbers, as in a spec file's `run: i=65 j=63`.

use super::bind::{Bindings, Origin};
use super::{Extents, sizes};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::{Program, unequal_extents};

/// Binds every label of `program` from `pairs`.
pub(super) fn bind(program: &Program, pairs: &[(String, u64)]) -> Result<Extents, Diagnostics> {
    let labels: Vec<&str> =
        program.modes.iter().flat_map(|mode| &mode.parts).map(|part| part.label.as_str()).collect();
    let mut bindings = Bindings::new(program);
    let mut mistakes = Vec::new();
    for (given, extent) in pairs {
        match labels.iter().find(|label| *label == given) {
            Some(label) => bindings.bind(label, *extent, Origin::Given),
            None => mistakes.push(no_label(given, &labels)),
        }
    }
    let unbound = labels.iter().filter(|label| bindings.get(label).is_none());
    mistakes.extend(unbound.map(|label| {
        let message = format!("label `{label}` has no extent");
        Diagnostic::new(Code::UnboundExtent, message).help(format!("give one, as in `{label}=64`"))
    }));
    mistakes.extend(std::mem::take(&mut bindings.mistakes).into_values());
    if mistakes.is_empty() {
        mistakes.extend(unequal_extents(program, |mode| bindings.get(&program.mode(mode).name)));
    }
    if mistakes.is_empty() {
        return sizes::checked(program, bindings.finish());
    }
    Err(Diagnostics(mistakes))
}

fn no_label(given: &str, labels: &[&str]) -> Diagnostic {
    let message = format!("an extent is given for `{given}`, which is no label");
    let mistake = Diagnostic::new(Code::UnboundExtent, message);
    mistake.help(format!("the labels are: {}", labels.join(", ")))
}
