//! The emulator's counts as text, for each variant that the host can select.

use mage_codegen::emulate::{GlobalCounts, SharedCounts};

use super::{sentence, wrapped};
use crate::explain::report::Report;
use crate::explain::sample::Counted;
use crate::launches::ALIGNED;
use crate::table::{self, counted, percent, rounded};

/// Prints the counts, or why there are none.
pub fn print(report: &Report) -> String {
    match &report.counted {
        Err(why) => wrapped(&sentence(why), 2),
        Ok(all) => {
            let texts: Vec<String> = all.iter().map(|one| self::one(report, one)).collect();
            texts.join("\n")
        }
    }
}

fn one(report: &Report, one: &Counted) -> String {
    let counts = &one.counts;
    let mut text = wrapped(&head(report, one), 2);
    text.push_str(&table::columns(&[
        table::row(["global", "requests", "bytes asked", "sectors", "bytes moved", "efficiency"]),
        global("loads", &counts.global_load),
        global("stores", &counts.global_store),
    ]));
    if counts.shared_load.requests + counts.shared_store.requests > 0 {
        text.push_str(&table::columns(&[
            table::row(["shared", "requests", "wavefronts", "conflicts"]),
            shared("loads", &counts.shared_load),
            shared("stores", &counts.shared_store),
        ]));
    }
    text + &wrapped(&tail(report, one), 2)
}

fn head(report: &Report, one: &Counted) -> String {
    let buffers = if one.byte_alignment == ALIGNED { "aligned" } else { "unaligned" };
    let arm = &one.launched.arm;
    let variant = if arm.is_empty() {
        format!("Kernel `{}`", one.kernel)
    } else {
        format!("Variant `{arm}`, which the host selects for {buffers} buffers")
    };
    let blocks = counted(one.launched.blocks, "block");
    let mut text = format!("{variant}; block {} of {blocks}, counted by the emulator", one.block);
    for (label, extent) in &one.shortened {
        text.push_str(&format!(", at {label}={extent} to keep it short"));
    }
    if !report.strided.is_empty() {
        text.push_str(", on row-major operands");
    }
    text + ":"
}

fn global(what: &str, counts: &GlobalCounts) -> Vec<String> {
    let efficiency = match counts.bytes_moved() {
        0 => "-".to_string(),
        moved => percent(counts.bytes_asked as f64 / moved as f64),
    };
    vec![
        what.to_string(),
        counts.requests.to_string(),
        counts.bytes_asked.to_string(),
        counts.sectors.to_string(),
        counts.bytes_moved().to_string(),
        efficiency,
    ]
}

fn shared(what: &str, counts: &SharedCounts) -> Vec<String> {
    vec![
        what.to_string(),
        counts.requests.to_string(),
        counts.wavefronts.to_string(),
        counts.conflicts().to_string(),
    ]
}

fn tail(report: &Report, one: &Counted) -> String {
    let counts = &one.counts;
    let moved = counts.global_load.bytes_moved() + counts.global_store.bytes_moved();
    let mut text = counted(counts.flops, "flop");
    if counts.shuffles > 0 {
        text.push_str(&format!(", {}", counted(counts.shuffles, "shuffle")));
    }
    text.push_str(&format!(" and {}.", counted(counts.barriers, "barrier")));
    if moved > 0 {
        let intensity = counts.flops as f64 / moved as f64;
        text.push_str(&format!(
            " That is {} flop for each byte the block moves, where the ridge is {}; what blocks \
             share, the caches may serve.",
            rounded(intensity),
            rounded(report.cost.ridge)
        ));
    }
    text
}
