//! A check as JSON: everything that the text has, under sorted keys.

use serde_json::{Map, Value, json};

use super::report::{Report, Run};
use super::text::by;
use super::trial::{Outcome, Trial};
use super::verdict::Worst;
use crate::table;

/// Prints the whole check.
pub fn print(report: &Report) -> String {
    let runs: Vec<Value> = report.runs.iter().map(|run| self::run(report, run)).collect();
    let value = json!({
        "device": report.device,
        "mage": env!("CARGO_PKG_VERSION"),
        "module": report.module,
        "notation": report.notation,
        "options": report.options,
        "program": report.statement,
        "right": report.holds(),
        "runs": runs,
    });
    table::ended(format!("{value:#}"))
}

fn run(report: &Report, run: &Run) -> Value {
    let extents: Map<String, Value> =
        run.extents.iter().map(|(label, extent)| (label.clone(), json!(extent))).collect();
    json!({
        "elements": run.n_elements(),
        "extents": extents,
        "idle_variants": run.idle_variants,
        "output_extents": run.shape,
        "terms": run.n_terms,
        "workspace_elems": run.workspace_elems,
        "trials": run.trials.iter().map(|trial| self::trial(report, trial)).collect::<Vec<_>>(),
    })
}

fn trial(report: &Report, trial: &Trial) -> Value {
    let launches: Vec<Value> = trial
        .launches
        .iter()
        .map(|launch| {
            json!({
                "blocks": launch.blocks,
                "kernel": report.kernels.get(launch.kernel),
                "variant": launch.arm,
            })
        })
        .collect();
    let mut value = json!({
        "arrangement": trial.arrangement,
        "byte_alignment": trial.byte_alignment,
        "fill": trial.fill,
        "launches": launches,
        "right": trial.holds(),
    });
    match &trial.outcome {
        Outcome::Trapped(trap) => value["trap"] = json!(trap),
        Outcome::Compared(verdict) => {
            value["compared"] = json!(verdict.n_compared);
            value["compared_by"] = json!(by(verdict.by));
            value["worst"] = verdict.worst.as_ref().map_or(Value::Null, worst);
            value["wrong"] = json!(verdict.n_wrong);
        }
    }
    value
}

/// A number that is not finite is null: JSON has no word for it.
fn worst(worst: &Worst) -> Value {
    json!({
        "allowed": worst.bound,
        "at": worst.at,
        "error": worst.error,
        "expected": worst.expected,
        "got": worst.got,
        "share": worst.ratio,
    })
}
