//! The type of a row program: reductions over the columns of a row and statements on its elements,
//! with the row in registers.

use std::ops::RangeInclusive;

use mage_einsum::index::ModeId;

use super::VariantKind;

/// The threads of a row hold its columns from the first statement to the last. Each reduction ends
/// in all of them, in one order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The modes whose positions are rows, outermost first.
    pub row_modes: Vec<ModeId>,
    /// The mode of the columns.
    pub col_mode: ModeId,
    /// For which widths there are kernels, in the order in which the host tries them.
    pub widths: Vec<RowWidth>,
    /// The variants of each, in the order in which the host tries them.
    pub kinds: Vec<VariantKind>,
    /// Positions of neighbouring reductions that are taken in one pass over the row and share one
    /// exchange between its threads: none of them reads another. In order, each of two or more.
    pub together: Vec<RangeInclusive<usize>>,
}

/// Rows of at most some width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowWidth {
    /// Threads of a row: a warp, or a whole block.
    pub row_threads: u32,
    /// Rows of a block; 1 where a row has more than a warp.
    pub block_rows: u32,
    /// Columns that a thread holds; none where a row is read again for each statement.
    pub thread_cols: Option<u32>,
}

impl RowWidth {
    /// The most columns of a row; none where there is no limit.
    pub fn most_cols(self) -> Option<u32> {
        self.thread_cols.map(|cols| cols * self.row_threads)
    }

    /// Threads of a block.
    pub fn block_threads(self) -> u32 {
        self.row_threads * self.block_rows
    }

    /// What the name of its kernel says.
    pub fn name(self) -> String {
        match self.most_cols() {
            Some(cols) => format!("to{cols}"),
            None => "any".to_string(),
        }
    }

    /// The widths in words.
    pub fn words(self) -> String {
        match self.most_cols() {
            Some(cols) => format!("at most {cols} columns"),
            None => "all widths".to_string(),
        }
    }
}

impl Rows {
    /// Statements as they are gone through: reductions that are taken together, and any other by
    /// itself.
    pub fn steps(&self, statements: RangeInclusive<usize>) -> Vec<RangeInclusive<usize>> {
        let (mut next, last) = statements.into_inner();
        let mut steps = Vec::new();
        while next <= last {
            let group = self.together.iter().find(|group| *group.start() == next);
            let step = group.cloned().unwrap_or(next..=next);
            next = step.end() + 1;
            steps.push(step);
        }
        steps
    }

    /// Neighbouring columns of a thread.
    pub fn elems(kind: VariantKind) -> u32 {
        match kind {
            VariantKind::Wide => 4,
            VariantKind::Narrow => 1,
        }
    }
}
