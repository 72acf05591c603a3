//! Chooses what lanes walk in a reduction, and how many threads share an output.

use mage_einsum::index::{Access, Extent, ModeId, Program, Statement};

use super::{Lanes, Launch, Parts, Range, Reason, Reduction, Split, Strategy, Unit, VariantKind};
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

/// A sum in one block is long when the block takes so many turns for it that a second launch, which
/// costs a few of them, pays.
const LONG_TURNS: u32 = 8;

/// More blocks than these a multiprocessor keep the device busy without parts.
const MAX_SM_BLOCKS: u32 = 2;

/// Blocks a multiprocessor that a sum in parts makes: with 256 threads each they have 64 KiB of one
/// operand in flight.
const PARTS_SM_BLOCKS: u32 = 4;

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
    let kinds = kinds(program, statement, lane_mode);
    let known = Known {
        n_terms: fixed(program, &terms),
        n_outputs: fixed(program, &statement.target.modes),
        n_outer: fixed(program, &outer),
        n_lanes: match lanes {
            Lanes::Terms => Some(1),
            Lanes::Outputs => fixed(program, &[lane_mode]),
        },
        is_trace: is_trace(statement, &terms),
    };
    let mut all = splits(program, statement, (lanes, lane_mode), device);
    // Parts are added up.
    all.retain(|(split, _)| statement.reducer.adds() || !matches!(split.range, Range::Long(_)));
    let reasoned = open(all, known);
    let splits = reasoned.iter().map(|(split, _)| *split).collect();
    let reduction = Reduction { lanes, lane_mode, terms, outer, ahead: AHEAD, splits, kinds };
    let reasons = reasons(program, statement, &reduction, &reasoned);
    Some(Launch::of(statement_idx, Strategy::Reduction(reduction), reasons))
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

/// Wide accesses need neighbours in memory, four at a time and no more than 16 bytes.
fn kinds(program: &Program, statement: &Statement, lane_mode: ModeId) -> Vec<VariantKind> {
    let in_fours = match program.mode(lane_mode).extent {
        Extent::Fixed(extent) => extent.is_multiple_of(4),
        Extent::Runtime => true,
    };
    let fit = program.accumulator().size_bytes() <= 4;
    if fit && in_fours && strided(statement, lane_mode) == 0 {
        vec![VariantKind::Wide, VariantKind::Narrow]
    } else {
        vec![VariantKind::Narrow]
    }
}

/// A split and why it is as it is.
type Reasoned = (Split, &'static str);

/// The splits, as far as fixed extents leave them open.
fn splits(
    program: &Program,
    statement: &Statement,
    (lanes, lane_mode): (Lanes, ModeId),
    device: &Device,
) -> Vec<Reasoned> {
    let split = |range, block_threads, block_outputs, because| {
        let min_blocks = RESIDENT_THREADS / block_threads;
        (Split { range, block_threads, block_outputs, min_blocks }, because)
    };
    let long = |block_threads, block_outputs| {
        let range = Range::Long(long(block_threads, block_outputs, device));
        let because = "one block each would take long";
        split(range, BLOCK_THREADS, block_outputs, because)
    };
    let resident_blocks = device.capability.sm_threads / BLOCK_THREADS * device.n_sms;
    let few = |block_outputs| Range::Few(u64::from(resident_blocks * block_outputs));
    let fewer = "fewer would leave multiprocessors idle";
    let enough = "there are blocks for every multiprocessor";
    match lanes {
        Lanes::Terms if statement.target.modes.is_empty() => {
            let all = split(Range::All, LARGE_BLOCK_THREADS, 1, "one output has one block");
            vec![long(LARGE_BLOCK_THREADS, 1), all]
        }
        Lanes::Terms => vec![
            long(BLOCK_THREADS, 1),
            split(
                Range::Short(SHORT_TERMS),
                BLOCK_THREADS,
                BLOCK_THREADS / SHORT_THREADS,
                "more would have nothing to add",
            ),
            split(few(1), BLOCK_THREADS, 1, fewer),
            split(Range::Many, BLOCK_THREADS, BLOCK_THREADS / WARP_THREADS, enough),
        ],
        Lanes::Outputs => {
            let outputs = match program.mode(lane_mode).extent {
                Extent::Fixed(extent) => extent.clamp(4, WARP_THREADS).next_power_of_two(),
                Extent::Runtime => WARP_THREADS,
            };
            vec![
                long(LARGE_BLOCK_THREADS, outputs),
                split(few(outputs), LARGE_BLOCK_THREADS, outputs, fewer),
                split(Range::Many, BLOCK_THREADS, outputs, enough),
            ]
        }
    }
}

/// Parts for the sums of blocks of so many threads and outputs.
fn long(block_threads: u32, block_outputs: u32, device: &Device) -> Parts {
    let turn_terms = |block_threads: u32| block_threads * AHEAD * 4 / block_outputs;
    Parts {
        unit: Unit::Terms,
        min_len: u64::from(LONG_TURNS * turn_terms(block_threads)),
        max_blocks: MAX_SM_BLOCKS * device.n_sms,
        blocks: PARTS_SM_BLOCKS * device.n_sms,
        unit_len: turn_terms(BLOCK_THREADS),
        max_len: None,
    }
}

/// What is known of the extents.
#[derive(Debug, Clone, Copy)]
struct Known {
    n_terms: Option<u64>,
    n_outputs: Option<u64>,
    /// Positions of the output's modes that lanes do not walk.
    n_outer: Option<u64>,
    /// Positions of those that they walk.
    n_lanes: Option<u64>,
    /// An operand has the square of the terms: where they are many it fits no memory.
    is_trace: bool,
}

impl Known {
    /// Whether sums may be long and their blocks few.
    fn allows(&self, parts: &Parts, block_outputs: u32) -> bool {
        let blocks = self.n_outer.zip(self.n_lanes);
        let blocks = blocks.map(|(outer, lanes)| outer * lanes.div_ceil(u64::from(block_outputs)));
        !self.is_trace
            && self.n_terms.is_none_or(|terms| terms >= parts.min_len)
            && blocks.is_none_or(|blocks| blocks <= u64::from(parts.max_blocks))
    }
}

/// The splits that the host has to choose from: fixed extents decide the others here.
fn open(all: Vec<Reasoned>, known: Known) -> Vec<Reasoned> {
    let mut open: Vec<Reasoned> = Vec::new();
    for (split, because) in all {
        let is_taken = match split.range {
            // Without a workspace the others are still open.
            Range::Long(parts) if known.allows(&parts, split.block_outputs) => None,
            Range::Long(_) => Some(false),
            Range::Short(limit) => known.n_terms.map(|terms| terms <= limit),
            Range::Few(limit) => known.n_outputs.map(|outputs| outputs <= limit),
            Range::Many | Range::All => Some(true),
        };
        match is_taken {
            Some(false) => {}
            None => open.push((split, because)),
            Some(true) => {
                let is_long = |(split, _): &Reasoned| matches!(split.range, Range::Long(_));
                let range = if open.iter().all(is_long) { Range::All } else { Range::Many };
                open.push((Split { range, ..split }, because));
                break;
            }
        }
    }
    open
}

/// Whether the terms are the diagonal of an operand.
fn is_trace(statement: &Statement, terms: &[ModeId]) -> bool {
    let times =
        |access: &Access, term: &ModeId| access.modes.iter().filter(|mode| *mode == term).count();
    let [term] = terms else { return false };
    statement.factors().into_iter().any(|factor| times(factor, term) > 1)
}

/// How many positions the modes have together, where their extents are fixed.
fn fixed(program: &Program, modes: &[ModeId]) -> Option<u64> {
    modes.iter().try_fold(1_u64, |product, mode| match program.mode(*mode).extent {
        Extent::Fixed(extent) => product.checked_mul(u64::from(extent)),
        Extent::Runtime => None,
    })
}

fn reasons(
    program: &Program,
    statement: &Statement,
    reduction: &Reduction,
    splits: &[Reasoned],
) -> Vec<Reason> {
    let name = &program.mode(reduction.lane_mode).name;
    let reason =
        |decision: String, because: &str| Reason { decision, because: because.to_string() };
    let because = match (reduction.lanes, strided(statement, reduction.lane_mode)) {
        (Lanes::Terms, 0) => "it is summed, and contiguous in every operand that has it",
        (Lanes::Outputs, 0) => "it is kept, and contiguous in every operand that has it",
        (Lanes::Terms | Lanes::Outputs, _) => "no mode is contiguous in more of the operands",
    };
    let mut reasons = vec![reason(format!("lanes walk `{name}`"), because)];
    for (split, because) in splits {
        let threads = reduction.output_threads(split, VariantKind::Narrow);
        let decision = format!("{threads} threads an output for {}", split.range.words());
        reasons.push(reason(decision, because));
    }
    reasons.push(reason(
        format!("{} terms of a thread in flight", reduction.ahead),
        "memory answers long after it is asked",
    ));
    reasons
}
