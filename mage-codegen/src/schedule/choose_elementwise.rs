//! Chooses how the points of a target without a reduction become threads.

use mage_einsum::index::{Access, Extent, ModeId, Program, Statement};

use super::{Elementwise, Launch, Reason, Strategy, VariantKind};

/// Threads of a block: eight warps.
const BLOCK_THREADS: u32 = 256;

/// Positions of a thread: with four elements each it has 32 bytes of an operand in flight, and
/// leaves registers for six blocks a multiprocessor.
const THREAD_ROWS: u32 = 2;

/// The launch of a statement that reduces and looks up nothing; nothing for any other, and for a
/// scalar.
pub fn choose_elementwise(
    program: &Program,
    statement_idx: usize,
    statement: &Statement,
) -> Option<Launch> {
    let (lane_mode, others) = statement.target.modes.split_last()?;
    let row_mode = others.last().copied();
    if !statement.reduced.is_empty() {
        return None;
    }
    let outer = others[..others.len().saturating_sub(1)].to_vec();
    let kinds = kinds(program, *lane_mode);
    let elementwise = Elementwise {
        lane_mode: *lane_mode,
        row_mode,
        outer,
        thread_rows: THREAD_ROWS,
        block_threads: BLOCK_THREADS,
        kinds,
    };
    let reasons = reasons(program, statement, &elementwise);
    Some(Launch::of(statement_idx, Strategy::Elementwise(elementwise), reasons))
}

/// Wide accesses need neighbours in memory, four at a time and no more than 16 bytes.
pub(super) fn kinds(program: &Program, lane_mode: ModeId) -> Vec<VariantKind> {
    let in_fours = match program.mode(lane_mode).extent {
        Extent::Fixed(extent) => extent.is_multiple_of(4),
        Extent::Runtime => true,
    };
    if in_fours && program.accumulator().size_bytes() <= 4 {
        vec![VariantKind::Wide, VariantKind::Narrow]
    } else {
        vec![VariantKind::Narrow]
    }
}

/// Whether neighbours along `mode` are neighbours in memory: it is the access's last mode, and no
/// part of a diagonal.
pub fn lies_along(access: &Access, mode: ModeId) -> bool {
    let times = access.modes.iter().filter(|found| **found == mode).count();
    access.modes.last() == Some(&mode) && times == 1
}

fn reasons(program: &Program, statement: &Statement, elementwise: &Elementwise) -> Vec<Reason> {
    let name = |mode: ModeId| &program.mode(mode).name;
    let reason = |decision: String, because: String| Reason { decision, because };
    let lane = name(elementwise.lane_mode);
    let rows = elementwise.thread_rows;
    let factors = statement.factors();
    let along = factors.iter().filter(|access| lies_along(access, elementwise.lane_mode)).count();
    let unrolled = match elementwise.row_mode {
        Some(row) => reason(
            format!("{rows} positions of `{}` a thread", name(row)),
            "their loads are in flight together, and what does not vary along it is loaded once"
                .to_string(),
        ),
        None => reason(
            format!("{rows} positions of `{lane}` a thread, a block's width apart"),
            "their loads are in flight together".to_string(),
        ),
    };
    vec![
        reason(
            format!("lanes walk `{lane}`"),
            format!(
                "it is contiguous in the output, and in {along} of the {} reads",
                factors.len()
            ),
        ),
        unrolled,
        reason(
            format!("{} threads a block", elementwise.block_threads),
            "whole blocks of eight warps fill a multiprocessor".to_string(),
        ),
    ]
}
