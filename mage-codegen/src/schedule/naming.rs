//! The name of a schedule that the user gave none: from the labels and the tile, so that two
//! specifications in one program do not share a kernel's entry name.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::{Extent, Layout, ModeId, Program};
use mage_einsum::options::{Options, Tile};
use mage_einsum::precision::Precision;

/// A snake-case Rust identifier such as `einsum_ik_kj_ij_k8_f16_tile64`, with the fixed extents,
/// the element types other than f32, and `strided` where strides are given at the launch.
/// Capitals, long labels and tensors' names are told apart by a hash of the notation, because
/// entry names are global to a program; a program of more than a sum of products is named after its
/// output and that hash.
pub fn name(program: &Program, options: &Options) -> String {
    let joined = |modes: &[ModeId]| {
        let labels: Vec<&str> = modes.iter().map(|id| program.mode(*id).name.as_str()).collect();
        let separator = if labels.iter().all(|label| label.len() == 1) { "" } else { "_" };
        if labels.is_empty() { "scalar".to_string() } else { labels.join(separator) }
    };
    let mut words = Vec::new();
    match program.statements.as_slice() {
        [statement] if statement.is_sum_of_products() => {
            words.extend(statement.factors().iter().map(|factor| joined(&factor.modes)));
            words.push(joined(&statement.target.modes));
        }
        // Labels alone would not tell expressions apart; the hash below does.
        statements => words.extend(statements.last().map(|last| {
            let name = &program.tensor(last.target.tensor).name;
            format!("{name}_{}", joined(&last.target.modes))
        })),
    }
    let plain = words.join("_");
    let mut name = plain.to_ascii_lowercase();
    let epilogue = options.epilogue.as_ref().map(ToString::to_string).unwrap_or_default();
    let outputs = options.outputs.as_ref().map(|outputs| outputs.join(","));
    let hashed = format!("{}{epilogue}{}", program.notation, outputs.unwrap_or_default());
    let named_tensors = program.notation.contains('[');
    if name != plain
        || named_tensors
        || options.epilogue.is_some()
        || program.modes.iter().any(|mode| mode.name.len() > 1)
    {
        name = format!("{name}_{:08x}", fnv1a(&hashed));
    }
    for mode in &program.modes {
        if let Extent::Fixed(extent) = mode.extent {
            name = format!("{name}_{}{extent}", mode.name.to_ascii_lowercase());
        }
    }
    let (dtype, out) = (options.dtype, options.out.unwrap_or(options.dtype));
    if dtype != Dtype::F32 {
        name = format!("{name}_{dtype}");
    }
    if out != dtype {
        name = format!("{name}_to_{out}");
    }
    match options.precision {
        Precision::Full => {}
        Precision::Tf32 => name.push_str("_tf32"),
    }
    if options.accumulate {
        name.push_str("_added");
    }
    match options.strides {
        Layout::RowMajor => {}
        Layout::Strided => name.push_str("_strided"),
    }
    match &options.tile {
        None => format!("einsum_{name}"),
        Some(Tile::Square(side)) => format!("einsum_{name}_tile{side}"),
        Some(Tile::Triple { m, n, k }) => format!("einsum_{name}_tile{m}x{n}x{k}"),
    }
}

/// The 32-bit FNV-1a hash. Source: Fowler, Noll, Vo; IETF draft-eastlake-fnv, section 5.
fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
