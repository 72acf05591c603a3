//! Chooses how each factor of a tile gets into shared memory: the direction that threads walk, the
//! padding of rows, and how wide accesses may be.

use mage_einsum::index::{Access, Extent, ModeId, Role};

use super::choose_map::TileShape;
use super::choose_tiled::Groups;
use super::{Along, Side, Staging, Tail, ThreadMap, Variant, VariantKind, chunk_elems};

impl Groups<'_> {
    pub(super) fn side(
        &self,
        factor: usize,
        mode: ModeId,
        tile: u32,
        shape: TileShape,
        fragments: bool,
    ) -> Side {
        let role = if factor == 0 { Role::FreeLeft } else { Role::FreeRight };
        Side {
            factor,
            mode,
            tile,
            tail: self.tail(mode, tile),
            outer: self.outer(role, Some(mode)),
            staging: match fragments {
                true => self.swizzled(factor, mode, tile, shape),
                false => self.staging(factor, mode, tile, shape),
            },
        }
    }

    pub(super) fn tail(&self, mode: ModeId, tile: u32) -> Tail {
        match self.program.mode(mode).extent {
            Extent::Fixed(extent) if extent > 0 && extent.is_multiple_of(tile) => Tail::Exact,
            Extent::Fixed(_) | Extent::Runtime => Tail::Predicated,
        }
    }

    /// Consecutive threads walk the contiguous mode where the tile has it. A stage that is
    /// written transposed is padded by one access, so that the lanes of a store fall into
    /// different banks (kernels.md, "f32 contraction").
    fn staging(&self, factor: usize, side_mode: ModeId, tile: u32, shape: TileShape) -> Staging {
        let contiguous = contiguous_mode(self.factor(factor));
        let along = match contiguous {
            Some(mode) if mode == side_mode => Along::Side,
            Some(mode) if Some(mode) == self.contracted => Along::Contracted,
            Some(mode) if Some(mode) == self.batch => Along::Batch,
            Some(_) | None => Along::Side,
        };
        let walked = match along {
            Along::Side => Some(side_mode),
            Along::Contracted => self.contracted,
            Along::Batch => self.batch,
        };
        let pad = if along == Along::Side { 0 } else { 4 };
        let row_elems = tile.next_multiple_of(4) + pad;
        let channel_pad = if shape.channels > 1 { 4 } else { 0 };
        Staging {
            along,
            contiguous: contiguous.is_some() && contiguous == walked,
            row_elems,
            channel_elems: shape.contracted * row_elems + channel_pad,
            swizzle: None,
        }
    }

    pub(super) fn variants(
        &self,
        row: &Side,
        col: &Side,
        threads: &ThreadMap,
        shape: TileShape,
    ) -> Vec<Variant> {
        let narrow = Variant { kind: VariantKind::Narrow, load_elems: [1, 1], store_elems: 1 };
        let elems = if threads.fragments { chunk_elems(shape.dtype) } else { 4 };
        let load_elems = [row, col].map(|side| {
            let walked = match side.staging.along {
                Along::Side => side.tile,
                Along::Contracted => shape.contracted,
                Along::Batch => shape.channels,
            };
            let wide = side.staging.contiguous && walked.is_multiple_of(elems);
            if wide && self.may_be_wide(self.factor(side.factor), elems) { elems } else { 1 }
        });
        let target = &self.statement.target;
        let along_col = contiguous_mode(target) == Some(col.mode);
        let quad = threads.quad_elems[1];
        let store_elems = if along_col && self.may_be_wide(target, quad) { quad } else { 1 };
        let wide = Variant { kind: VariantKind::Wide, load_elems, store_elems };
        if load_elems == [1, 1] && store_elems == 1 { vec![narrow] } else { vec![wide, narrow] }
    }

    /// Whether so many elements fit an access and the contiguous mode's extent can be a multiple of
    /// them.
    fn may_be_wide(&self, access: &Access, elems: u32) -> bool {
        if u64::from(elems) * self.program.tensor(access.tensor).dtype.size_bytes() > 16 {
            return false;
        }
        let Some(mode) = contiguous_mode(access) else {
            return false;
        };
        match self.program.mode(mode).extent {
            Extent::Fixed(extent) => extent.is_multiple_of(elems),
            Extent::Runtime => true,
        }
    }
}

/// The mode whose stride is 1: the last one, unless it stands twice.
pub fn contiguous_mode(access: &Access) -> Option<ModeId> {
    let last = *access.modes.last()?;
    let uses = access.modes.iter().filter(|mode| **mode == last).count();
    (uses == 1).then_some(last)
}
