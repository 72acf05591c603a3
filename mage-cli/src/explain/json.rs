//! An explanation as JSON: everything that the text has, under sorted keys.

use mage_codegen::emulate::{GlobalCounts, SharedCounts};
use mage_einsum::index::Gradient;
use serde_json::{Map, Value, json};

use super::cost::Cost;
use super::report::{LaunchReport, Report, WorkspaceReport};
use super::residency::GridShare;
use super::sample::Counted;
use crate::table;

/// Prints the whole explanation.
pub fn print(report: &Report) -> String {
    let pairs = |pairs: &[(String, u64)]| -> Map<String, Value> {
        pairs.iter().map(|(label, extent)| (label.clone(), json!(extent))).collect()
    };
    let merged: Map<String, Value> =
        report.merged.iter().map(|(joint, labels)| (joint.clone(), json!(labels))).collect();
    let (counted, not_counted) = match &report.counted {
        Ok(all) => (all.iter().map(counted).collect::<Vec<_>>(), Value::Null),
        Err(why) => (Vec::new(), json!(why)),
    };
    let value = json!({
        "cost": cost(&report.cost),
        "counted": counted,
        "device": {
            "bandwidth_bytes_per_s": report.device.bandwidth_bytes_per_s,
            "f32_flops_per_s": report.device.f32_flops_per_s,
            "f64_flops_per_s": report.device.f64_flops_per_s,
            "half_mma_flops_per_s": report.device.half_mma_flops_per_s,
            "tf32_mma_flops_per_s": report.device.tf32_mma_flops_per_s,
            "key": report.device.key,
            "multiprocessors": report.device.n_sms,
            "name": report.device.name,
            "source": report.device.source,
        },
        "extents": report.extents.as_deref().map(pairs),
        "gradients": report.gradients.iter().map(gradient).collect::<Vec<_>>(),
        "path": report.path,
        "launches": report.launches.iter().map(launch).collect::<Vec<_>>(),
        "mage": env!("CARGO_PKG_VERSION"),
        "merged": merged,
        "module": report.module,
        "not_counted": not_counted,
        "notation": report.notation,
        "options": report.options,
        "program": report.program,
        "strided": report.strided,
        "workspace": report.workspace.as_ref().map(workspace),
    });
    table::ended(format!("{value:#}"))
}

fn gradient(gradient: &Gradient) -> Value {
    let (notation, why_none) = (gradient.notation.as_ref().ok(), gradient.notation.as_ref().err());
    json!({
        "notation": notation,
        "of": gradient.of,
        "operands": gradient.operands,
        "why_none": why_none,
    })
}

fn cost(cost: &Cost) -> Value {
    let mut value = json!({
        "flops_formula": cost.flops_formula,
        "ridge_flops_per_byte": cost.ridge,
    });
    if let Some(bound) = &cost.bound {
        let tensors: Map<String, Value> =
            bound.tensors.iter().map(|(name, bytes)| (name.clone(), number(*bytes))).collect();
        value["arithmetic_s"] = json!(bound.arithmetic_s);
        value["flops"] = number(bound.flops);
        value["flops_per_byte"] = json!(bound.intensity);
        value["memory_s"] = json!(bound.memory_s);
        value["tensor_bytes"] = Value::Object(tensors);
        value["unique_bytes"] = number(bound.bytes);
    }
    value
}

/// A count; beyond 64 bits as the nearest float, because JSON readers stop there.
fn number(count: u128) -> Value {
    u64::try_from(count).map_or_else(|_| json!(count as f64), |count| json!(count))
}

fn launch(launch: &LaunchReport) -> Value {
    let modes: Vec<Value> = launch
        .mapping
        .iter()
        .map(|mapping| {
            json!({
                "becomes": mapping.becomes,
                "means": mapping.means,
                "mode": mapping.mode,
                "role": mapping.role.to_string(),
            })
        })
        .collect();
    let reasons: Vec<Value> = launch
        .reasons
        .iter()
        .map(|reason| json!({ "because": reason.because, "decision": reason.decision }))
        .collect();
    let block = &launch.block;
    json!({
        "block": {
            "bound_by": block.bound_by,
            "occupancy": block.occupancy,
            "registers": block.registers,
            "resident_blocks": block.resident_blocks,
            "shared_bytes": block.shared_bytes,
            "threads": block.threads,
        },
        "grid": launch.grid.as_ref().map(grid),
        "modes": modes,
        "reasons": reasons,
        "schedule": launch.nest,
        "step": launch.step,
    })
}

fn workspace(workspace: &WorkspaceReport) -> Value {
    let temps: Map<String, Value> =
        workspace.temps.iter().map(|(name, first)| (name.clone(), json!(first))).collect();
    json!({ "elems": workspace.elems, "elems_formula": workspace.formula, "temporaries": temps })
}

fn grid(grid: &GridShare) -> Value {
    json!({
        "blocks": grid.blocks,
        "device_blocks": grid.device_blocks,
        "last_wave": grid.last_wave,
        "waves": grid.waves,
    })
}

fn counted(counted: &Counted) -> Value {
    let shortened: Map<String, Value> =
        counted.shortened.iter().map(|(label, extent)| (label.clone(), json!(extent))).collect();
    let counts = &counted.counts;
    json!({
        "barriers": counts.barriers,
        "block": counted.block,
        "blocks": counted.launched.blocks,
        "byte_alignment": counted.byte_alignment,
        "flops": counts.flops,
        "fmas": counts.fmas,
        "global_loads": global(&counts.global_load),
        "global_stores": global(&counts.global_store),
        "kernel": counted.kernel,
        "shared_loads": shared(&counts.shared_load),
        "shared_stores": shared(&counts.shared_store),
        "shortened": shortened,
        "shuffles": counts.shuffles,
        "variant": counted.launched.arm,
    })
}

fn global(counts: &GlobalCounts) -> Value {
    let moved = counts.bytes_moved();
    let efficiency = (moved > 0).then(|| counts.bytes_asked as f64 / moved as f64);
    json!({
        "bytes_asked": counts.bytes_asked,
        "bytes_moved": moved,
        "efficiency": efficiency,
        "requests": counts.requests,
        "sectors": counts.sectors,
    })
}

fn shared(counts: &SharedCounts) -> Value {
    json!({
        "conflicts": counts.conflicts(),
        "requests": counts.requests,
        "wavefronts": counts.wavefronts,
    })
}
