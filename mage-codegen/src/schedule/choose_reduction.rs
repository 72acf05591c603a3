//! Chooses what lanes walk in a reduction, and how many threads share an output.

use mage_einsum::index::{Access, ModeId, Program, Statement};

use super::{Lanes, Launch, Range, Reason, Reduction, Split, Strategy, VariantKind};
use crate::device::{Device, WARP_THREADS};

/// Threads of a block where many outputs keep the device busy.
const BLOCK_THREADS: u32 = 256;

/// Threads of a block where there are few: as many as a block can have.
const LARGE_BLOCK_THREADS: u32 = 1024;

/// Threads that share an output of few terms: one 32-byte sector of them a step.
const SHORT_THREADS: u32 = 8;

/// Most terms that are few: eight a thread.
const SHORT_TERMS: u64 = 64;

/// Terms that a thread has in flight: 16 KiB to 64 KiB of one operand on a full multiprocessor,
/// above the product of latency and bandwidth (some 500 ns times 8 to 36 bytes a nanosecond).
const AHEAD: u32 = 4;

/// Threads of a multiprocessor that registers are kept for: 64 for each, which hold the terms in
/// flight of four operands. Without a limit the compiler takes up to 99.
const RESIDENT_THREADS: u32 = 1024;

/// The reduction of a statement that sums; nothing for any other.
pub fn choose_reduction(
    program: &Program,
    statement_idx: usize,
    statement: &Statement,
    device: &Device,
) -> Option<Launch> {
    let modes = statement.roles.iter().map(|(mode, _)| *mode);
    let lane_mode = modes.min_by_key(|mode| cost(statement, *mode))?;
    if statement.reduced.is_empty() {
        return None;
    }
    let lanes = if statement.reduced.contains(&lane_mode) { Lanes::Terms } else { Lanes::Outputs };
    let others = |modes: &[ModeId]| -> Vec<ModeId> {
        modes.iter().copied().filter(|mode| *mode != lane_mode).collect()
    };
    let mut terms = others(&statement.reduced);
    if lanes == Lanes::Terms {
        terms.push(lane_mode);
    }
    let outer = others(&statement.target.modes);
    let kinds = if strided(statement, lane_mode) == 0 {
        vec![VariantKind::Wide, VariantKind::Narrow]
    } else {
        vec![VariantKind::Narrow]
    };
    let splits = splits(lanes, statement, device);
    let reduction = Reduction { lanes, lane_mode, terms, outer, ahead: AHEAD, splits, kinds };
    let reasons = reasons(program, statement, &reduction);
    Some(Launch { statement: statement_idx, strategy: Strategy::Reduction(reduction), reasons })
}

/// What lanes along `mode` cost: operands with a sector for each lane, then an output with one,
/// then the shuffles that combine lanes. The least is best.
fn cost(statement: &Statement, mode: ModeId) -> (usize, bool, bool) {
    let is_reduced = statement.reduced.contains(&mode);
    let scatters = !is_reduced && !is_contiguous(&statement.target, mode);
    (strided(statement, mode), scatters, is_reduced)
}

/// Operands that have `mode`, and not with stride 1.
fn strided(statement: &Statement, mode: ModeId) -> usize {
    let factors = statement.factors();
    let with_mode = factors.iter().filter(|factor| factor.modes.contains(&mode));
    with_mode.filter(|factor| !is_contiguous(factor, mode)).count()
}

/// Whether `mode` has stride 1 in the access: it is last and no part of a diagonal.
fn is_contiguous(access: &Access, mode: ModeId) -> bool {
    access.modes.split_last().is_some_and(|(last, others)| *last == mode && !others.contains(last))
}

fn splits(lanes: Lanes, statement: &Statement, device: &Device) -> Vec<Split> {
    let split = |range, block_threads, block_outputs| Split {
        range,
        block_threads,
        block_outputs,
        min_blocks: RESIDENT_THREADS / block_threads,
    };
    let resident_blocks = device.capability.sm_threads / BLOCK_THREADS * device.n_sms;
    let few = |block_outputs| Range::Few(u64::from(resident_blocks * block_outputs));
    match lanes {
        Lanes::Terms if statement.target.modes.is_empty() => {
            vec![split(Range::One, LARGE_BLOCK_THREADS, 1)]
        }
        Lanes::Terms => vec![
            split(Range::Short(SHORT_TERMS), BLOCK_THREADS, BLOCK_THREADS / SHORT_THREADS),
            split(few(1), BLOCK_THREADS, 1),
            split(Range::Many, BLOCK_THREADS, BLOCK_THREADS / WARP_THREADS),
        ],
        Lanes::Outputs => vec![
            split(few(WARP_THREADS), LARGE_BLOCK_THREADS, WARP_THREADS),
            split(Range::Many, BLOCK_THREADS, WARP_THREADS),
        ],
    }
}

fn reasons(program: &Program, statement: &Statement, reduction: &Reduction) -> Vec<Reason> {
    let name = &program.mode(reduction.lane_mode).name;
    let reason = |decision: String, because: &str| Reason { decision, because: because.to_string() };
    let because = match (reduction.lanes, strided(statement, reduction.lane_mode)) {
        (Lanes::Terms, 0) => "it is summed, and contiguous in every operand that has it",
        (Lanes::Outputs, 0) => "it is kept, and contiguous in every operand that has it",
        (Lanes::Terms | Lanes::Outputs, _) => "no mode is contiguous in more of the operands",
    };
    let mut reasons = vec![reason(format!("lanes walk `{name}`"), because)];
    for split in &reduction.splits {
        let threads = reduction.output_threads(split, VariantKind::Narrow);
        let (range, because) = match split.range {
            Range::One => ("one output".to_string(), "one output has one block"),
            Range::Short(limit) => {
                (format!("at most {limit} terms"), "more threads would have nothing to add")
            }
            Range::Few(limit) => {
                (format!("at most {limit} outputs"), "fewer would leave multiprocessors idle")
            }
            Range::Many => {
                ("more outputs".to_string(), "there are blocks for every multiprocessor")
            }
        };
        reasons.push(reason(format!("{threads} threads an output for {range}"), because));
    }
    reasons.push(reason(
        format!("{} terms of a thread in flight", reduction.ahead),
        "memory answers long after it is asked",
    ));
    reasons
}
