//! The bookkeeping of binding: which label has which extent, and who said so.

use std::collections::BTreeMap;

use super::Extents;
use crate::diagnostic::{Code, Diagnostic};
use crate::index::{Extent, Program};

/// Who gave a label its extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The option `extents`.
    Fixed,
    /// A named number.
    Given,
    /// A dimension of an operand.
    Operand { operand_idx: usize, dim: usize },
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Fixed => f.write_str("in the option `extents`"),
            Origin::Given => f.write_str("as given"),
            Origin::Operand { operand_idx, .. } => write!(f, "in operand {operand_idx}"),
        }
    }
}

/// Extents found so far, each with its origin.
pub(super) struct Bindings<'p> {
    found: BTreeMap<&'p str, (u64, Origin)>,
    /// Mistakes, at most one a label.
    pub(super) mistakes: BTreeMap<&'p str, Diagnostic>,
}

impl<'p> Bindings<'p> {
    /// Starts with the program's fixed extents.
    pub(super) fn new(program: &'p Program) -> Bindings<'p> {
        let mut found = BTreeMap::new();
        for part in program.modes.iter().flat_map(|mode| &mode.parts) {
            match part.extent {
                Extent::Fixed(extent) => {
                    found.insert(part.label.as_str(), (u64::from(extent), Origin::Fixed));
                }
                Extent::Runtime => {}
            }
        }
        Bindings { found, mistakes: BTreeMap::new() }
    }

    /// Says that `label` is `extent`. The first to say so is right.
    pub(super) fn bind(&mut self, label: &'p str, extent: u64, origin: Origin) {
        match self.found.get(label) {
            None => {
                self.found.insert(label, (extent, origin));
            }
            Some((known, _)) if *known == extent => {}
            Some((known, known_origin)) => {
                let mistake = mismatch(label, (*known, *known_origin), (extent, origin));
                self.mistakes.entry(label).or_insert(mistake);
            }
        }
    }

    /// Says that `label` has the extent of another one, if that is known.
    pub(super) fn follow(&mut self, label: &'p str, other: &str) {
        if let Some((extent, origin)) = self.found.get(other).copied() {
            self.bind(label, extent, origin);
        }
    }

    pub(super) fn get(&self, label: &str) -> Option<u64> {
        self.found.get(label).map(|(extent, _)| *extent)
    }

    /// Keeps the extents and forgets who said so.
    pub(super) fn finish(self) -> Extents {
        let extents = self.found.into_iter().map(|(label, (extent, _))| (label.to_owned(), extent));
        Extents { by_label: extents.collect() }
    }
}

fn mismatch(label: &str, known: (u64, Origin), found: (u64, Origin)) -> Diagnostic {
    let ((known, known_origin), (extent, origin)) = (known, found);
    let message = match (known_origin, origin) {
        (Origin::Operand { operand_idx: first, .. }, Origin::Operand { operand_idx, .. })
            if first == operand_idx =>
        {
            format!("label `{label}` is both {known} and {extent} in operand {operand_idx}")
        }
        (Origin::Fixed | Origin::Given | Origin::Operand { .. }, _) => {
            format!("label `{label}` is {known} {known_origin} but {extent} {origin}")
        }
    };
    let mistake = Diagnostic::new(Code::ExtentMismatch, message)
        .help(format!("give label `{label}` one extent everywhere; there is no broadcasting"));
    match origin {
        Origin::Operand { operand_idx, dim } => {
            mistake.place(format!("operand {operand_idx}, label {dim}"))
        }
        Origin::Fixed | Origin::Given => mistake,
    }
}
