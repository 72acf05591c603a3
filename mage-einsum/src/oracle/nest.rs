//! The loop nest of a sum of products: one row of outputs at a time, all terms of the row, and
//! innermost one output mode along which every array is contiguous.

use std::cmp::Reverse;

use crate::binding::Extents;
use crate::index::{ModeId, Program, Statement};

/// One loop of the nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) mode: ModeId,
    pub(super) extent: usize,
}

/// The loops, outermost first: rows, then terms, then the vector.
#[derive(Debug)]
pub(super) struct Nest {
    /// The target's modes but the vector's, in the target's order.
    pub(super) rows: Vec<Loop>,
    /// The reduced modes.
    pub(super) terms: Vec<Loop>,
    /// The mode of the innermost loop with its dimension in the target; none for a scalar output.
    pub(super) vector: Option<(Loop, usize)>,
}

impl Nest {
    /// Takes the longest output mode innermost; among equals one that few factors have, because
    /// the others are then constant along it, and among those the last.
    pub(super) fn choose(program: &Program, statement: &Statement, extents: &Extents) -> Nest {
        let loop_of = |mode: &ModeId| Loop {
            mode: *mode,
            extent: usize::try_from(extents.of_mode(program.mode(*mode))).unwrap_or(usize::MAX),
        };
        let factors = statement.factors();
        let n_with = |mode: ModeId| factors.iter().filter(|f| f.modes.contains(&mode)).count();
        let target: Vec<Loop> = statement.target.modes.iter().map(loop_of).collect();
        let vector = target.iter().copied().enumerate().max_by_key(|(dim, candidate)| {
            (candidate.extent, Reverse(n_with(candidate.mode)), *dim)
        });
        let vector_mode = vector.map(|(_, vector)| vector.mode);
        Nest {
            rows: target.into_iter().filter(|row| Some(row.mode) != vector_mode).collect(),
            terms: statement.reduced.iter().map(loop_of).collect(),
            vector: vector.map(|(dim, vector)| (vector, dim)),
        }
    }

    /// Elements of a row.
    pub(super) fn row_len(&self) -> usize {
        self.vector.map_or(1, |(vector, _)| vector.extent)
    }

    /// Rows of the output.
    pub(super) fn n_rows(&self) -> usize {
        self.rows.iter().map(|row| row.extent).product()
    }

    /// Terms of an element's sum. A sum beyond 2^64 terms was refused when extents were bound.
    pub(super) fn n_terms(&self) -> u64 {
        self.terms.iter().map(|term| term.extent as u64).fold(1, u64::saturating_mul)
    }
}
