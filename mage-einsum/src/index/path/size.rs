//! Extents while a path is chosen, and sets of modes.

use std::collections::BTreeSet;

use crate::index::{Access, Extent, ModeId, Program};

/// Modes without order. The set is ordered, so that whatever is made from it is the same in every
/// run.
pub(super) type Modes = BTreeSet<ModeId>;

/// What an extent that is not known counts as where two ways must be compared all the same: large,
/// so that a mode more costs more.
const UNKNOWN_EXTENT: u128 = 1 << 10;

/// The extent of every mode.
pub(super) struct Sizes {
    extents: Vec<Extent>,
}

impl Sizes {
    pub(super) fn of(program: &Program) -> Sizes {
        Sizes { extents: program.modes.iter().map(|mode| mode.extent).collect() }
    }

    /// Whether no mode of `modes` is open.
    pub(super) fn are_known(&self, modes: &Modes) -> bool {
        modes.iter().all(|mode| match self.extents[mode.0] {
            Extent::Fixed(_) => true,
            Extent::Runtime => false,
        })
    }

    /// Points of the space that `modes` span. Beyond 2^128 it stays there.
    pub(super) fn points(&self, modes: &Modes) -> u128 {
        let extents = modes.iter().map(|mode| match self.extents[mode.0] {
            Extent::Fixed(extent) => u128::from(extent),
            Extent::Runtime => UNKNOWN_EXTENT,
        });
        extents.fold(1, u128::saturating_mul)
    }
}

/// The modes of an access, a diagonal's once.
pub(super) fn modes_of(access: &Access) -> Modes {
    access.modes.iter().copied().collect()
}
