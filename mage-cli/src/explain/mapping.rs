//! What each mode is to a statement and what it therefore becomes in the kernel, in sentences.
//! It reads the schedule and decides nothing.

use mage_codegen::device::SECTOR_BYTES;
use mage_codegen::schedule::{
    Along, Elementwise, Lanes, Launch, Reduction, Rows, Schedule, Segments, Side, Strategy, Tiled,
    Transpose,
};
use mage_einsum::index::{ModeId, Program, Role, Statement, TensorId};
use mage_einsum::reducer::Reducer;

/// One mode's way from notation to kernel.
#[derive(Debug)]
pub struct ModeMapping {
    /// The mode, merged ones under their joint name.
    pub mode: String,
    /// Its role.
    pub role: Role,
    /// What the role means for it.
    pub means: String,
    /// What the schedule makes of it.
    pub becomes: String,
}

/// Every mode of a launch's statement, in order of first appearance, with the given tile of its
/// family.
pub fn of(schedule: &Schedule, launch: &Launch, tile: Option<&Tiled>) -> Vec<ModeMapping> {
    let program = &schedule.program;
    let statement = &program.statements[launch.statement];
    let mappings = statement.roles.iter().map(|(mode, role)| ModeMapping {
        mode: program.mode(*mode).name.clone(),
        role: *role,
        means: means(program, statement, *mode, *role),
        becomes: match &launch.strategy {
            Strategy::Tiled(family) => {
                tiled_mode(program, statement, tile.unwrap_or(&family.largest.tiled), *mode)
            }
            Strategy::Transpose(transpose) => transpose_mode(transpose, *mode),
            Strategy::Reduction(reduction) => reduction_mode(reduction, *mode),
            Strategy::Rows(rows) => rows_mode(rows, *mode),
            Strategy::Segments(segments) => segments_mode(segments, *mode),
            Strategy::Elementwise(elementwise) => elementwise_mode(elementwise, *mode),
            Strategy::PerOutput(_) if statement.reduced.contains(mode) => {
                "a thread takes its terms one after the other".to_string()
            }
            Strategy::PerOutput(per_output) => format!(
                "part of an output's position: a thread has one, a block has {}",
                per_output.block_threads
            ),
        },
    });
    mappings.collect()
}

fn means(program: &Program, statement: &Statement, mode: ModeId, role: Role) -> String {
    let name = &program.mode(mode).name;
    let holders = holders(program, statement, mode).join(" and ");
    let output = &program.tensor(statement.target.tensor).name;
    match role {
        Role::Batch => match own(statement) {
            None => format!("in {holders} and in `{output}`"),
            Some(own) => format!(
                "in {holders} and in `{output}`: each value of `{name}` is {own} of its own"
            ),
        },
        Role::FreeLeft | Role::FreeRight => format!("in {holders} and in `{output}`"),
        Role::Contracted | Role::Reduced if statement.reducer != Reducer::Sum => {
            format!("in {holders} but not in `{output}`: its {} is taken", statement.reducer.name())
        }
        Role::Contracted => format!("in {holders} but not in `{output}`: it is summed"),
        Role::Reduced if statement.factors().len() > 1 => {
            format!("in {holders} alone: it is summed before or with the product")
        }
        Role::Reduced => format!("in {holders} alone: it is summed"),
    }
}

/// What a statement is for each value of a batch mode; nothing for one that reduces nothing.
fn own(statement: &Statement) -> Option<&'static str> {
    let is_contracted = statement.roles.iter().any(|(_, role)| *role == Role::Contracted);
    let is_sum = statement.is_sum_of_products();
    match (is_contracted && is_sum, statement.reduced.is_empty()) {
        (true, _) => Some("a contraction"),
        (false, false) => Some("a reduction"),
        (false, true) => None,
    }
}

/// The tensors that a mode stands in on the right, with index operands and row pointers.
fn holders(program: &Program, statement: &Statement, mode: ModeId) -> Vec<String> {
    let mut tensors: Vec<TensorId> = Vec::new();
    for factor in statement.factors() {
        let gathers = factor.gathers.iter().map(|gather| (gather.indices, &gather.modes));
        let accesses = [(factor.tensor, &factor.modes)].into_iter().chain(gathers);
        tensors
            .extend(accesses.filter(|(_, modes)| modes.contains(&mode)).map(|(tensor, _)| tensor));
    }
    let segment = statement.segment.filter(|segment| segment.row == mode);
    tensors.extend(segment.map(|segment| segment.pointers));
    tensors.iter().map(|tensor| format!("`{}`", program.tensor(*tensor).name)).collect()
}

fn tiled_mode(program: &Program, statement: &Statement, tiled: &Tiled, mode: ModeId) -> String {
    for (side, what) in [(&tiled.row, "rows"), (&tiled.col, "columns")] {
        if side.mode == mode {
            return format!("a block owns {} of it as the {what} of its tile", side.tile);
        }
    }
    let name = &program.mode(mode).name;
    if tiled.batch.mode == Some(mode) {
        return channels(name, tiled);
    }
    if tiled.contracted.mode == Some(mode) {
        return walked(program, statement, tiled);
    }
    if tiled.contracted.outer.contains(&mode) {
        return "every block walks it one by one, around the stages".to_string();
    }
    "the grid walks it one by one: a block has one value of it".to_string()
}

/// Why a block owns channels is the point of a channels-last contraction.
fn channels(name: &str, tiled: &Tiled) -> String {
    let sector_elems = SECTOR_BYTES / 4;
    let owned = tiled.batch.tile;
    format!(
        "a block owns {owned} of it, each with threads of its own. `{name}` is contiguous, and \
         memory moves in sectors of {SECTOR_BYTES} bytes, which are {sector_elems} neighbouring \
         values of `{name}`; a block with one `{name}` would use 1/{sector_elems} of what it moves"
    )
}

fn walked(program: &Program, statement: &Statement, tiled: &Tiled) -> String {
    let staged: Vec<String> =
        tiled.sides().iter().map(|side| staged(program, statement, tiled, side)).collect();
    format!(
        "a block walks it {} at a time, a stage of shared memory each: {}, and {}",
        tiled.contracted.tile,
        staged.join(", "),
        reuse(program, statement, tiled)
    )
}

/// Why there are tiles at all: how often a block uses what it loads once.
fn reuse(program: &Program, statement: &Statement, tiled: &Tiled) -> String {
    let factors = statement.factors();
    let tensor = |side: &Side| program.tensor(factors[side.factor].tensor).name.as_str();
    format!(
        "used from there: an element of `{}` {} times, once a column, one of `{}` {} times, once \
         a row",
        tensor(&tiled.row),
        tiled.col.tile,
        tensor(&tiled.col),
        tiled.row.tile
    )
}

fn staged(program: &Program, statement: &Statement, tiled: &Tiled, side: &Side) -> String {
    let factors = statement.factors();
    let tensor = &program.tensor(factors[side.factor].tensor).name;
    let named = |mode: Option<ModeId>| mode.map_or("", |mode| program.mode(mode).name.as_str());
    let (along, how) = match side.staging.along {
        Along::Side => (named(Some(side.mode)), "kept as it lies"),
        Along::Contracted if side.staging.swizzle.is_some() => {
            (named(tiled.contracted.mode), "kept as it lies")
        }
        Along::Contracted => (named(tiled.contracted.mode), "transposed on the way"),
        Along::Batch => (named(tiled.batch.mode), "taken apart by channel"),
    };
    format!("`{tensor}` loaded along `{along}` and {how}")
}

fn transpose_mode(transpose: &Transpose, mode: ModeId) -> String {
    let tile = transpose.tile;
    if transpose.load.mode == mode {
        return format!("a block owns {tile} of it; a warp loads along it, as the operand lies");
    }
    if transpose.store.mode == mode {
        return format!("a block owns {tile} of it; a warp stores along it, as the output lies");
    }
    "the grid walks it one by one: a block has one value of it".to_string()
}

fn rows_mode(rows: &Rows, mode: ModeId) -> String {
    if rows.col_mode == mode {
        return "the threads of a row hold its positions in registers, from the first statement to \
                the last"
            .to_string();
    }
    "part of a row's position: a warp or a block has one row at a time".to_string()
}

fn segments_mode(segments: &Segments, mode: ModeId) -> String {
    if mode == segments.segment.row {
        return "neighbouring lanes have one row; a block has several".to_string();
    }
    if mode == segments.lane_mode {
        return "neighbouring lanes walk it, so that what is looked up is read in whole sectors"
            .to_string();
    }
    format!(
        "the lanes of a row take its part one after the other, {} in flight; of a row with {} or \
         more blocks of their own take parts",
        segments.ahead, segments.part_edges
    )
}

fn elementwise_mode(elementwise: &Elementwise, mode: ModeId) -> String {
    let taken = if elementwise.unrolled_mode() == mode {
        format!("; a thread takes {} of it", elementwise.thread_rows)
    } else {
        String::new()
    };
    if elementwise.lane_mode == mode {
        return format!("neighbouring lanes walk it, as the output lies{taken}");
    }
    format!("part of an output's position{taken}")
}

fn reduction_mode(reduction: &Reduction, mode: ModeId) -> String {
    let is_lane_mode = reduction.lane_mode == mode;
    match (reduction.lanes, is_lane_mode, reduction.terms.contains(&mode)) {
        (Lanes::Terms, true, _) => {
            "neighbouring lanes have neighbouring terms of the sum over it; \
             shuffles combine their partial sums"
                .to_string()
        }
        (Lanes::Outputs, true, _) => {
            "neighbouring lanes have neighbouring outputs along it".to_string()
        }
        (Lanes::Terms | Lanes::Outputs, false, true) => {
            "part of a term's position: the threads that share an output take terms in turn"
                .to_string()
        }
        (Lanes::Terms, false, false) => "part of an output's position".to_string(),
        (Lanes::Outputs, false, false) => {
            "the grid walks it one by one: a block has one value of it".to_string()
        }
    }
}
