//! Level 2 to level 3: chooses a strategy for each statement, with a reason for each decision, or
//! refuses what the options ask for, with the need and the limit.

use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics};
use mage_einsum::function::Function;
use mage_einsum::index::{self, Layout, Program, Role, Statement};
use mage_einsum::options::{Options, Tile};

use super::choose_elementwise::choose_elementwise;
use super::choose_epilogue::choose_epilogue;
use super::choose_reduction::choose_reduction;
use super::choose_rows::choose_rows;
use super::choose_segments::choose_segments;
use super::choose_tiled::choose_tiled;
use super::choose_transpose::choose_transpose;
use super::naming::name;
use super::{Launch, PerOutput, Reason, Schedule, Strategy};
use crate::device::{self, Device};
use crate::kernel::has_kernel;

/// Threads of a block of the one-output-a-thread strategy: eight warps, so that six blocks fill
/// the 1536 threads of an sm_89 multiprocessor and eight the 2048 of an sm_90 one.
const PER_OUTPUT_THREADS: u32 = 256;

/// Chooses how `program` is run.
///
/// # Errors
/// `BadTile` when a tile is asked for that the strategy has no use for or that does not fit the
/// device, `BadOption` for an unknown device.
pub fn choose(program: &Program, options: &Options) -> Result<Schedule, Diagnostics> {
    let device = chosen_device(options)?;
    let (paired, path) = index::pairs(program, options)?;
    let taken = options.path.is_some() || widest(&paired) < widest(program);
    let canonical =
        index::merge(&index::center(&index::unify(if taken { &paired } else { program })));
    let path = taken.then_some(path);
    tile_has_use(&canonical, options)?;
    functions_have_kernels(&canonical, options)?;
    let mut launches: Vec<Launch> = Vec::new();
    let mut next = 0;
    while let Some(statement) = canonical.statements.get(next) {
        let mut launch = choose_launch(&canonical, next, statement, options, device)?;
        choose_epilogue(&canonical, &mut launch);
        launch.reasons.extend(strides_reason(&canonical, &launch));
        next = launch.last + 1;
        launches.push(launch);
    }
    let name = options.name.clone().unwrap_or_else(|| name(program, options));
    Ok(Schedule { program: canonical, path, name, options: options.print(), device, launches })
}

/// Modes of the statement that has the most. A path is worth its temporaries where it lowers this
/// number: then its sums are shorter by a whole extent. Elsewhere one kernel takes all factors.
fn widest(program: &Program) -> usize {
    program.statements.iter().map(|statement| statement.roles.len()).max().unwrap_or(0)
}

fn chosen_device(options: &Options) -> Result<&'static Device, Diagnostics> {
    let Some(key) = &options.device else {
        return Ok(&device::RTX_4090);
    };
    device::find(key).ok_or_else(|| {
        let known: Vec<&str> = device::DEVICES.iter().map(|device| device.key).collect();
        let unknown = Diagnostic::option(Code::BadOption, format!("device `{key}` has no model"))
            .help(format!("name one of {}", known.join(", ")));
        located(unknown, options, "device").into()
    })
}

/// A tile is for the statements that have M and N; where none has, it is refused.
fn tile_has_use(program: &Program, options: &Options) -> Result<(), Diagnostics> {
    let missing: Option<Vec<String>> = program.statements.iter().map(missing_for_tiles).collect();
    let (Some(tile), Some(mut missing)) = (&options.tile, missing) else {
        return Ok(());
    };
    missing.dedup();
    let refusal = tile_refused(tile, &missing.join("; "));
    Err(located(refusal, options, "tile").into())
}

fn choose_launch(
    program: &Program,
    statement_idx: usize,
    statement: &Statement,
    options: &Options,
    device: &'static Device,
) -> Result<Launch, Diagnostics> {
    if let Some(launch) = choose_rows(program, statement_idx) {
        return Ok(launch);
    }
    let Some(missing) = missing_for_tiles(statement) else {
        return choose_tiled(program, statement_idx, options, device);
    };
    if let Some(launch) = choose_segments(program, statement_idx, statement) {
        return Ok(launch);
    }
    let is_plain = statement.segment.is_none()
        && statement.factors().iter().all(|factor| factor.gathers.is_empty());
    let chosen = is_plain.then(|| {
        choose_transpose(program, statement_idx, statement)
            .or_else(|| choose_reduction(program, statement_idx, statement, device))
            .or_else(|| choose_elementwise(program, statement_idx, statement))
    });
    Ok(chosen.flatten().unwrap_or_else(|| per_output(statement, statement_idx, &missing)))
}

/// Every function that a statement applies must have a kernel for the type that it is computed in.
fn functions_have_kernels(program: &Program, options: &Options) -> Result<(), Diagnostics> {
    fn called(expr: &index::Expr) -> Vec<Function> {
        let own = if let index::Expr::Call(function, _) = expr { Some(*function) } else { None };
        own.into_iter().chain(expr.parts().into_iter().flat_map(called)).collect()
    }
    let dtype = program.accumulator();
    let functions = program.statements.iter().flat_map(|statement| called(&statement.value));
    match functions.into_iter().find(|function| !has_kernel(*function, dtype)) {
        None => Ok(()),
        Some(function) => {
            let message = format!("`{}` has no kernel for {dtype}", function.name());
            let help = "write `dtype = f32`, or an expression without the function";
            let refusal = Diagnostic::option(Code::DtypeUnsupported, message).help(help);
            Err(located(refusal, options, "dtype").into())
        }
    }
}

/// Strides that only the launch knows leave a preference open; the choice is the row-major one.
fn strides_reason(program: &Program, launch: &Launch) -> Option<Reason> {
    let mut names: Vec<String> = Vec::new();
    let statements = launch.statements().map(|position| &program.statements[position]);
    for factor in statements.flat_map(Statement::factors) {
        let tensor = program.tensor(factor.tensor);
        let name = format!("`{}`", tensor.name);
        if tensor.layout == Layout::Strided && !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| Reason {
        decision: format!("any strides of {}", names.join(", ")),
        because: "the launch gives them; the last mode of each is taken for the contiguous one, \
                  and where its stride is not 1 the result is right all the same"
            .to_string(),
    })
}

/// Points a diagnostic at the value of an option.
pub(super) fn located(diagnostic: Diagnostic, options: &Options, key: &str) -> Diagnostic {
    match options.span_of(key) {
        Some(span) => diagnostic.at(span).place(format!("option `{key}`")),
        None => diagnostic.place(format!("option `{key}`")),
    }
}

/// What a statement lacks of a contraction that tiles fit, in words; `None` when it lacks nothing.
fn missing_for_tiles(statement: &Statement) -> Option<String> {
    if !statement.is_sum_of_products() {
        return Some("it is no sum of products".to_string());
    }
    let n_factors = statement.factors().len();
    if n_factors != 2 {
        return Some(format!("tiles take two operands and it has {n_factors}"));
    }
    if let Some((_, _)) = statement.roles.iter().find(|(_, role)| *role == Role::Reduced) {
        return Some("a mode is reduced that only one operand has".to_string());
    }
    for (role, words) in [(Role::FreeLeft, "operand 0"), (Role::FreeRight, "operand 1")] {
        if statement.modes_of(role).is_empty() {
            return Some(format!("no mode of the output belongs to {words} alone"));
        }
    }
    None
}

fn tile_refused(tile: &Tile, missing: &str) -> Diagnostic {
    Diagnostic::option(Code::BadTile, format!("`tile = {tile}` has no M and N to set: {missing}"))
        .help("leave `tile` out")
}

fn per_output(statement: &Statement, statement_idx: usize, missing: &str) -> Launch {
    let reason = |decision: &str, because: &str| Reason {
        decision: decision.to_string(),
        because: because.to_string(),
    };
    let because = match statement.reduced.as_slice() {
        [] => format!("nothing is summed, and {missing}"),
        [..] => "its terms are looked up, so neighbours of them are none in memory".to_string(),
    };
    let strategy = PerOutput { block_threads: PER_OUTPUT_THREADS };
    let reasons = vec![
        reason("one thread an output element", &because),
        reason(
            &format!("{PER_OUTPUT_THREADS} threads a block"),
            "whole blocks of eight warps fill a multiprocessor",
        ),
    ];
    Launch::of(statement_idx, Strategy::PerOutput(strategy), reasons)
}
