//! Chooses whether the tensor cores multiply a contraction, and the fields of its tile that they
//! ask for.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::ModeId;
use mage_einsum::precision::Precision;

use super::choose_map::TileShape;
use super::choose_staging::contiguous_mode;
use super::choose_tiled::Groups;
use super::mma::{self, MOST_STAGES, MOST_SUMS, ROUND_TERMS, Swizzle};
use super::{Along, Resources, Staging, Summing, Tiled};
use crate::device::Device;

impl Groups<'_> {
    /// The type that the tensor cores multiply, where they can: two factors of halves, or of f32
    /// where those may be rounded to TF32, where no batch mode is contiguous in them or in the output.
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

    /// The same, where the extents leave tiles that they can fill.
    pub(super) fn on_tensor_cores(&self) -> bool {
        let fills = |mode: ModeId| self.shrunk(mode, mma::WARP_UNIT) == mma::WARP_UNIT;
        self.multiplied_in().is_some() && fills(self.row) && fills(self.col)
    }

    /// A tile for the tensor cores, or what it needs and the limit; none where they do not multiply
    /// this or their warps do not fit the tile. What
    /// they cut off would show in sums of halves, whose products are exact; factors that were rounded
    /// to TF32 have lost more before, until sums are long.
    pub(super) fn fragments(
        &self,
        sides: [u32; 2],
        depth: Option<u32>,
        is_long: bool,
        device: &Device,
    ) -> Option<Result<Tiled, String>> {
        let (dtype, mode) = (self.multiplied_in()?, self.contracted?);
        let least = mma::product_depth(dtype);
        let depth = depth.unwrap_or_else(|| self.shrunk(mode, mma::stage_depth(dtype)).max(least));
        if !depth.is_power_of_two() || depth < least {
            return None;
        }
        let summing = match (dtype, is_long) {
            (Dtype::F16 | Dtype::BF16, _) => Summing::Apart,
            (Dtype::F32 | Dtype::F64, true) => Summing::Rounds((ROUND_TERMS / depth).max(1)),
            (Dtype::F32 | Dtype::F64, false) => Summing::Running,
        };
        let most_sums = match summing {
            Summing::Rounds(_) => MOST_SUMS / 2,
            Summing::Running | Summing::Apart => MOST_SUMS,
        };
        let map = mma::fragment_map(sides, most_sums, device.capability.block_threads)?;
        let shape = TileShape { channels: 1, sides, contracted: depth, dtype };
        let mut tiled = self.tiled(shape, map);
        tiled.summing = summing;
        let limit = device.capability.static_shared_bytes;
        let stages = (2..=MOST_STAGES).rev().find(|n| n * tiled.stage_bytes() <= limit);
        let Some(stages) = stages else {
            let bytes = 2 * tiled.stage_bytes();
            return Some(Err(format!(
                "{bytes} bytes of shared memory for two stages, limit {limit}"
            )));
        };
        tiled.stages = stages;
        tiled.min_blocks = Resources::of(&tiled, device).residency.blocks.max(1);
        Some(Ok(tiled))
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
