//! The canonical option text, which the parser reads back to the same options up to places.

use super::{DEVICES, Options, Tile};
use crate::index::Dtype;

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
    if options.device_name() != DEVICES[0] {
        entries.push(format!("device = {}", options.device_name()));
    }
    match options.dtype {
        Dtype::F32 => {}
    }
    entries.join(", ")
}

impl std::fmt::Display for Tile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Tile::Square(extent) => write!(f, "{extent}"),
            Tile::Triple { m, n, k } => write!(f, "({m}, {n}, {k})"),
        }
    }
}
