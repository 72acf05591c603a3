//! Chooses whether the tensor cores multiply a contraction, and the fields of its tile that they
//! ask for.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::ModeId;
use mage_einsum::precision::Precision;

use super::choose_map::TileShape;
use super::choose_tiled::{Groups, contiguous_mode};
use super::mma::{self, MOST_STAGES, MOST_SUMS, ROUND_TERMS, Swizzle};
use super::{Along, Resources, Staging, Tiled};
use crate::device::Device;

impl Groups<'_> {
    /// The type that the tensor cores multiply, where they can: two factors of halves, or of f32
    /// where those may be rounded to TF32, none of which is contiguous along a batch mode.
    pub(super) fn multiplied_in(&self) -> Option<Dtype> {
        let dtypes = [0, 1].map(|factor| self.program.tensor(self.factor(factor).tensor).dtype);
        let [left, right] = dtypes;
        let fits = match left {
            Dtype::F16 | Dtype::BF16 => true,
            Dtype::F32 => self.program.precision == Precision::Tf32,
            Dtype::F64 => false,
        };
        (fits && left == right && self.contracted.is_some() && self.batch.is_none()).then_some(left)
    }

    /// Whether sums of the tensor cores are read in f32 without another rounding that would hide
    /// what they cut off: products of halves that stay f32. TF32 has lost more before.
    fn keeps_sums(&self) -> bool {
        let factor = self.program.tensor(self.factor(0).tensor).dtype;
        let target = self.program.tensor(self.statement.target.tensor).dtype;
        factor != factor.accumulator() && target == factor.accumulator()
    }

    /// A tile for the tensor cores; none where they do not multiply this or do not fit the tile. Its
    /// sums are made in rounds where they are long or kept in f32.
    pub(super) fn fragments(
        &self,
        sides: [u32; 2],
        depth: Option<u32>,
        is_long: bool,
        device: &Device,
    ) -> Option<Tiled> {
        let (dtype, mode) = (self.multiplied_in()?, self.contracted?);
        let least = mma::product_depth(dtype);
        let depth = depth.unwrap_or_else(|| self.shrunk(mode, mma::stage_depth(dtype)).max(least));
        if !depth.is_power_of_two() || depth < least {
            return None;
        }
        let in_rounds = is_long || self.keeps_sums();
        let most_sums = if in_rounds { MOST_SUMS / 2 } else { MOST_SUMS };
        let map = mma::fragment_map(sides, most_sums, device.capability.block_threads)?;
        let shape = TileShape { channels: 1, sides, contracted: depth, dtype };
        let mut tiled = self.tiled(shape, map);
        tiled.round_steps = in_rounds.then(|| (ROUND_TERMS / depth).max(1));
        let limit = device.capability.static_shared_bytes;
        tiled.stages = (2..=MOST_STAGES).rev().find(|n| n * tiled.stage_bytes() <= limit)?;
        tiled.min_blocks = Resources::of(&tiled, device).residency.blocks.max(1);
        Some(tiled)
    }

    /// A stage for the tensor cores lies as the factor does: their loads of matrices exchange rows
    /// and columns where they must.
    pub(super) fn swizzled(
        &self,
        factor: usize,
        side_mode: ModeId,
        tile: u32,
        shape: TileShape,
    ) -> Staging {
        let contiguous = contiguous_mode(self.factor(factor));
        let (along, row_elems) = match contiguous == Some(side_mode) {
            true => (Along::Side, tile),
            false => (Along::Contracted, shape.contracted),
        };
        let row_bytes = row_elems * shape.dtype.size_bytes() as u32;
        Staging {
            along,
            contiguous: along == Along::Side || contiguous == self.contracted,
            row_elems,
            channel_elems: tile * shape.contracted,
            swizzle: Some(Swizzle::of(row_bytes, shape.dtype, along)),
        }
    }
}
