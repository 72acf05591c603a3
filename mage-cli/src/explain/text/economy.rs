//! The costs as text: operations, bytes, and on which side of the device's ridge they fall.

use super::wrapped;
use crate::explain::cost::BoundCost;
use crate::explain::report::Report;
use crate::table::{self, rounded};

/// Prints the costs.
pub fn print(report: &Report) -> String {
    let formula = &report.cost.flops_formula;
    let row = |what: &str, value: String, how: String| vec![what.to_string(), value, how];
    let Some(cost) = &report.cost.bound else {
        let text = table::columns(&[row("flops", formula.clone(), String::new())]);
        return format!("{text}  Bytes and intensity depend on the extents.\n{}", ridge(report));
    };
    let mut rows = vec![row("flops", cost.flops.to_string(), formula.clone())];
    for (tensor, bytes) in &cost.tensors {
        rows.push(row(&format!("bytes of {tensor}"), table::bytes(*bytes), String::new()));
    }
    rows.push(row("unique bytes", table::bytes(cost.bytes), "each moved once".to_string()));
    rows.push(row(
        "arithmetic intensity",
        format!("{} flop/byte", rounded(cost.intensity)),
        "flops over unique bytes".to_string(),
    ));
    format!("{}{}{}", table::columns(&rows), ridge(report), wrapped(&verdict(report, cost), 2))
}

fn ridge(report: &Report) -> String {
    let device = report.device;
    let text = format!(
        "The ridge of the {} is at {} flop/byte (derived: {} TFLOP/s over {} GB/s).",
        device.name,
        rounded(report.cost.ridge),
        rounded(report.cost.flops_per_s / 1e12),
        rounded(device.bandwidth_bytes_per_s / 1e9),
    );
    wrapped(&text, 2)
}

fn verdict(report: &Report, cost: &BoundCost) -> String {
    if cost.flops == 0 && cost.bytes == 0 {
        return "There is nothing to compute.".to_string();
    }
    let side = if cost.intensity < report.cost.ridge {
        "below the ridge: even if every byte moved once, memory would set the pace"
    } else {
        "above the ridge: arithmetic can set the pace, if a tile keeps what it has loaded"
    };
    format!(
        "The work is {side}. No kernel can be quicker than {} (derived: {} of arithmetic, \
         {} of memory traffic).",
        duration(cost.arithmetic_s.max(cost.memory_s)),
        duration(cost.arithmetic_s),
        duration(cost.memory_s),
    )
}

fn duration(seconds: f64) -> String {
    if seconds >= 1.0 {
        format!("{} s", rounded(seconds))
    } else if seconds >= 1e-3 {
        format!("{} ms", rounded(seconds * 1e3))
    } else {
        format!("{} us", rounded(seconds * 1e6))
    }
}
