//! The facts that an explanation states, gathered from every level, before they are text or JSON.

use mage_codegen::device::Device;
use mage_codegen::emulate::{self, Launched};
use mage_codegen::kernel::{self, Module, Region};
use mage_codegen::pipeline::Levels;
use mage_codegen::schedule::{self, Launch, Reason, Strategy, Tiled};
use mage_einsum::binding::Extents;
use mage_einsum::index::{self, Extent, Gradient, Layout, Program};

use super::cost::{self, Cost};
use super::mapping::{self, ModeMapping};
use super::residency::{self, BlockShare, GridShare};
use super::sample::{self, Counted};
use crate::launches::{ALIGNED, launches};
use crate::request::Request;

/// A whole explanation.
#[derive(Debug)]
pub struct Report {
    /// The notation as written.
    pub notation: String,
    /// The options in canonical form.
    pub options: String,
    /// The name of the kernel's module.
    pub module: String,
    /// The device that the schedule was chosen for.
    pub device: &'static Device,
    /// The labels and their extents, in order of first appearance; none where they are open.
    pub extents: Option<Vec<(String, u64)>>,
    /// The index IR as printed, with the extents where they are given.
    pub program: String,
    /// Modes that the schedule treats as one: the joint name and the labels.
    pub merged: Vec<(String, Vec<String>)>,
    /// Operands whose strides the launch gives; what is counted takes them as row-major.
    pub strided: Vec<String>,
    /// What it costs whatever the schedule.
    pub cost: Cost,
    /// The order of pairs and what it costs, in a sequence that Mage made.
    pub path: Option<String>,
    /// The memory for temporaries, where there are any.
    pub workspace: Option<WorkspaceReport>,
    /// One a launch of the schedule.
    pub launches: Vec<LaunchReport>,
    /// What the emulator counted, or why it counted nothing.
    pub counted: Result<Vec<Counted>, String>,
    /// The gradients of the factors.
    pub gradients: Vec<Gradient>,
}

/// The memory for temporaries.
#[derive(Debug)]
pub struct WorkspaceReport {
    /// Its elements as an expression over labels.
    pub formula: String,
    /// Its elements; none where extents are open or the number is too large.
    pub elems: Option<u64>,
    /// Each temporary's name and, as an expression, its first element; partial sums come after.
    pub temps: Vec<(String, String)>,
    /// The same in words.
    pub words: String,
    /// Bytes of an element.
    pub elem_bytes: u64,
}

/// One launch.
#[derive(Debug)]
pub struct LaunchReport {
    /// Its statement, in a sequence: `step 0: t0[i,k] = sum(j) A[i,j] * B[j,k]`.
    pub step: Option<String>,
    /// What each mode becomes.
    pub mapping: Vec<ModeMapping>,
    /// The loop nest as printed.
    pub nest: String,
    /// Why it is so.
    pub reasons: Vec<Reason>,
    /// What a block takes of a multiprocessor.
    pub block: BlockShare,
    /// How the grid runs; none without extents or where nothing is launched.
    pub grid: Option<GridShare>,
}

/// Gathers the facts.
pub fn of(request: &Request, levels: &Levels, extents: Option<&Extents>) -> Report {
    let device = levels.schedule.device;
    let by_label = extents.map(|extents| {
        let labels = levels.module.labels.iter();
        let pairs = labels.map(|label| (label.name.clone(), extents.get(&label.name).unwrap_or(0)));
        pairs.collect::<Vec<_>>()
    });
    Report {
        notation: request.spec.notation_text.clone(),
        options: levels.schedule.options.clone(),
        module: levels.module.name.clone(),
        device,
        program: match extents {
            Some(extents) => index::print(&with_extents(&levels.program, extents)),
            None => index::print(&levels.program),
        },
        merged: merged(&levels.schedule.program),
        strided: strided(&levels.program),
        cost: cost::of(costed(levels), &levels.module.buffers, extents, device),
        path: levels
            .schedule
            .path
            .as_ref()
            .map(|path| path.print(|label| extents.and_then(|extents| extents.get(label)))),
        workspace: workspace(&levels.module, by_label.as_deref()),
        launches: launch_reports(levels, by_label.as_deref()),
        counted: match extents {
            Some(extents) => sample::of(levels, extents),
            None => Err("give the extents of all labels, as in `i=256`".to_string()),
        },
        extents: by_label,
        gradients: index::gradients(&levels.program),
    }
}

/// The statements that are run: one as it is written, several as they were made of it.
fn costed(levels: &Levels) -> &Program {
    match levels.schedule.program.statements.len() {
        0 | 1 => &levels.program,
        2.. => &levels.schedule.program,
    }
}

fn workspace(module: &Module, by_label: Option<&[(String, u64)]>) -> Option<WorkspaceReport> {
    let workspace = module.workspace.as_ref()?;
    let elems = by_label.and_then(|pairs| {
        let extents: Vec<u64> = pairs.iter().map(|(_, extent)| *extent).collect();
        emulate::workspace_elems(module, &extents)
    });
    let temporaries =
        workspace.regions.iter().filter(|region| module.buffers[region.temp.0].parts.is_none());
    let temp = |region: &Region| {
        let name = module.buffers[region.temp.0].name.clone();
        (name, kernel::host_expr(module, &region.first))
    };
    Some(WorkspaceReport {
        formula: kernel::host_expr(module, &workspace.elems),
        elems,
        temps: temporaries.map(temp).collect(),
        words: kernel::workspace_extent(module, workspace).replace('`', ""),
        elem_bytes: module.buffers[workspace.buffer.0].dtype.size_bytes(),
    })
}

fn step(levels: &Levels, launch: &Launch) -> Option<String> {
    let program = &levels.schedule.program;
    let statement = &program.statements[launch.statement];
    let line = || format!("step {}: {}", launch.statement, index::print_line(program, statement));
    (program.statements.len() > 1).then(line)
}

fn launch_reports(levels: &Levels, by_label: Option<&[(String, u64)]>) -> Vec<LaunchReport> {
    let device = levels.schedule.device;
    let planned = by_label.and_then(|pairs| {
        let extents: Vec<u64> = pairs.iter().map(|(_, extent)| *extent).collect();
        launches(&levels.module, &extents, ALIGNED).ok()
    });
    let planned = planned.unwrap_or_default();
    let reports = levels.schedule.launches.iter().map(|launch| {
        let stem = levels.schedule.kernel_name(launch, []);
        let is_of_launch = |launched: &&Launched| {
            let rest = levels.module.kernels[launched.kernel].name.strip_prefix(&stem);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        let grid = planned.iter().find(is_of_launch);
        let tile = tile_of(launch, grid);
        let block = residency::block_share(launch, tile, device);
        LaunchReport {
            step: step(levels, launch),
            mapping: mapping::of(&levels.schedule, launch, tile),
            nest: schedule::nest(&levels.schedule, launch),
            reasons: launch.reasons.clone(),
            grid: grid.map(|launched| residency::grid_share(launched.blocks, &block, device)),
            block,
        }
    });
    reports.collect()
}

/// The tile that the host takes; without extents the largest.
fn tile_of<'s>(launch: &'s Launch, launched: Option<&Launched>) -> Option<&'s Tiled> {
    let Strategy::Tiled(family) = &launch.strategy else {
        return None;
    };
    let size = launched.and_then(|launched| launched.arm.split('/').next());
    let member = size.and_then(|size| family.named(size)).unwrap_or(&family.largest);
    Some(&member.tiled)
}

/// The program as if its extents were fixed, to print them in its table.
fn with_extents(program: &Program, extents: &Extents) -> Program {
    let mut bound = program.clone();
    for mode in &mut bound.modes {
        mode.extent = u32::try_from(extents.of_mode(mode)).map_or(mode.extent, Extent::Fixed);
    }
    bound
}

fn strided(program: &Program) -> Vec<String> {
    let tensors = program.tensors.iter().filter(|tensor| tensor.layout == Layout::Strided);
    tensors.map(|tensor| tensor.name.clone()).collect()
}

fn merged(program: &Program) -> Vec<(String, Vec<String>)> {
    let merged = program.modes.iter().filter(|mode| mode.parts.len() > 1);
    let labels = |mode: &index::Mode| mode.parts.iter().map(|part| part.label.clone()).collect();
    merged.map(|mode| (mode.name.clone(), labels(mode))).collect()
}
