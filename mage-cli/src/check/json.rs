//! A check as JSON: everything that the text has, under sorted keys.

use serde_json::{Map, Value, json};

use super::report::{Output, Report, Run};
use super::text::by;
use super::trial::{Outcome, Trial};
use super::verdict::{Verdict, Worst};
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
    let mut value = json!({
        "extents": extents,
        "idle_variants": run.idle_variants,
        "workspace_elems": run.workspace_elems,
        "trials": run.trials.iter().map(|trial| self::trial(report, run, trial)).collect::<Vec<_>>(),
    });
    let outputs: Vec<Value> = run.outputs.iter().map(output).collect();
    let names = run.outputs.iter().map(|output| json!(output.name));
    tell(&mut value, outputs, names.collect());
    value
}

fn output(output: &Output) -> Value {
    json!({
        "elements": output.n_elements(),
        "output_extents": output.shape,
        "terms": output.n_terms,
    })
}

/// What is told of one output stands beside the rest; of several, in a list under their names.
fn tell(value: &mut Value, mut outputs: Vec<Value>, names: Vec<Value>) {
    if let [Value::Object(fields)] = outputs.as_mut_slice() {
        std::mem::take(fields).into_iter().for_each(|(key, field)| value[key] = field);
        return;
    }
    outputs.iter_mut().zip(names).for_each(|(output, name)| output["output"] = name);
    value["outputs"] = Value::Array(outputs);
}

fn trial(report: &Report, run: &Run, trial: &Trial) -> Value {
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
        Outcome::Compared(verdicts) => {
            let names = run.outputs.iter().map(|output| json!(output.name));
            tell(&mut value, verdicts.iter().map(verdict).collect(), names.collect());
        }
    }
    value
}

fn verdict(verdict: &Verdict) -> Value {
    json!({
        "compared": verdict.n_compared,
        "compared_by": by(verdict.by),
        "worst": verdict.worst.as_ref().map_or(Value::Null, worst),
        "wrong": verdict.n_wrong,
    })
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
