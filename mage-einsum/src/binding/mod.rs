//! The extents of one run: what is left open by a program is bound here, from named numbers or
//! from the operands' shapes, and every product of extents is checked once (rules R7 to R9, R20).

mod bind;
mod pairs;
mod shapes;
mod sizes;

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostics;
use crate::index::{Mode, Program, TensorId};

/// An extent for every label of a program; checked when it is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extents {
    by_label: BTreeMap<String, u64>,
}

impl Extents {
    /// Binds labels by name. Labels whose extent is fixed need not be given.
    ///
    /// # Errors
    /// `UnboundExtent` for a label without an extent or an extent without a label,
    /// `ExtentMismatch` with a fixed extent or within one dimension, `SizeOverflow`.
    pub fn from_pairs(program: &Program, pairs: &[(String, u64)]) -> Result<Extents, Diagnostics> {
        pairs::bind(program, pairs)
    }

    /// Binds labels by the shapes of the inputs, in operand order.
    ///
    /// # Errors
    /// `OperandCount`, `RankMismatch`, `ExtentMismatch`, `SizeOverflow`; all of the first kind.
    pub fn from_shapes(program: &Program, shapes: &[&[usize]]) -> Result<Extents, Diagnostics> {
        shapes::bind(program, shapes)
    }

    /// Checks the shape of an array that is to hold the output.
    ///
    /// # Errors
    /// `RankMismatch`, or `ExtentMismatch` for each label that differs.
    pub fn output_fits(&self, program: &Program, shape: &[usize]) -> Result<(), Diagnostics> {
        shapes::output_fits(program, self, shape)
    }

    /// The extent of `label`, if the program has it.
    pub fn get(&self, label: &str) -> Option<u64> {
        self.by_label.get(label).copied()
    }

    /// Every label with its extent, in the order of labels.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.by_label.iter().map(|(label, extent)| (label.as_str(), *extent))
    }

    /// The extent of a mode of the program: the product of its parts' extents.
    pub fn of_mode(&self, mode: &Mode) -> u64 {
        let extents = mode.parts.iter().map(|part| self.get(&part.label).unwrap_or(0));
        extents.fold(1, u64::saturating_mul)
    }

    /// The extents of a tensor's dimensions, outermost first.
    pub fn shape(&self, program: &Program, tensor: TensorId) -> Vec<usize> {
        let dims = &program.tensor(tensor).dims;
        let extents = dims.iter().map(|mode| self.of_mode(program.mode(*mode)));
        extents.map(|extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect()
    }
}
