//! An explanation as text, from the notation down to what one block does.

mod counts;
mod economy;

use std::fmt::Write;

use super::report::{LaunchReport, Report, WorkspaceReport};
use crate::grad;
use crate::table::{self, indented, wrapped};

/// Prints the whole explanation.
pub fn print(report: &Report) -> String {
    let options = &report.options;
    let with = if options.is_empty() { String::new() } else { format!(" with {options}") };
    let mut text = format!("\"{}\"{with}, for {}\n", report.notation, report.device.name);
    section(&mut text, "What it means (index IR)", &meaning(report));
    section(&mut text, "What it costs at least", &economy::print(report));
    if let Some(path) = &report.path {
        section(&mut text, "The path, in pairs", &indented(path));
    }
    if let Some(workspace) = &report.workspace {
        section(&mut text, "The workspace, which the caller gives", &self::workspace(workspace));
    }
    for launch in &report.launches {
        if let Some(step) = &launch.step {
            let _ = write!(text, "\n{}\n", sentence(step).trim_end_matches('.'));
        }
        section(&mut text, "What becomes of each mode", &mapping(launch));
        section(&mut text, "The schedule, outermost loop first", &indented(&launch.nest));
        section(&mut text, "Why it is so", &reasons(launch));
        section(&mut text, "What a block takes of a multiprocessor", &residency(report, launch));
        section(&mut text, "The grid", &grid(report, launch));
    }
    section(&mut text, "What one block asks of memory", &counts::print(report));
    section(&mut text, "Its gradients, each a specification", &grad::told(&report.gradients));
    text
}

fn section(text: &mut String, title: &str, body: &str) {
    let _ = write!(text, "\n{title}\n{}", table::ended(body.to_string()));
}

fn meaning(report: &Report) -> String {
    let mut text = indented(&report.program);
    for (joint, labels) in &report.merged {
        let labels = labels.join("` and `");
        let _ = writeln!(
            text,
            "\n  `{labels}` stand side by side everywhere: one mode `{joint}` from here on."
        );
    }
    if report.extents.is_none() {
        text.push_str(
            "\n  Extents are given at the launch; `mage explain` shows more with them.\n",
        );
    }
    text
}

fn workspace(workspace: &WorkspaceReport) -> String {
    let rows =
        workspace.temps.iter().map(|(name, first)| vec![format!("{name} from"), first.clone()]);
    let mut rows: Vec<Vec<String>> = rows.collect();
    let elems = match workspace.elems {
        Some(elems) => {
            let bytes = table::bytes(u128::from(workspace.elem_bytes) * u128::from(elems));
            format!("{}, {bytes}: {}", table::counted(elems, "element"), workspace.words)
        }
        None => workspace.words.clone(),
    };
    rows.push(vec!["in all".to_string(), elems]);
    table::columns(&rows)
}

fn mapping(launch: &LaunchReport) -> String {
    let mut text = String::new();
    for mapping in &launch.mapping {
        let head = format!("{} is {}: {}.", mapping.mode, mapping.role, mapping.means);
        let _ = write!(text, "{}{}", wrapped(&head, 2), wrapped(&sentence(&mapping.becomes), 6));
    }
    if launch.mapping.is_empty() {
        text.push_str("  There are no modes: one thread computes the one output.\n");
    }
    text
}

fn reasons(launch: &LaunchReport) -> String {
    let reasons = launch.reasons.iter();
    let lines = reasons.map(|reason| {
        format!("  {}\n{}", reason.decision, wrapped(&format!("because {}", reason.because), 6))
    });
    lines.collect()
}

fn residency(report: &Report, launch: &LaunchReport) -> String {
    let (block, capability) = (&launch.block, &report.device.capability);
    let row = |what: &str, takes: String, of: String| vec![what.to_string(), takes, of];
    let registers = block.registers.map_or("not estimated".to_string(), |n| format!("about {n}"));
    let limit = |count: u32, what: &str| format!("of {count} {what}");
    let mut text = table::columns(&[
        row("threads", block.threads.to_string(), limit(capability.sm_threads, "a multiprocessor")),
        row(
            "shared bytes",
            block.shared_bytes.to_string(),
            limit(capability.sm_shared_bytes, "a multiprocessor"),
        ),
        row(
            "registers a thread",
            registers,
            limit(capability.sm_registers, "a multiprocessor, all threads together"),
        ),
    ]);
    let _ = writeln!(
        text,
        "  So {} on a multiprocessor ({} of its threads); the {} bind{}.",
        table::counted(block.resident_blocks, "block"),
        table::percent(block.occupancy),
        block.bound_by,
        if block.bound_by.ends_with('s') { "" } else { "s" },
    );
    text
}

fn grid(report: &Report, launch: &LaunchReport) -> String {
    let Some(grid) = &launch.grid else {
        return match (&report.extents, &report.counted) {
            (Some(_), Err(why)) => wrapped(&sentence(why), 2),
            (Some(_) | None, _) => "  It depends on the extents.\n".to_string(),
        };
    };
    let text = format!(
        "{}; {} multiprocessors hold {} at once, so {}. The last wave is {} full. Derived, before \
         any measurement.",
        table::counted(grid.blocks, "block"),
        report.device.n_sms,
        grid.device_blocks,
        table::counted(grid.waves, "wave"),
        table::percent(grid.last_wave),
    );
    wrapped(&text, 2)
}

/// `text` with a capital and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
