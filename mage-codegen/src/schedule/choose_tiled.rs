//! Chooses the fields of a tiled contraction: which mode of each group is tiled, by how much, how
//! each factor is staged, and which variants are made.

use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics};
use mage_einsum::index::{Access, Extent, ModeId, Program, Role, Statement};
use mage_einsum::options::{Options, Tile};

use super::choose::located;
use super::choose_map::{TileShape, choose_map};
use super::resources::staged_elems;
use super::{
    Along, BatchTile, Contracted, Launch, Reason, Resources, Side, Staging, Strategy, Tail,
    ThreadMap, Tiled, Variant, VariantKind,
};
use crate::device::{Device, SECTOR_BYTES};

/// Rows and columns of a block without the option `tile`: 8x8 accumulators for 256 threads.
const DEFAULT_SIDE: u32 = 128;

/// The same for a tile of several channels, each of which has its own threads.
const DEFAULT_CHANNELS_SIDE: u32 = 32;

/// Depths of a stage, best first: the deeper, the fewer barriers an accumulation.
const DEPTHS: [u32; 5] = [16, 8, 4, 2, 1];

/// Most staged elements a thread may hold in registers before the depth is reduced.
const MOST_STAGED_ELEMS: u32 = 24;

/// A factor's modes by what the tile does with them.
struct Groups<'p> {
    program: &'p Program,
    statement: &'p Statement,
    row_factor: usize,
    row: ModeId,
    col: ModeId,
    contracted: Option<ModeId>,
    batch: Option<ModeId>,
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
    let groups = Groups::of(program, &program.statements[statement_idx]);
    let shape = groups.shape(options, device).map_err(|why| refused(options, &why))?;
    let map = choose_map(shape, device).map_err(|why| refused(options, &why))?;
    let mut tiled = groups.tiled(shape, map);
    let limit = device.capability.static_shared_bytes;
    if tiled.shared_bytes() > limit {
        let why = format!("{} bytes of shared memory, limit {limit}", tiled.shared_bytes());
        return Err(refused(options, &why).into());
    }
    tiled.min_blocks = Resources::of(&tiled, device).residency.blocks.max(1);
    let reasons = reasons(&groups, &tiled, options, device);
    Ok(Launch { statement: statement_idx, strategy: Strategy::Tiled(tiled), reasons })
}

fn refused(options: &Options, need: &str) -> Diagnostic {
    let tile = options.tile.as_ref().map_or("auto".to_string(), Tile::to_string);
    let refusal = Diagnostic::option(Code::BadTile, format!("`tile = {tile}` needs {need}"))
        .help("make the tile smaller, or give its sides more divisors up to 8");
    located(refusal, options, "tile")
}

impl<'p> Groups<'p> {
    fn of(program: &'p Program, statement: &'p Statement) -> Groups<'p> {
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
            row_factor,
            row: pick(free[row_factor], row_factor).unwrap_or(fallback),
            col: pick(free[col_factor], col_factor).unwrap_or(fallback),
            contracted: pick(Role::Contracted, row_factor),
            batch: channels_mode(statement),
        }
    }

    fn factor(&self, position: usize) -> &'p Access {
        self.statement.factors()[position]
    }

    /// Operands' elements of a sector.
    fn sector_elems(&self) -> u32 {
        SECTOR_BYTES / self.program.operand_dtype().size_bytes() as u32
    }

    /// The others of a role, in the order of the program.
    fn outer(&self, role: Role, tiled: Option<ModeId>) -> Vec<ModeId> {
        let modes = self.statement.modes_of(role);
        modes.into_iter().filter(|mode| Some(*mode) != tiled).collect()
    }

    fn shape(&self, options: &Options, device: &Device) -> Result<TileShape, String> {
        let channels = self.batch.map_or(1, |mode| self.shrunk(mode, self.sector_elems()));
        let default = if channels > 1 { DEFAULT_CHANNELS_SIDE } else { DEFAULT_SIDE };
        let (left, right, depth) = match &options.tile {
            None => {
                let [left, right] = self.left_right(default);
                (left, right, None)
            }
            Some(Tile::Square(side)) => (side.get(), side.get(), None),
            Some(Tile::Triple { m, n, k }) => (m.get(), n.get(), Some(k.get())),
        };
        let sides = if self.row_factor == 0 { [left, right] } else { [right, left] };
        let elem_bytes = self.program.accumulator().size_bytes();
        let least_bytes =
            |depth: u64| 2 * elem_bytes * depth * (u64::from(sides[0]) + u64::from(sides[1]));
        let too_large = |elems: u64| elems > u64::from(device.capability.static_shared_bytes);
        if too_large(u64::from(sides[0]) + u64::from(sides[1])) {
            let bytes = least_bytes(1);
            let limit = device.capability.static_shared_bytes;
            return Err(format!("at least {bytes} bytes of shared memory, limit {limit}"));
        }
        let dtype = self.program.accumulator();
        let shape = |contracted| TileShape { channels, sides, contracted, dtype };
        match (self.contracted, depth) {
            (None, _) => Ok(shape(1)),
            (Some(_), Some(depth)) if too_large(u64::from(depth)) => {
                let bytes = least_bytes(u64::from(depth));
                let limit = device.capability.static_shared_bytes;
                Err(format!("at least {bytes} bytes of shared memory, limit {limit}"))
            }
            (Some(_), Some(depth)) => Ok(shape(depth)),
            (Some(mode), None) => self.deepest(mode, &shape, device),
        }
    }

    /// The default tile, made smaller where the extent is fixed and small.
    fn left_right(&self, default: u32) -> [u32; 2] {
        let [row, col] = [self.row, self.col].map(|mode| self.shrunk(mode, default));
        if self.row_factor == 0 { [row, col] } else { [col, row] }
    }

    fn shrunk(&self, mode: ModeId, default: u32) -> u32 {
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

    fn tiled(&self, shape: TileShape, threads: ThreadMap) -> Tiled {
        let row = self.side(self.row_factor, self.row, shape.sides[0], shape);
        let col = self.side(1 - self.row_factor, self.col, shape.sides[1], shape);
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
            variants,
        }
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

    fn side(&self, factor: usize, mode: ModeId, tile: u32, shape: TileShape) -> Side {
        let role = if factor == 0 { Role::FreeLeft } else { Role::FreeRight };
        Side {
            factor,
            mode,
            tile,
            tail: self.tail(mode, tile),
            outer: self.outer(role, Some(mode)),
            staging: self.staging(factor, mode, tile, shape),
        }
    }

    fn tail(&self, mode: ModeId, tile: u32) -> Tail {
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
        }
    }

    fn variants(
        &self,
        row: &Side,
        col: &Side,
        threads: &ThreadMap,
        shape: TileShape,
    ) -> Vec<Variant> {
        let narrow = Variant { kind: VariantKind::Narrow, load_elems: [1, 1], store_elems: 1 };
        let load_elems = [row, col].map(|side| {
            let walked = match side.staging.along {
                Along::Side => side.tile,
                Along::Contracted => shape.contracted,
                Along::Batch => shape.channels,
            };
            let wide = side.staging.contiguous && walked.is_multiple_of(4);
            if wide && self.may_be_wide(self.factor(side.factor)) { 4 } else { 1 }
        });
        let target = &self.statement.target;
        let along_col = contiguous_mode(target) == Some(col.mode);
        let quads = threads.quad_elems[1] == 4;
        let store_elems = if along_col && quads && self.may_be_wide(target) { 4 } else { 1 };
        let wide = Variant { kind: VariantKind::Wide, load_elems, store_elems };
        if load_elems == [1, 1] && store_elems == 1 { vec![narrow] } else { vec![wide, narrow] }
    }

    /// Whether four elements fit an access and the contiguous mode's extent can be a multiple of
    /// four.
    fn may_be_wide(&self, access: &Access) -> bool {
        if self.program.tensor(access.tensor).dtype.size_bytes() > 4 {
            return false;
        }
        let Some(mode) = contiguous_mode(access) else {
            return false;
        };
        match self.program.mode(mode).extent {
            Extent::Fixed(extent) => extent.is_multiple_of(4),
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

fn reasons(groups: &Groups, tiled: &Tiled, options: &Options, device: &Device) -> Vec<Reason> {
    let name = |mode: ModeId| groups.program.mode(mode).name.as_str();
    let reason = |decision: String, because: String| Reason { decision, because };
    let mut reasons = Vec::new();
    let asked = if options.tile.is_some() { "asked for" } else { "no tile was asked for" };
    reasons.push(reason(
        format!("tile {}x{}x{}", tiled.row.tile, tiled.col.tile, tiled.contracted.tile),
        format!(
            "{asked}; {} threads own {}x{} outputs each; {} stages of {} bytes",
            tiled.threads.block_threads(),
            tiled.threads.thread_elems(0),
            tiled.threads.thread_elems(1),
            tiled.stages,
            tiled.stage_bytes(),
        ),
    ));
    reasons.push(reason(
        format!("rows are `{}`, columns are `{}`", name(tiled.row.mode), name(tiled.col.mode)),
        match contiguous_mode(&groups.statement.target) {
            Some(mode) if mode == tiled.col.mode => {
                format!("`{}` is contiguous in the output, so stores go along columns", name(mode))
            }
            Some(mode) => format!("`{}`, contiguous in the output, is neither", name(mode)),
            None => "no mode is contiguous in the output".to_string(),
        },
    ));
    if let Some(mode) = tiled.batch.mode {
        reasons.push(reason(
            format!("{} channels of `{}` a block", tiled.batch.tile, name(mode)),
            format!(
                "`{}` is contiguous and in every operand: {} of them are a {SECTOR_BYTES}-byte sector",
                name(mode),
                groups.sector_elems()
            ),
        ));
    }
    for side in tiled.sides() {
        reasons.push(staging_reason(groups, tiled, side));
    }
    let resources = Resources::of(tiled, device);
    reasons.push(reason(
        format!("registers for {} blocks a multiprocessor", tiled.min_blocks),
        format!(
            "about {} registers a thread and {} bytes of shared memory, bound by {} on the {}",
            resources.registers, resources.shared_bytes, resources.residency.bound_by, device.name
        ),
    ));
    reasons
}

fn staging_reason(groups: &Groups, tiled: &Tiled, side: &Side) -> Reason {
    let name = |mode: ModeId| groups.program.mode(mode).name.as_str();
    let tensor = &groups.program.tensor(groups.factor(side.factor).tensor).name;
    let (walked, how) = match side.staging.along {
        Along::Side => (Some(side.mode), "copied as it lies"),
        Along::Contracted => (tiled.contracted.mode, "transposed on the way, rows padded by 4"),
        Along::Batch => (tiled.batch.mode, "taken apart by channel, rows padded by 4"),
    };
    let walked = walked.map_or("nothing", name);
    let because = if side.staging.contiguous {
        format!("`{walked}` is contiguous in `{tensor}`, so the loads of a warp share sectors")
    } else {
        format!("no tiled mode is contiguous in `{tensor}`; every load is of one element")
    };
    Reason { decision: format!("`{tensor}` is loaded along `{walked}` and {how}"), because }
}
