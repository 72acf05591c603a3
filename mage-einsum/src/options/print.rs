//! The canonical option text, which the parser reads back to the same options up to places.

use super::{Options, Tile};
use crate::dtype::Dtype;
use crate::index::Layout;
use crate::precision::Precision;

/// Prints `options` in a fixed order without defaults.
pub(super) fn print(options: &Options) -> String {
    let mut entries = Vec::new();
    if let Some(tile) = options.tile {
        entries.push(format!("tile = {tile}"));
    }
    if let Some(name) = &options.name {
        entries.push(format!("name = {name}"));
    }
    if !options.extents.is_empty() {
        let extents: Vec<String> =
            options.extents.iter().map(|(label, extent)| format!("{label} = {extent}")).collect();
        entries.push(format!("extents = ({})", extents.join(", ")));
    }
    if let Some(device) = &options.device {
        entries.push(format!("device = {device}"));
    }
    if options.dtype != Dtype::F32 {
        entries.push(format!("dtype = {}", options.dtype));
    }
    if let Some(out) = options.out.filter(|out| *out != options.dtype) {
        entries.push(format!("out = {out}"));
    }
    match options.precision {
        Precision::Full => {}
        Precision::Tf32 => entries.push("precision = tf32".to_owned()),
    }
    if options.accumulate {
        entries.push("accumulate = true".to_owned());
    }
    match options.strides {
        Layout::RowMajor => {}
        Layout::Strided => entries.push("strides = runtime".to_owned()),
    }
    if let Some(ranks) = &options.ranks {
        entries.push(format!("ranks = {}", list(ranks.iter().map(usize::to_string))));
    }
    if let Some(path) = &options.path {
        let steps = path.iter().map(|(left, right)| format!("({left}, {right})"));
        entries.push(format!("path = {}", list(steps)));
    }
    if let Some(outputs) = &options.outputs {
        entries.push(format!("outputs = {}", list(outputs.iter().cloned())));
    }
    if let Some(epilogue) = &options.epilogue {
        entries.push(format!("epilogue = {epilogue}"));
    }
    entries.join(", ")
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("({})", values.collect::<Vec<_>>().join(", "))
}

impl std::fmt::Display for Tile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Tile::Square(extent) => write!(f, "{extent}"),
            Tile::Triple { m, n, k } => write!(f, "({m}, {n}, {k})"),
        }
    }
}
