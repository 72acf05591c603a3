//! A check as text: what was run, what was compared, the worst error beside its bound, the verdict.

use std::fmt::Write;

use mage_codegen::emulate::Launched;

use super::report::{Output, Report, Run};
use super::trial::{Outcome, Trial};
use super::verdict::{By, Verdict, Worst};
use crate::launches::UNALIGNED;
use crate::table::{self, counted};

/// Prints the whole check.
pub fn print(report: &Report) -> String {
    let options = &report.options;
    let with = if options.is_empty() { String::new() } else { format!(" with {options}") };
    let mut text = format!("\"{}\"{with}\n{}\n", report.notation, report.statement);
    let _ =
        writeln!(text, "module {} in the emulator, planned for {}", report.module, report.device);
    for run in &report.runs {
        let _ = write!(text, "\n{}", self::run(run));
    }
    let _ = writeln!(text, "\n{}", conclusion(report));
    text
}

/// Where the arrangement of the operands stands, which is left out where all are row-major.
const OPERANDS_COLUMN: usize = 1;

/// Where the output's name stands, which is left out where there is one.
const OUTPUT_COLUMN: usize = 5;

fn run(run: &Run) -> String {
    let extents: Vec<String> =
        run.extents.iter().map(|(label, extent)| format!("{label}={extent}")).collect();
    let extents = if extents.is_empty() { "no labels".to_string() } else { extents.join(" ") };
    let outputs = match run.outputs.as_slice() {
        [one] => elements(one),
        several => {
            let named =
                several.iter().map(|output| format!("{} {}", output.name, elements(output)));
            named.collect::<Vec<_>>().join(", ")
        }
    };
    let mut text = format!("{extents}: {outputs}\n");
    if run.workspace_elems > 0 {
        let bytes = table::bytes(run.workspace_bytes);
        let _ = writeln!(text, "workspace: {}, {bytes}", counted(run.workspace_elems, "element"));
    }
    let head = [
        "fill",
        "operands",
        "buffers",
        "variant",
        "launched",
        "output",
        "compared by",
        "wrong",
        "worst error",
        "allowed",
        "share",
    ];
    let mut rows = vec![table::row(head)];
    rows.extend(run.trials.iter().flat_map(|trial| self::rows(run, trial)));
    if run.outputs.len() == 1 {
        rows.iter_mut().for_each(|row| drop(row.remove(OUTPUT_COLUMN)));
    }
    if !run.is_rearranged() {
        rows.iter_mut().for_each(|row| drop(row.remove(OPERANDS_COLUMN)));
    }
    text.push_str(&table::columns(&rows));
    for remark in remarks(run) {
        let _ = writeln!(text, "  {remark}");
    }
    text
}

fn elements(output: &Output) -> String {
    let elements = counted(output.n_elements() as u64, "element");
    // One term stands for what is no sum of products, too.
    match output.n_terms {
        1 => elements,
        n_terms => format!("{elements} of {} each", counted(n_terms, "term")),
    }
}

/// A row an output; what is the same for all of them stands in the first.
fn rows(run: &Run, trial: &Trial) -> Vec<Vec<String>> {
    let arm = |launch: &Launched| {
        if launch.arm.is_empty() { "-".to_string() } else { launch.arm.clone() }
    };
    let arms: Vec<String> = trial.launches.iter().map(arm).collect();
    let blocks: Vec<String> =
        trial.launches.iter().map(|launch| counted(launch.blocks, "block")).collect();
    let or = |words: String, other: &str| if words.is_empty() { other.to_string() } else { words };
    let buffers = if trial.byte_alignment == UNALIGNED { "unaligned" } else { "aligned" };
    let row = vec![
        trial.fill.to_string(),
        trial.arrangement.to_string(),
        buffers.to_string(),
        or(arms.join(", "), "-"),
        or(blocks.join(", "), "nothing"),
    ];
    match &trial.outcome {
        Outcome::Trapped(_) => {
            let trapped = [String::new(), "trapped, see below".to_string()];
            vec![row.into_iter().chain(trapped).collect()]
        }
        Outcome::Compared(verdicts) => {
            let empty = vec![String::new(); row.len()];
            let heads = std::iter::once(row).chain(std::iter::repeat(empty));
            let outputs = run.outputs.iter().zip(verdicts);
            let cells = outputs
                .map(|(output, verdict)| [vec![output.name.clone()], compared(verdict)].concat());
            heads.zip(cells).map(|(head, cells)| [head, cells].concat()).collect()
        }
    }
}

fn compared(verdict: &Verdict) -> Vec<String> {
    let mut cells = vec![by(verdict.by).to_string(), verdict.n_wrong.to_string()];
    if let Some(worst) = &verdict.worst {
        cells.extend([worst.error, worst.bound].map(scientific));
        cells.push(share(worst.ratio));
    }
    cells
}

/// How much further than allowed matters little beyond the tenfold.
fn share(ratio: f64) -> String {
    if ratio <= 10.0 { table::percent(ratio) } else { "far beyond".to_string() }
}

fn scientific(value: f64) -> String {
    if value == 0.0 { "0".to_string() } else { format!("{value:.2e}") }
}

/// The word for a way to compare.
pub fn by(by: By) -> &'static str {
    match by {
        By::Equality => "equality",
        By::Bound => "bound",
    }
}

fn remarks(run: &Run) -> Vec<String> {
    let mut remarks = Vec::new();
    if run.n_elements() == 0 {
        let what = if run.outputs.len() == 1 { "the output has no" } else { "no output has" };
        remarks.push(format!("Nothing was launched: {what} elements."));
    } else if run.outputs.iter().all(|output| output.n_terms == 0) {
        remarks.push("The sum is over nothing, so every element must be +0.".to_string());
    }
    for arm in run.idle_variants.iter().filter(|_| run.n_elements() > 0) {
        remarks.push(format!("The host does not select variant `{arm}` here."));
    }
    for trial in &run.trials {
        match &trial.outcome {
            Outcome::Trapped(trap) => remarks.push(format!("{}: trap: {trap}", subject(trial))),
            Outcome::Compared(verdicts) => {
                let outputs = run.outputs.iter().zip(verdicts);
                for (output, verdict) in outputs.filter(|(_, verdict)| verdict.n_wrong > 0) {
                    let several = run.outputs.len() > 1;
                    let of = if several { format!(" of {}", output.name) } else { String::new() };
                    let worst = verdict.worst.as_ref();
                    remarks.extend(worst.map(|worst| wrong(trial, &of, worst)));
                }
            }
        }
    }
    remarks
}

/// What a remark is about.
fn subject(trial: &Trial) -> String {
    let Trial { fill, arrangement, .. } = trial;
    let operands = match *arrangement {
        "row-major" => String::new(),
        other => format!(", {other}"),
    };
    format!("Fill {fill}{operands}")
}

fn wrong(trial: &Trial, of: &str, worst: &Worst) -> String {
    format!(
        "{}: worst{of} at {:?}: {} where the oracle has {}, off by {:e}, allowed {:e}.",
        subject(trial),
        worst.at,
        worst.got,
        worst.expected,
        worst.error,
        worst.bound
    )
}

fn conclusion(report: &Report) -> String {
    let n_trials = report.trials().count();
    let mut n_compared = 0_u64;
    for trial in report.trials() {
        match &trial.outcome {
            Outcome::Compared(verdicts) => {
                n_compared += verdicts.iter().map(|verdict| verdict.n_compared as u64).sum::<u64>();
            }
            Outcome::Trapped(_) => {}
        }
    }
    let compared = counted(n_compared, "element");
    let n_wrong = report.trials().filter(|trial| !trial.holds()).count();
    if n_wrong == 0 {
        format!("right: {compared} compared in {}", counted(n_trials as u64, "run"))
    } else {
        format!("WRONG: {n_wrong} of {} failed", counted(n_trials as u64, "run"))
    }
}

#[cfg(test)]
mod tests {
    use super::print;
    use crate::check::report::{Output, Report, Run};
    use crate::check::trial::{Outcome, Trial};
    use crate::check::verdict::{By, Verdict, Worst};

    fn report(outcome: Outcome) -> Report {
        let arrangement = "row-major";
        let trial =
            Trial { fill: "H", arrangement, byte_alignment: 16, launches: Vec::new(), outcome };
        Report {
            notation: "ij->ij".to_string(),
            options: String::new(),
            statement: "out[i,j] = A[i,j]".to_string(),
            module: "copy".to_string(),
            kernels: vec!["copy".to_string()],
            device: "a device",
            runs: vec![Run {
                extents: vec![("i".to_string(), 2), ("j".to_string(), 3)],
                outputs: vec![Output { name: "out".to_string(), shape: vec![2, 3], n_terms: 1 }],
                trials: vec![trial],
                workspace_elems: 0,
                workspace_bytes: 0,
                idle_variants: Vec::new(),
            }],
        }
    }

    #[test]
    fn a_wrong_element_is_named() {
        let worst = Worst {
            at: vec![1, 2],
            got: 5.0,
            expected: 4.0,
            error: 1.0,
            bound: 0.0,
            ratio: f64::INFINITY,
        };
        let verdict = Verdict { by: By::Equality, n_compared: 6, n_wrong: 1, worst: Some(worst) };
        let report = report(Outcome::Compared(vec![verdict]));
        assert!(!report.holds());
        let text = print(&report);
        assert!(text.contains("at [1, 2]: 5 where the oracle has 4"), "{text}");
        assert!(text.ends_with("WRONG: 1 of 1 run failed\n"), "{text}");
    }

    #[test]
    fn terms_are_counted_where_there_are_several() {
        let mut report = report(Outcome::Trapped(String::new()));
        assert!(print(&report).contains("i=2 j=3: 6 elements\n"));
        report.runs[0].outputs[0].n_terms = 4;
        assert!(print(&report).contains("i=2 j=3: 6 elements of 4 terms each\n"));
    }

    #[test]
    fn a_trap_is_told() {
        let report = report(Outcome::Trapped("kernel `copy`, block 3: a race".to_string()));
        assert!(!report.holds());
        assert!(print(&report).contains("Fill H: trap: kernel `copy`, block 3: a race"));
    }
}
