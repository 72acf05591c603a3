//! What a block sums and where its sums go: all of it to the output, or a part of it to the partial
//! sums.

use mage_einsum::index::Access;

use super::builder::{Builder, Write, buffer};
use super::total::Partial;
use crate::kernel::{BufferId, Expr, Place, Space, Stmt, Ty};

/// A block's share of the sums, counted in what the schedule divides: terms or steps.
pub struct Part {
    /// Where its sums go.
    to: BufferId,
    /// The block's position among those of its part, 32 bits.
    pub block: Expr,
    /// The first term or step, in the type of coordinates.
    pub begin: Expr,
    /// One past the last.
    pub end: Expr,
    /// The part's position, 32 bits; none where there are no parts.
    at: Option<Expr>,
}

impl Part {
    /// The share of a block, of `count` terms or steps in all. Neighbouring blocks have neighbouring
    /// outputs of one part.
    pub fn bind(
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        (target, partial): (&Access, Option<&Partial>),
        count: Expr,
    ) -> Part {
        let Some(Partial { parts, sums, .. }) = partial else {
            let begin = builder.number(0);
            return Part { to: buffer(target), block: Expr::Block, begin, end: count, at: None };
        };
        let ty = builder.coordinate_ty();
        let n_blocks = builder.param("n_blocks", Ty::U32, &parts.n_blocks);
        let part_len = builder.param(parts.len_name(), ty, &parts.part_len);
        let at = builder.bind(body, "part_at", Expr::Block.over(n_blocks.clone()));
        let block = builder.bind(body, "block_of_part", Expr::Block.modulo(n_blocks));
        let begin = builder.coordinate(at.clone()).times(part_len.clone());
        let begin = builder.bind(body, "begin", begin);
        let end = builder.bind(body, "end", begin.clone().plus(part_len).min(count));
        Part { to: *sums, block, begin, end, at: Some(at) }
    }

    /// Whether the block has a part, and not all.
    pub fn is_part(&self) -> bool {
        self.at.is_some()
    }

    /// Writes sums: those of a part to their own place, others as the statement asks for. Offsets
    /// are in the target, `first_place` is what [`Part::first_place`] gave.
    pub fn write(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        first_place: &Expr,
        write: Write,
    ) {
        if self.at.is_none() {
            builder.write(body, write);
            return;
        }
        let Write { offset, at: _, from, width, when } = write;
        let to = Place { space: Space::Global(self.to), offset: first_place.clone().plus(offset) };
        body.push(Stmt::Store { to, from, width, when });
    }

    /// Binds where the sums of the part begin, 64 bits; 0 for those of the output.
    pub fn first_place(
        &self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        target: &Access,
    ) -> Expr {
        let Some(at) = &self.at else { return Expr::u64(0) };
        let n_outputs = target
            .modes
            .iter()
            .fold(Expr::u64(1), |product, mode| product.times(builder.wide(builder.extent(*mode))));
        builder.bind(body, "part_first", at.clone().widen().times(n_outputs))
    }
}
