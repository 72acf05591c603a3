//! Numbers that are products of extents, such as `2 * i * k * j` operations. They can be written
//! down before the extents are known and evaluated when they are.

use std::collections::BTreeSet;

use crate::index::{Extent, ModeId, Part, Program, Statement};

/// A factor times the extents of labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// What the product of extents is multiplied with.
    pub factor: u64,
    /// The labels, in the order of the statement's modes.
    pub parts: Vec<Part>,
}

impl Count {
    /// The floating-point operations of a statement: at each point of its modes the products, and
    /// the sum where there is one. A sum of K terms is counted as K additions, as is the custom
    /// for matmul and in opt_einsum. Each point of a segment is in one row, whose mode counts not.
    pub fn flops(program: &Program, statement: &Statement) -> Count {
        let n_products = statement.factors().len().saturating_sub(1) as u64;
        let factor = n_products + u64::from(!statement.reduced.is_empty());
        let row = statement.segment.map(|segment| segment.row);
        let modes = statement.roles.iter().map(|(mode, _)| *mode);
        Count::over(program, factor, modes.filter(|mode| Some(*mode) != row))
    }

    /// The elements that a statement writes.
    pub fn elements(program: &Program, statement: &Statement) -> Count {
        Count::over(program, 1, statement.target.modes.iter().copied())
    }

    fn over(program: &Program, factor: u64, modes: impl Iterator<Item = ModeId>) -> Count {
        let mut seen = BTreeSet::new();
        let distinct = modes.filter(|mode| seen.insert(*mode));
        Count {
            factor,
            parts: distinct.flat_map(|mode| program.mode(mode).parts.clone()).collect(),
        }
    }

    /// The number, where `extent_of` knows every label that is not fixed. Beyond 2^128 it stays
    /// there.
    pub fn value(&self, extent_of: impl Fn(&str) -> Option<u64>) -> Option<u128> {
        let extents = self.parts.iter().map(|part| match part.extent {
            Extent::Fixed(extent) => Some(u128::from(extent)),
            Extent::Runtime => extent_of(&part.label).map(u128::from),
        });
        let mut all = std::iter::once(Some(u128::from(self.factor))).chain(extents);
        all.try_fold(1_u128, |product, extent| Some(product.saturating_mul(extent?)))
    }
}

/// The formula: `2 * i * k * j`, `1` for no labels, and `0` for no operations.
impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.factor == 0 {
            return f.write_str("0");
        }
        let labels = self.parts.iter().map(|part| part.label.clone());
        let factor = (self.factor != 1 || self.parts.is_empty()).then(|| self.factor.to_string());
        f.write_str(&factor.into_iter().chain(labels).collect::<Vec<_>>().join(" * "))
    }
}
