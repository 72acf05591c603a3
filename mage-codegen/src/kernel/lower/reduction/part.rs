//! Which terms a block sums and where its sums go: all of them to the output, or those of a part to
//! the partial sums.

use super::Sum;
use crate::kernel::lower::builder::{Builder, buffer};
use crate::kernel::lower::coordinates;
use crate::kernel::lower::total::Partial;
use crate::kernel::{BufferId, Expr, Stmt, Ty};
use mage_einsum::index::Access;

/// What a block sums.
pub struct Part {
    /// Where its sums go.
    pub to: BufferId,
    /// The position of its outputs among those of all blocks, 32 bits.
    pub block: Expr,
    /// Blocks of one part, and terms of one; none where a block sums all terms.
    of: Option<(Expr, Expr)>,
    /// The part's position, 64 bits.
    at: Expr,
}

impl Part {
    /// The part of a block of a kernel.
    pub fn new(builder: &mut Builder<'_>, target: &Access, partial: Option<&Partial>) -> Part {
        let (block, at) = (Expr::Block, Expr::u64(0));
        let Some(Partial { parts, sums, .. }) = partial else {
            return Part { to: buffer(target), block, of: None, at };
        };
        let n_blocks = builder.param("n_blocks", Ty::U32, &parts.n_blocks);
        let part_terms = builder.param("part_terms", Ty::U64, &parts.part_terms);
        Part { to: *sums, block, of: Some((n_blocks, part_terms)), at }
    }
}

impl Sum<'_> {
    /// Takes the block's index apart: neighbouring blocks have neighbouring outputs of one part.
    pub fn find_part(&mut self, body: &mut Vec<Stmt>) {
        let Some((n_blocks, _)) = &self.part.of else { return };
        let at = Expr::Block.over(n_blocks.clone()).widen();
        let block = Expr::Block.modulo(n_blocks.clone());
        self.part.at = self.builder.bind(body, "part_at", at);
        self.part.block = self.builder.bind(body, "block_of_part", block);
    }

    /// The first term of the block's part, and one past the last.
    pub fn terms_of_part(&mut self, body: &mut Vec<Stmt>) -> (Expr, Expr) {
        let n_terms = coordinates::count(&self.builder, &self.reduction.terms);
        let n_terms = self.builder.bind(body, "n_terms", n_terms);
        let Some((_, part_terms)) = self.part.of.clone() else {
            return (Expr::u64(0), n_terms);
        };
        let begin = self.part.at.clone().times(part_terms.clone());
        let begin = self.builder.bind(body, "begin", begin);
        let end = begin.clone().plus(part_terms).min(n_terms);
        (begin, self.builder.bind(body, "end", end))
    }

    /// The position of an output among the sums of all parts.
    pub fn in_part(&self, output: Expr) -> Expr {
        let n_outputs = coordinates::count(&self.builder, &self.target.modes);
        self.part.at.clone().times(n_outputs).plus(output)
    }
}
