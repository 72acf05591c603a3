//! `mage check`: runs the scheduled kernel in the emulator on filled operands and compares every
//! element with the oracle.

mod operands;
mod trial;
mod verdict;
mod report;
mod text;
mod json;

use mage_codegen::emulate::{self, HostFailure};
use mage_codegen::kernel::Module;
use mage_codegen::pipeline::Levels;
use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::Diagnostic;
use mage_einsum::fill::Fill;
use mage_einsum::index::{self, TensorKind};
use mage_einsum::view::Arrangement;

use crate::Answer;
use crate::args::CheckArgs;
use crate::launches::{ALIGNED, UNALIGNED, launches};
use crate::refusal::{Refusal, Texts};
use crate::request::{Pair, Request};
use operands::Operands;
use report::{Output, Report, Run};
use trial::Trial;

/// Integers, compared by equality, and numbers that round, compared by a bound.
const DEFAULT_FILLS: [&str; 2] = ["H", "normal"];

/// Answers `mage check`.
pub fn answer(asked: &CheckArgs) -> Result<Answer, Refusal> {
    let request = Request::of(&asked.spec, &asked.run)?;
    let levels = request.compile()?;
    // Without extents the binding says which labels lack one; without labels it lacks none.
    let nothing: Vec<Vec<Pair>> = vec![Vec::new()];
    let asked_runs = if request.runs.is_empty() { &nothing } else { &request.runs };
    let mut all_extents = Vec::new();
    for run in asked_runs {
        let extents = request.bind(&levels, run)?;
        operands::affordable(&levels.schedule.program, &extents)
            .map_err(|mistakes| Refusal::mistakes(&mistakes, request.texts()))?;
        all_extents.push(extents);
    }
    let mut runs = Vec::new();
    for extents in &all_extents {
        runs.push(checked(&levels, extents, asked)?);
    }
    let report = Report {
        notation: request.spec.notation_text.clone(),
        options: request.spec.options.print(),
        statement: index::print_statement(&levels.program),
        module: levels.module.name.clone(),
        kernels: levels.module.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
        device: levels.schedule.device.name,
        runs,
    };
    let text = if asked.json { json::print(&report) } else { text::print(&report) };
    Ok(Answer { text, holds: report.holds() })
}

/// Runs one set of extents with every fill, every arrangement of the operands and every variant.
fn checked(levels: &Levels, extents: &Extents, asked: &CheckArgs) -> Result<Run, Refusal> {
    let by_label: Vec<u64> =
        levels.module.labels.iter().map(|label| extents.get(&label.name).unwrap_or(0)).collect();
    let alignments = alignments(levels, &by_label, asked.unaligned);
    let mut trials = Vec::new();
    let mut outputs = Vec::new();
    let arrangements = operands::arrangements(&levels.program);
    let tried = fills(asked)
        .into_iter()
        .flat_map(|fill| arrangements.iter().map(move |arrangement| (fill, *arrangement)));
    for ((fill_name, fill), (arrangement_name, arrangement)) in tried {
        let operands = Operands::filled(&levels.program, extents, fill, arrangement);
        let evaluations = operands
            .evaluated(&levels.program)
            .map_err(|mistakes| Refusal::mistakes(&mistakes, Texts::default()))?;
        let names = levels.program.tensors_of(TensorKind::Output).map(|(_, tensor)| &tensor.name);
        outputs = names.zip(&evaluations).map(|(name, output)| Output::of(name, output)).collect();
        // One alignment is enough where strides already decide which variant runs.
        let n_alignments = if arrangement == Arrangement::RowMajor { alignments.len() } else { 1 };
        for byte_alignment in alignments.iter().take(n_alignments) {
            let conditions = trial::Conditions {
                module: &levels.module,
                extents: &by_label,
                fill: fill_name,
                arrangement: arrangement_name,
                byte_alignment: *byte_alignment,
            };
            trials.push(trial::tried(&conditions, &operands, &evaluations).map_err(refused)?);
        }
    }
    let labels = levels.module.labels.iter().map(|label| label.name.clone());
    let workspace_elems = emulate::workspace_elems(&levels.module, &by_label).unwrap_or(u64::MAX);
    Ok(Run {
        workspace_elems,
        workspace_bytes: u128::from(workspace_elems) * u128::from(elem_bytes(&levels.module)),
        idle_variants: idle_variants(&levels.module, &trials),
        extents: labels.zip(by_label).collect(),
        outputs,
        trials,
    })
}

/// Bytes of an element of the workspace; 0 where there is none.
fn elem_bytes(module: &Module) -> u64 {
    let workspace = module.workspace.as_ref();
    workspace.map_or(0, |workspace| module.buffers[workspace.buffer.0].dtype.size_bytes())
}

/// The kernels that no trial launched, by what their names add to the module's.
fn idle_variants(module: &Module, trials: &[Trial]) -> Vec<String> {
    let ran = |kernel: usize| {
        let mut launches = trials.iter().flat_map(|trial| &trial.launches);
        launches.any(|launched| launched.kernel == kernel)
    };
    let kernels = module.kernels.iter().enumerate();
    let idle = kernels.filter(|(kernel, _)| !ran(*kernel)).map(|(_, kernel)| &kernel.name);
    let variant =
        |name: &String| name.strip_prefix(&module.name)?.strip_prefix('_').map(str::to_string);
    idle.filter_map(variant).collect()
}

fn fills(asked: &CheckArgs) -> Vec<(&'static str, Fill)> {
    let is_asked = |name: &str| {
        if asked.fill.is_empty() {
            DEFAULT_FILLS.contains(&name)
        } else {
            asked.fill.iter().any(|fill| fill == name)
        }
    };
    Fill::NAMES.into_iter().filter(|(name, _)| is_asked(name)).collect()
}

/// The alignments that lead to different launches.
fn alignments(levels: &Levels, extents: &[u64], unaligned_only: bool) -> Vec<u64> {
    if unaligned_only {
        return vec![UNALIGNED];
    }
    let planned = |byte_alignment| launches(&levels.module, extents, byte_alignment);
    if planned(ALIGNED) == planned(UNALIGNED) { vec![ALIGNED] } else { vec![ALIGNED, UNALIGNED] }
}

/// The host's refusal of a launch; it names the label or the buffer, and both sides.
fn refused(failure: HostFailure) -> Refusal {
    let mistake = Diagnostic::new(failure.code, failure.message);
    Refusal::mistakes(&mistake.into(), Texts::default())
}
