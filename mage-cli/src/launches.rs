//! What the host would launch, without launching it, where all buffers are equally aligned. `check`
//! asks which alignments differ, `explain` shows the answer.

use mage_codegen::emulate::{self, Failure, Launched};
use mage_codegen::kernel::Module;

/// Bytes that every buffer's address is a multiple of.
pub const ALIGNED: u64 = 16;

/// The same for a view that starts at any element.
pub const UNALIGNED: u64 = 4;

/// The launches in order, or the host's refusal.
pub fn launches(
    module: &Module,
    extents: &[u64],
    byte_alignment: u64,
) -> Result<Vec<Launched>, Failure> {
    emulate::plan(module, extents, &vec![byte_alignment; module.buffers.len()])
}
