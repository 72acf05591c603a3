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
    let mut misspelt = Vec::new();
    for (given, extent) in pairs {
        match labels.iter().find(|label| *label == given) {
            Some(label) => bindings.bind(label, *extent, Origin::Given),
            None => {
                let meant = labels.iter().find(|label| label.eq_ignore_ascii_case(given));
                misspelt.extend(meant);
                mistakes.push(no_label(given, meant.copied(), &labels));
            }
        }
    }
    let is_open = |label: &&&str| bindings.get(label).is_none() && !misspelt.contains(label);
    mistakes.extend(no_extent(&labels.iter().filter(is_open).copied().collect::<Vec<_>>()));
    mistakes.extend(std::mem::take(&mut bindings.mistakes).into_values());
    if mistakes.is_empty() {
        mistakes.extend(unequal_extents(program, |mode| bindings.get(&program.mode(mode).name)));
    }
    if mistakes.is_empty() {
        return sizes::checked(program, bindings.finish());
    }
    Err(Diagnostics(mistakes))
}

/// One mistake for all labels that were left out: one line mends it.
fn no_extent(open: &[&str]) -> Option<Diagnostic> {
    let (last, others) = open.split_last()?;
    let message = match others {
        [] => format!("label `{last}` has no extent"),
        [..] => format!("labels `{}` and `{last}` have no extent", others.join("`, `")),
    };
    let given: Vec<String> = open.iter().map(|label| format!("{label}=64")).collect();
    let mistake = Diagnostic::new(Code::UnboundExtent, message);
    Some(mistake.help(format!("give each its extent, as in `{}`", given.join(" "))))
}

/// An extent for something that is no label; `meant` is a label that it may be.
fn no_label(given: &str, meant: Option<&str>, labels: &[&str]) -> Diagnostic {
    let message = format!("an extent is given for `{given}`, which is no label");
    Diagnostic::new(Code::UnboundExtent, message).help(match (meant, labels) {
        (Some(label), _) => format!("labels are case-sensitive: write `{label}` for `{given}`"),
        (None, []) => format!("remove `{given}`; the notation has no labels"),
        (None, [..]) => format!("remove `{given}`; the labels are: {}", labels.join(", ")),
    })
}
