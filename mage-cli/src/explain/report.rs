//! The facts that an explanation states, gathered from every level, before they are text or JSON.

use mage_codegen::device::Device;
use mage_codegen::pipeline::Levels;
use mage_codegen::schedule::{self, Reason};
use mage_einsum::binding::Extents;
use mage_einsum::index::{self, Extent, Program};

use super::cost::{self, Cost};
use super::mapping::{self, ModeMapping};
use super::residency::{self, BlockShare, GridShare};
use super::sample::{self, Counted};
use crate::launches::{ALIGNED, Situation, launches};
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
    /// What it costs whatever the schedule.
    pub cost: Cost,
    /// One a launch of the schedule.
    pub launches: Vec<LaunchReport>,
    /// What the emulator counted, or why it counted nothing.
    pub counted: Result<Vec<Counted>, String>,
}

/// One launch.
#[derive(Debug)]
pub struct LaunchReport {
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
        cost: cost::of(&levels.program, extents, device),
        launches: launch_reports(levels, by_label.as_deref()),
        counted: match extents {
            Some(extents) => sample::of(levels, extents),
            None => Err("give the extents of all labels, as in `i=256`".to_string()),
        },
        extents: by_label,
    }
}

fn launch_reports(levels: &Levels, by_label: Option<&[(String, u64)]>) -> Vec<LaunchReport> {
    let device = levels.schedule.device;
    let planned = by_label.and_then(|pairs| {
        let extents: Vec<u64> = pairs.iter().map(|(_, extent)| *extent).collect();
        let module = &levels.module;
        launches(Situation { module, extents: &extents, byte_alignment: ALIGNED })
    });
    let planned = planned.unwrap_or_default();
    let reports = levels.schedule.launches.iter().enumerate().map(|(position, launch)| {
        let block = residency::block_share(launch, device);
        let grid = planned.get(position);
        LaunchReport {
            mapping: mapping::of(&levels.schedule, launch),
            nest: schedule::nest(&levels.schedule, launch),
            reasons: launch.reasons.clone(),
            grid: grid.map(|launched| residency::grid_share(launched.blocks, &block, device)),
            block,
        }
    });
    reports.collect()
}

/// The program as if its extents were fixed, to print them in its table.
fn with_extents(program: &Program, extents: &Extents) -> Program {
    let mut bound = program.clone();
    for mode in &mut bound.modes {
        mode.extent = u32::try_from(extents.of_mode(mode)).map_or(mode.extent, Extent::Fixed);
    }
    bound
}

fn merged(program: &Program) -> Vec<(String, Vec<String>)> {
    let merged = program.modes.iter().filter(|mode| mode.parts.len() > 1);
    let labels = |mode: &index::Mode| mode.parts.iter().map(|part| part.label.clone()).collect();
    merged.map(|mode| (mode.name.clone(), labels(mode))).collect()
}
