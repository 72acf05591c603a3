//! Chooses the fields of a tiled contraction: which mode of each group is tiled, by how much, how
//! each factor is staged, and which variants are made.

use std::collections::BTreeSet;

use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics};
use mage_einsum::index::{Access, Extent, ModeId, Program, Role, Statement};
use mage_einsum::options::{Options, Tile};

use super::choose::located;
use super::choose_deep::{MOST_TERMS, choose_deep};
use super::choose_epilogue::{beside, staged};
use super::choose_family::{self, CHANNEL_TILES, Candidate, MATRIX_TILES, MMA_TILES};
use super::choose_long::choose_long;
use super::choose_map::{TileShape, choose_map};
use super::choose_staging::contiguous_mode;
use super::reasons::{Named, reasons};
use super::resources::staged_elems;
use super::{
    BatchTile, Contracted, Cost, Deep, Epilogue, Exchange, Family, Launch, Resources, Size,
    Strategy, Summing, Tail, ThreadMap, Tiled, VariantKind,
};
use crate::device::{BANKS, Device, SECTOR_BYTES};

/// Depths of a stage, best first: the deeper, the fewer barriers an accumulation.
const DEPTHS: [u32; 5] = [16, 8, 4, 2, 1];

/// Most staged elements a thread may hold in registers before the depth is reduced.
const MOST_STAGED_ELEMS: u32 = 24;

/// A factor's modes by what the tile does with them.
pub(super) struct Groups<'p> {
    pub(super) program: &'p Program,
    pub(super) statement: &'p Statement,
    pub(super) beside: Vec<&'p Access>,
    row_factor: usize,
    pub(super) row: ModeId,
    pub(super) col: ModeId,
    pub(super) contracted: Option<ModeId>,
    pub(super) batch: Option<ModeId>,
}

/// Chooses the tile of a statement with two factors and free modes on both sides.
///
/// # Errors
/// `BadTile` with the need and the limit when the tile does not fit the device.
pub fn choose_tiled(
    program: &Program,
    statement_idx: usize,
    options: &Options,
    device: &'static Device,
) -> Result<Launch, Diagnostics> {
    let groups = Groups::of(program, statement_idx);
    let (mut made, mut refusal) = (Vec::new(), None);
    for (candidate, sides, depth) in groups.candidates(options) {
        match groups.tile(sides, depth, device) {
            Ok(tiled) => made.push((candidate, tiled)),
            Err(why) => refusal = Some(why),
        }
    }
    let family = choose_family::family(made, &|tiled| groups.tiles(tiled), device);
    let mut family = family.ok_or_else(|| refused(options, &refusal.unwrap_or_default()))?;
    groups.make_deep(&mut family, device);
    family.long = choose_long(&groups, &family, options, device).map(Box::new);
    let named = Named { program, statement: groups.statement };
    let reasons = reasons(named, &family, options, device);
    Ok(Launch::of(statement_idx, Strategy::Tiled(family), reasons))
}

fn refused(options: &Options, need: &str) -> Diagnostic {
    let tile = options.tile.as_ref().map_or("auto".to_string(), Tile::to_string);
    let help = match need.contains("shared memory") {
        true => "make the tile smaller",
        false => "make the tile smaller, or give its sides more divisors up to 8",
    };
    let refusal =
        Diagnostic::option(Code::BadTile, format!("`tile = {tile}` needs {need}")).help(help);
    located(refusal, options, "tile")
}

impl<'p> Groups<'p> {
    fn of(program: &'p Program, statement_idx: usize) -> Groups<'p> {
        let statement = &program.statements[statement_idx];
        let target_last = contiguous_mode(&statement.target);
        let col_factor = match target_last.and_then(|mode| statement.role(mode)) {
            Some(Role::FreeLeft) => 0,
            Some(Role::FreeRight | Role::Batch | Role::Contracted | Role::Reduced) | None => 1,
        };
        let row_factor = 1 - col_factor;
        let pick = |role, factor: usize| {
            let modes = statement.modes_of(role);
            preferred(statement, &modes, factor)
        };
        let free = [Role::FreeLeft, Role::FreeRight];
        let fallback = ModeId(0);
        Groups {
            program,
            statement,
            beside: beside(program, statement_idx),
            row_factor,
            row: pick(free[row_factor], row_factor).unwrap_or(fallback),
            col: pick(free[col_factor], col_factor).unwrap_or(fallback),
            contracted: pick(Role::Contracted, row_factor),
            batch: channels_mode(statement),
        }
    }

    pub(super) fn factor(&self, position: usize) -> &'p Access {
        self.statement.factors()[position]
    }

    /// Operands' elements of a sector.
    fn sector_elems(&self) -> u32 {
        SECTOR_BYTES / self.program.operand_dtype().size_bytes() as u32
    }

    /// The others of a role, in the order of the program.
    pub(super) fn outer(&self, role: Role, tiled: Option<ModeId>) -> Vec<ModeId> {
        let modes = self.statement.modes_of(role);
        modes.into_iter().filter(|mode| Some(*mode) != tiled).collect()
    }

    /// The tiles to choose from, each with its rows and columns and the depth that was asked for: the
    /// one of the option `tile`, or a family.
    fn candidates(&self, options: &Options) -> Vec<(Candidate, [u32; 2], Option<u32>)> {
        let asked = |left: u32, right: u32, depth| {
            let sides = if self.row_factor == 0 { [left, right] } else { [right, left] };
            let wide = Cost { each: 1, alone: 1 };
            vec![(Candidate { size: Size::Large, sides, wide, narrow: None }, sides, depth)]
        };
        match &options.tile {
            Some(Tile::Square(side)) => asked(side.get(), side.get(), None),
            Some(Tile::Triple { m, n, k }) => asked(m.get(), n.get(), Some(k.get())),
            None => {
                let family: &[Candidate] = if self.on_tensor_cores() {
                    &MMA_TILES
                } else if self.channels() > 1 {
                    &CHANNEL_TILES
                } else {
                    &MATRIX_TILES
                };
                let suited = self.suited(family).into_iter();
                suited.map(|(candidate, sides)| (candidate, sides, None)).collect()
            }
        }
    }

    fn channels(&self) -> u32 {
        self.batch.map_or(1, |mode| self.shrunk(mode, self.sector_elems()))
    }

    /// The tile of some rows and columns, or what it needs and the limit.
    fn tile(&self, sides: [u32; 2], depth: Option<u32>, device: &Device) -> Result<Tiled, String> {
        if let Some(made) = self.fragments(sides, depth, false, device) {
            return made;
        }
        let shape = self.shape(sides, depth, device)?;
        let mut tiled = self.tiled(shape, choose_map(shape, device)?);
        tiled.epilogue = self.epilogue(&tiled);
        tiled.beside = staged(&self.beside, &tiled, device);
        let limit = device.capability.static_shared_bytes;
        if tiled.shared_bytes() > limit {
            return Err(format!("{} bytes of shared memory, limit {limit}", tiled.shared_bytes()));
        }
        tiled.min_blocks = Resources::of(&tiled, device).residency.blocks.max(1);
        Ok(tiled)
    }

    /// How many tiles there are, where the extents are known.
    pub(super) fn tiles(&self, tiled: &Tiled) -> Option<u64> {
        let modes = self.statement.target.modes.iter().copied().collect::<BTreeSet<ModeId>>();
        modes.into_iter().try_fold(1_u64, |tiles, mode| {
            let tile = match mode {
                mode if mode == tiled.row.mode => tiled.row.tile,
                mode if mode == tiled.col.mode => tiled.col.tile,
                mode if Some(mode) == tiled.batch.mode => tiled.batch.tile,
                _ => 1,
            };
            match self.program.mode(mode).extent {
                Extent::Fixed(extent) => {
                    tiles.checked_mul(u64::from(extent).div_ceil(u64::from(tile)))
                }
                Extent::Runtime => None,
            }
        })
    }

    fn shape(
        &self,
        sides: [u32; 2],
        depth: Option<u32>,
        device: &Device,
    ) -> Result<TileShape, String> {
        let channels = self.channels();
        let limit = device.capability.static_shared_bytes;
        let both = u64::from(sides[0]) + u64::from(sides[1]);
        let dtype = self.program.accumulator();
        let least_bytes = |depth: u64| 2 * dtype.size_bytes() * depth * both;
        let too_large = |elems: u64| elems > u64::from(limit);
        if too_large(both) {
            return Err(format!(
                "at least {} bytes of shared memory, limit {limit}",
                least_bytes(1)
            ));
        }
        let shape = |contracted| TileShape { channels, sides, contracted, dtype };
        match (self.contracted, depth) {
            (None, _) => Ok(shape(1)),
            (Some(_), Some(depth)) if too_large(u64::from(depth)) => {
                let bytes = least_bytes(u64::from(depth));
                Err(format!("at least {bytes} bytes of shared memory, limit {limit}"))
            }
            (Some(_), Some(depth)) => Ok(shape(depth)),
            (Some(mode), None) => self.deepest(mode, &shape, device),
        }
    }

    pub(super) fn shrunk(&self, mode: ModeId, default: u32) -> u32 {
        match self.program.mode(mode).extent {
            Extent::Fixed(extent) => default.min(extent.max(1).next_power_of_two()),
            Extent::Runtime => default,
        }
    }

    fn deepest(
        &self,
        mode: ModeId,
        shape: &dyn Fn(u32) -> TileShape,
        device: &Device,
    ) -> Result<TileShape, String> {
        let mut refusal = String::new();
        for depth in DEPTHS {
            let shape = shape(self.shrunk(mode, depth));
            let map = match choose_map(shape, device) {
                Ok(map) => map,
                Err(why) => {
                    refusal = why;
                    continue;
                }
            };
            let staged: u32 =
                shape.sides.iter().map(|side| staged_elems(&map, *side, shape.contracted)).sum();
            let bytes = self.tiled(shape, map).shared_bytes();
            if bytes > device.capability.static_shared_bytes {
                let limit = device.capability.static_shared_bytes;
                refusal = format!("{bytes} bytes of shared memory, limit {limit}");
            } else if staged <= MOST_STAGED_ELEMS || depth == 1 {
                return Ok(shape);
            }
        }
        Err(refusal)
    }

    /// A mapping without channels in tiles of these rows and columns.
    pub(super) fn matrix(&self, sides: [u32; 2], device: &Device) -> Option<Tiled> {
        if let Some(made) = self.fragments(sides, None, false, device) {
            return made.ok();
        }
        let dtype = self.program.accumulator();
        let shape = |contracted| TileShape { channels: 1, sides, contracted, dtype };
        let shape = self.deepest(self.contracted?, &shape, device).ok()?;
        let mut tiled = self.tiled(shape, choose_map(shape, device).ok()?);
        tiled.min_blocks = Resources::of(&tiled, device).residency.blocks.max(1);
        Some(tiled)
    }

    pub(super) fn tiled(&self, shape: TileShape, threads: ThreadMap) -> Tiled {
        let [row, col] = [
            (self.row_factor, self.row, shape.sides[0]),
            (1 - self.row_factor, self.col, shape.sides[1]),
        ]
        .map(|(factor, mode, tile)| self.side(factor, mode, tile, shape, threads.fragments));
        let variants = self.variants(&row, &col, &threads, shape);
        Tiled {
            row,
            col,
            contracted: Contracted {
                mode: self.contracted,
                tile: shape.contracted,
                tail: self.contracted.map_or(Tail::Exact, |mode| self.tail(mode, shape.contracted)),
                outer: self.outer(Role::Contracted, self.contracted),
            },
            batch: BatchTile {
                mode: self.batch,
                tile: shape.channels,
                tail: self.batch.map_or(Tail::Exact, |mode| self.tail(mode, shape.channels)),
                outer: self.outer(Role::Batch, self.batch),
            },
            threads,
            dtype: shape.dtype,
            stages: self.stages(shape.contracted),
            min_blocks: 1,
            epilogue: Epilogue::Direct,
            beside: Vec::new(),
            variants,
            summing: Summing::Running,
        }
    }

    /// How many outputs there are, where the extents are known.
    pub(super) fn n_outputs(&self) -> Option<u64> {
        self.product(self.statement.target.modes.iter().copied())
    }

    /// Terms of an output, where the contracted extents are fixed.
    pub(super) fn n_terms(&self) -> Option<u64> {
        self.product(self.statement.modes_of(Role::Contracted))
    }

    fn product(&self, modes: impl IntoIterator<Item = ModeId>) -> Option<u64> {
        modes.into_iter().try_fold(1_u64, |product, mode| match self.program.mode(mode).extent {
            Extent::Fixed(extent) => Some(product.saturating_mul(u64::from(extent))),
            Extent::Runtime => None,
        })
    }

    /// Gives a family what sums of more than 2^16 terms need: a version for them, or where the
    /// extents are fixed and such, that version instead of each member.
    fn make_deep(&self, family: &mut Family, device: &Device) {
        if family.members().all(|member| member.tiled.summing == Summing::Apart) {
            return;
        }
        match self.n_terms() {
            None => {
                let deep = choose_deep(self, &family.largest.tiled, device);
                family.deep = deep.map(|mut deep| {
                    // Sums as long are rare: one kernel that can always run is enough for them.
                    deep.variants.retain(|variant| variant.kind == VariantKind::Narrow);
                    let most_steps = MOST_TERMS / deep.contracted.tile;
                    Box::new(Deep { most_steps, tiled: deep })
                });
            }
            Some(n_terms) if n_terms > u64::from(MOST_TERMS) => {
                if let Some(deep) = choose_deep(self, &family.largest.tiled, device) {
                    family.largest = choose_family::cut(&family.largest, deep);
                    family.smaller.clear();
                }
            }
            Some(_) => {}
        }
    }

    /// Where channels are contiguous in the output, each thread's own elements would lie in sectors
    /// of their own; exchanged, eight neighbours write one. Two halves share the stages, or one
    /// where it holds the whole tile.
    fn epilogue(&self, tiled: &Tiled) -> Epilogue {
        if tiled.batch.tile == 1 || contiguous_mode(&self.statement.target) != tiled.batch.mode {
            return Epilogue::Direct;
        }
        let all_rows = tiled.threads.thread_elems(0);
        let halves = |exchange: &Exchange| if exchange.thread_rows == all_rows { 1 } else { 2 };
        let exchange = |thread_rows: u32| Exchange {
            thread_rows,
            channel_elems: (tiled.exchange_rows(thread_rows) * tiled.col.tile)
                .next_multiple_of(BANKS)
                + 4,
        };
        let fits = |exchange: &Exchange| {
            halves(exchange) * tiled.exchange_elems(exchange) <= tiled.stages * tiled.stage_elems()
        };
        let divisors = (1..=all_rows).rev().filter(|rows| all_rows.is_multiple_of(*rows));
        let largest = divisors.map(exchange).find(fits);
        largest.map_or(Epilogue::Direct, Epilogue::Exchanged)
    }

    /// Two stages, unless the contracted modes are known to fit one step.
    fn stages(&self, depth: u32) -> u32 {
        if !self.outer(Role::Contracted, self.contracted).is_empty() {
            return 2;
        }
        match self.contracted.map(|mode| self.program.mode(mode).extent) {
            None => 1,
            Some(Extent::Fixed(extent)) if (1..=depth).contains(&extent) => 1,
            Some(Extent::Fixed(_) | Extent::Runtime) => 2,
        }
    }
}

/// The mode of a group that is tiled: one that is contiguous in the factor, else in the output
/// or in the other factor, else the innermost of the factor.
fn preferred(statement: &Statement, group: &[ModeId], factor: usize) -> Option<ModeId> {
    let factors = statement.factors();
    let accesses = [factors[factor], &statement.target, factors[1 - factor]];
    let contiguous = accesses.into_iter().filter_map(contiguous_mode);
    let inner = factors[factor].modes.iter().rev().copied();
    contiguous.chain(inner).find(|mode| group.contains(mode))
}

/// The batch mode that is contiguous in the output or in a factor: then a block owns a sector of
/// channels, because one channel alone would waste 7/8 of each sector it loads.
fn channels_mode(statement: &Statement) -> Option<ModeId> {
    let factors = statement.factors();
    [&statement.target, factors[0], factors[1]]
        .into_iter()
        .filter_map(contiguous_mode)
        .find(|mode| statement.role(*mode) == Some(Role::Batch))
}
