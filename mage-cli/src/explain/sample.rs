//! What one block asks of the memories: measured by the emulator on the kernel itself, with the
//! variant that the host selects for aligned and for unaligned buffers.

use mage_codegen::emulate::{Counts, Launched, Sample, count};
use mage_codegen::pipeline::Levels;
use mage_einsum::binding::Extents;
use mage_einsum::index::{Extent, Role};

use crate::launches::{ALIGNED, UNALIGNED, launches};

/// More terms than these do not change what a block asks of memory for each of them.
const TERMS_WORTH_COUNTING: u64 = 4096;

/// Extents are shortened in steps of this, so that the shorter one has the same tail in a tile and
/// the same remainder by four.
const SHORTENING_STEP: u64 = 64;

/// What was counted in one block of one launch.
#[derive(Debug)]
pub struct Counted {
    /// The launch.
    pub launched: Launched,
    /// The kernel's name.
    pub kernel: String,
    /// Of every buffer.
    pub byte_alignment: u64,
    /// The block in its grid.
    pub block: u64,
    /// Summed modes that were counted at a smaller extent: label and that extent.
    pub shortened: Vec<(String, u64)>,
    /// The counts.
    pub counts: Counts,
}

/// Counts the first block of each launch; an error says why there is nothing to count.
pub fn of(levels: &Levels, extents: &Extents) -> Result<Vec<Counted>, String> {
    let (shortened, by_label) = countable(levels, extents)?;
    let mut all: Vec<Counted> = Vec::new();
    for byte_alignment in [ALIGNED, UNALIGNED] {
        let planned = launches(&levels.module, &by_label, byte_alignment)
            .map_err(|refusal| refusal.to_string())?;
        for (position, launched) in planned.into_iter().enumerate() {
            if all.iter().any(|counted| counted.launched == launched) {
                continue;
            }
            let alignments = vec![byte_alignment; levels.module.buffers.len()];
            let sample = Sample {
                extents: &by_label,
                byte_alignments: &alignments,
                launch: position,
                block: 0,
            };
            let counts = count(&levels.module, &sample).map_err(|why| why.to_string())?;
            all.push(Counted {
                kernel: levels.module.kernels[launched.kernel].name.clone(),
                launched,
                byte_alignment,
                block: 0,
                shortened: shortened.clone(),
                counts,
            });
        }
    }
    if all.is_empty() {
        return Err("nothing is launched: the output has no elements".to_string());
    }
    Ok(all)
}

/// Labels that were shortened, with their extents, and one extent a label of the module.
type Countable = (Vec<(String, u64)>, Vec<u64>);

/// The extents, those of long sums shortened.
fn countable(levels: &Levels, extents: &Extents) -> Result<Countable, String> {
    let summed = summed_labels(levels);
    let n_terms = |by_label: &[u64]| {
        let counts = summed.iter().filter_map(|label| by_label.get(*label));
        counts.fold(1_u64, |product, extent| product.saturating_mul(*extent))
    };
    let mut by_label: Vec<u64> =
        levels.module.labels.iter().map(|label| extents.get(&label.name).unwrap_or(0)).collect();
    let mut shortened = Vec::new();
    for label in &summed {
        let declared = &levels.module.labels[*label];
        let excess = n_terms(&by_label).div_ceil(TERMS_WORTH_COUNTING);
        if excess <= 1 || declared.extent != Extent::Runtime {
            continue;
        }
        let extent = by_label[*label];
        let shorter =
            (extent / excess).next_multiple_of(SHORTENING_STEP) + extent % SHORTENING_STEP;
        if shorter < extent {
            by_label[*label] = shorter;
            shortened.push((declared.name.clone(), shorter));
        }
    }
    if n_terms(&by_label) > 64 * TERMS_WORTH_COUNTING {
        return Err("the fixed extents make too many terms to count".to_string());
    }
    Ok((shortened, by_label))
}

/// Positions of the module's labels that are summed.
fn summed_labels(levels: &Levels) -> Vec<usize> {
    let program = &levels.program;
    let mut summed = Vec::new();
    for (mode, role) in program.statements.iter().flat_map(|statement| &statement.roles) {
        match role {
            Role::Contracted | Role::Reduced => {
                let name = &program.mode(*mode).name;
                let found = levels.module.labels.iter().position(|label| label.name == *name);
                summed.extend(found);
            }
            Role::Batch | Role::FreeLeft | Role::FreeRight => {}
        }
    }
    summed
}
