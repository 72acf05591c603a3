//! The tiled contraction: the fields of a mapping in which a block owns a tile of rows, columns
//! and (where a batch mode is contiguous) channels, and walks the contracted modes in stages.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::{Access, ModeId};

use super::{Swizzle, ThreadMap};

/// A tile of a contraction of two factors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiled {
    /// The side of the tile that does not hold the output's contiguous mode.
    pub row: Side,
    /// The side that holds it, where a free mode is contiguous in the output.
    pub col: Side,
    /// The contracted modes.
    pub contracted: Contracted,
    /// The batch modes.
    pub batch: BatchTile,
    /// What a thread owns of the tile.
    pub threads: ThreadMap,
    /// The type of the stage's elements and of the fragments: the accumulator's, or that of the
    /// factors where the tensor cores multiply.
    pub dtype: Dtype,
    /// Stages in shared memory: two, or one where there is only one step to take; for the tensor
    /// cores three, or two where three do not fit.
    pub stages: u32,
    /// Blocks a multiprocessor that registers are kept for.
    pub min_blocks: u32,
    /// How accumulators get into the output.
    pub epilogue: Epilogue,
    /// Operands of the statements that follow, each with the columns' mode alone, whose elements at
    /// the tile's columns are staged before the first step.
    pub beside: Vec<Access>,
    /// Wide before narrow; the last can always run.
    pub variants: Vec<Variant>,
    /// How the products of the steps are summed.
    pub summing: Summing,
}

/// How the products of a block's steps are summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summing {
    /// Each is added to the sum of those before it.
    Running,
    /// Those of so many steps by themselves, and the sums of these rounds in a second set of
    /// registers: for more than 2^16 terms.
    Rounds(u32),
    /// Those of a stage, or of a part of it, by themselves on the tensor cores, from zero, and what
    /// comes of it by f32 arithmetic: the tensor cores cut sums off where that rounds.
    Apart,
}

impl Summing {
    /// Steps of a round, where there are rounds.
    pub fn round_steps(self) -> Option<u32> {
        match self {
            Summing::Rounds(steps) => Some(steps),
            Summing::Running | Summing::Apart => None,
        }
    }
}

/// How accumulators get into the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epilogue {
    /// Each thread writes its own.
    Direct,
    /// Through the stages, which are free by then, so that neighbouring threads write neighbouring
    /// channels.
    Exchanged(Exchange),
}

/// An exchange of accumulators in shared memory, as `[channel][row][column]`, a few of each
/// thread's rows at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Rows of a thread that change hands at a time.
    pub thread_rows: u32,
    /// Elements from one channel to the next: 4 more than a multiple of 32, so that the threads of
    /// eight channels and four columns read from 32 banks.
    pub channel_elems: u32,
}

/// The free modes of one factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// Position of the factor in the statement's product.
    pub factor: usize,
    /// The tiled mode.
    pub mode: ModeId,
    /// Its tile in elements.
    pub tile: u32,
    /// Whether the tile divides the extent.
    pub tail: Tail,
    /// The factor's other free modes; each is a grid axis of its own.
    pub outer: Vec<ModeId>,
    /// How the factor is staged.
    pub staging: Staging,
}

/// The contracted modes: one is tiled, the others are serial loops around its tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contracted {
    /// The tiled mode; `None` for an outer product, which has one stage of one term.
    pub mode: Option<ModeId>,
    /// Its tile in elements, the depth of a stage.
    pub tile: u32,
    /// Whether the tile divides the extent.
    pub tail: Tail,
    /// The other contracted modes, outermost first.
    pub outer: Vec<ModeId>,
}

/// The batch modes: one is tiled where it is contiguous, all others are grid axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchTile {
    /// The tiled mode, the channels of a channels-last contraction.
    pub mode: Option<ModeId>,
    /// Channels of a block; 1 without a tiled mode.
    pub tile: u32,
    /// Whether the tile divides the extent.
    pub tail: Tail,
    /// The other batch modes, outermost first.
    pub outer: Vec<ModeId>,
}

/// What becomes of the last tile of a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// The extent is fixed and the tile divides it: no predicate.
    Exact,
    /// Loads beyond the extent give zero and stores there are left out.
    Predicated,
}

/// The tile direction that consecutive threads walk while they stage a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Along {
    /// The factor's own free mode.
    Side,
    /// The contracted mode: the stage is written transposed.
    Contracted,
    /// The tiled batch mode.
    Batch,
}

/// How one factor gets from global into shared memory. A stage holds it as
/// `[channel][contracted][side]`, whichever way it lies in global memory; one for the tensor cores
/// may hold it as `[side][contracted]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staging {
    /// The direction of consecutive threads.
    pub along: Along,
    /// Whether that direction is contiguous in global memory (the stride is 1), so that wide
    /// accesses are possible.
    pub contiguous: bool,
    /// Elements from one row of the stage to the next: the tile and a pad.
    pub row_elems: u32,
    /// Elements from one channel of the stage to the next.
    pub channel_elems: u32,
    /// How a stage for the tensor cores lies: as the factor does in global memory, with rows along
    /// the walked direction, whose chunks change places.
    pub swizzle: Option<Swizzle>,
}

/// Which accesses a variant makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariantKind {
    /// Four elements an access, or 16 bytes on the way to the tensor cores, wherever the mode
    /// along it is contiguous.
    Wide,
    /// One element an access.
    Narrow,
}

/// A version of the kernel for some extents and alignments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Wide or narrow.
    pub kind: VariantKind,
    /// Elements of one load of the row factor and of the column factor: 1, 4 or 8.
    pub load_elems: [u32; 2],
    /// Elements of one store of the output: 1, 2 or 4.
    pub store_elems: u32,
}

impl VariantKind {
    /// One sentence on the accesses to operands of `dtype`, `elems` at once where they are wide.
    pub fn accesses(self, dtype: Dtype, elems: u32) -> String {
        let bytes = dtype.size_bytes();
        match self {
            VariantKind::Wide => format!(
                "Accesses of {wide} bytes, for contiguous extents that are multiples of {elems} in \
                 buffers aligned to {wide} bytes.",
                wide = u64::from(elems) * bytes
            ),
            VariantKind::Narrow => {
                format!("Accesses of {bytes} bytes, for any extents and alignment.")
            }
        }
    }

    /// The suffix of the kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            VariantKind::Wide => "wide",
            VariantKind::Narrow => "narrow",
        }
    }
}

impl Tiled {
    /// Both sides, rows first: the order in which they lie in a stage.
    pub fn sides(&self) -> [&Side; 2] {
        [&self.row, &self.col]
    }

    /// Whether a barrier stands between the last step and the results. Where batch modes lie on the
    /// grid it keeps the assembler from computing addresses of results while steps go on.
    pub fn settles(&self) -> bool {
        let is_direct = self.epilogue == Epilogue::Direct && !self.threads.fragments;
        self.stages > 1 && is_direct && !self.batch.outer.is_empty()
    }

    /// How many stages there are: `2 stages`.
    pub fn stages_in_words(&self) -> String {
        match self.stages {
            1 => "1 stage".to_string(),
            stages => format!("{stages} stages"),
        }
    }

    /// Elements of one stage: both factors, one after the other.
    pub fn stage_elems(&self) -> u32 {
        self.sides().iter().map(|side| side.staging.channel_elems * self.batch.tile).sum()
    }

    /// Bytes of one stage.
    pub fn stage_bytes(&self) -> u32 {
        self.stage_elems() * self.dtype.size_bytes() as u32
    }

    /// Elements of an exchange's half; the other one is written while it is read.
    pub fn exchange_elems(&self, exchange: &Exchange) -> u32 {
        exchange.channel_elems * self.batch.tile
    }

    /// Rows of the tile that change hands at a time.
    pub fn exchange_rows(&self, thread_rows: u32) -> u32 {
        thread_rows * (self.row.tile / self.threads.thread_elems(0))
    }

    /// Bytes of shared memory of a block.
    pub fn shared_bytes(&self) -> u32 {
        let beside = self.beside.len() as u32 * self.col.tile * self.dtype.size_bytes() as u32;
        self.stages * self.stage_bytes() + beside
    }
}
