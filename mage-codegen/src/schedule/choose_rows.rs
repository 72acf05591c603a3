//! Recognises statements that a row goes through in one kernel, and chooses the widths of its
//! kernels.

use std::ops::RangeInclusive;

use mage_einsum::index::{Access, Extent, ModeId, Program, Statement, TensorId, TensorKind};

use super::choose_elementwise::{kinds, lies_along};
use super::{Launch, Reason, RowWidth, Rows, Strategy, VariantKind};
use crate::device::WARP_THREADS;

/// Rows of a block whose rows have a warp each.
const WARP_ROWS: u32 = 8;

/// The widths that are made where the number of columns is known at the launch only: from a warp
/// with two quads a lane to a block with eight a thread, and one for every width. Blocks that hold
/// a row have at most 512 threads: of 1024, whose threads need more than 32 registers, a
/// multiprocessor has one at a time, and nothing is read while it reduces.
const WIDTHS: [(u32, Option<u32>); 7] = [
    (WARP_THREADS, Some(8)),
    (WARP_THREADS, Some(16)),
    (128, Some(8)),
    (256, Some(16)),
    (512, Some(16)),
    (512, Some(32)),
    (1024, None),
];

/// Registers of a thread that may hold a row's columns: of 255, or of the 128 that a thread of a
/// block of 512 has (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability"), those that addresses and values on their way leave.
const MOST_HELD: u32 = 128;
const MOST_HELD_OF_512: u32 = 64;

/// The launch of the longest run of statements from one on that are a row program; nothing where
/// it is no more than a reduction and what follows on its results.
pub fn choose_rows(program: &Program, first: usize) -> Option<Launch> {
    let shape = Shape::of(&program.statements[first])?;
    let mut last = first;
    while program
        .statements
        .get(last + 1)
        .is_some_and(|next| shape.takes(program, (first, last), next))
    {
        last += 1;
    }
    while last > first && !is_closed(program, first, last) {
        last -= 1;
    }
    let run = &program.statements[first..=last];
    let n_reductions = run.iter().filter(|statement| !statement.reduced.is_empty()).count();
    let has_cols = |statement: &&Statement| statement.target.modes.contains(&shape.col);
    let n_of_cols = run.iter().filter(has_cols).count();
    if n_reductions == 0 || n_reductions + n_of_cols < 2 {
        return None;
    }
    let widths = widths(program, &shape, n_held(&shape, run));
    let kinds = kinds(program, shape.col);
    let together = together(program, first..=last);
    let rows = Rows { row_modes: shape.rows.clone(), col_mode: shape.col, widths, kinds, together };
    let reasons = reasons(program, &rows, n_reductions);
    let launch = Launch::of(first, Strategy::Rows(rows), reasons);
    Some(Launch { last, ..launch })
}

/// The modes of a row program.
struct Shape {
    rows: Vec<ModeId>,
    col: ModeId,
}

impl Shape {
    /// That of a program which begins with a statement.
    fn of(statement: &Statement) -> Option<Shape> {
        let target = &statement.target.modes;
        match statement.reduced.as_slice() {
            [col] if statement.segment.is_none() => Some(Shape { rows: target.clone(), col: *col }),
            [] => {
                let (col, rows) = target.split_last()?;
                Some(Shape { rows: rows.to_vec(), col: *col })
            }
            [_] | [_, _, ..] => None,
        }
        .filter(|shape| shape.fits(statement))
    }

    /// Whether a statement has one value a row, or one a column of each.
    fn fits(&self, statement: &Statement) -> bool {
        let target = statement.target.modes.as_slice();
        let of_cols = [self.rows.as_slice(), &[self.col]].concat();
        let is_of_row = target == self.rows;
        // Without an access of each row's own columns it is a product of matrices, which is tiled.
        let has_rows = |access: &&Access| {
            access.modes.len() == of_cols.len()
                && of_cols.iter().all(|mode| access.modes.contains(mode))
        };
        let reduces = statement.reduced == [self.col]
            && statement.segment.is_none()
            && is_of_row
            && statement.factors().iter().any(has_rows);
        let computes = statement.reduced.is_empty() && (is_of_row || target == of_cols);
        let reads = statement.factors();
        let is_within = |access: &&Access| {
            access.gathers.is_empty()
                && access.modes.iter().all(|mode| of_cols.contains(mode))
                && (!access.modes.contains(&self.col) || lies_along(access, self.col))
        };
        (reduces || computes) && reads.iter().all(is_within)
    }

    /// Whether the run goes on with a statement: it reads what the run wrote at its own row and
    /// column.
    fn takes(&self, program: &Program, (first, last): (usize, usize), next: &Statement) -> bool {
        let run = &program.statements[first..=last];
        let is_own = |access: &&Access| {
            let written = run.iter().find(|statement| statement.target.tensor == access.tensor);
            written.is_none_or(|written| written.target.modes == access.modes)
        };
        let is_temporary =
            program.tensor(run[run.len() - 1].target.tensor).kind == TensorKind::Temp;
        is_temporary && self.fits(next) && next.factors().iter().all(is_own)
    }
}

/// Whether nothing that the run keeps in registers is read after it.
fn is_closed(program: &Program, first: usize, last: usize) -> bool {
    let inner: Vec<TensorId> =
        (first..last).map(|at| program.statements[at].target.tensor).collect();
    let later = program.statements[last + 1..].iter().flat_map(Statement::factors);
    !later.into_iter().any(|access| inner.contains(&access.tensor))
}

/// The longest runs of neighbouring reductions none of which reads what another of them writes.
fn together(program: &Program, statements: RangeInclusive<usize>) -> Vec<RangeInclusive<usize>> {
    let (mut first, last) = statements.into_inner();
    let mut groups = Vec::new();
    while first <= last {
        let mut end = first;
        while end < last && is_apart(program, first..=end, end + 1) {
            end += 1;
        }
        if end > first {
            groups.push(first..=end);
        }
        first = end + 1;
    }
    groups
}

/// Whether all are reductions and the next needs none of those before it.
pub fn is_apart(program: &Program, before: RangeInclusive<usize>, next: usize) -> bool {
    let next = &program.statements[next];
    let reads = next.factors();
    let reduces = |statement: &Statement| !statement.reduced.is_empty();
    let is_unread =
        |statement: &Statement| reads.iter().all(|access| access.tensor != statement.target.tensor);
    let mut before = program.statements[before].iter();
    reduces(next) && before.all(|statement| reduces(statement) && is_unread(statement))
}

/// Arrays of a row's columns that a thread holds: what is read of each row, and what is kept.
fn n_held(shape: &Shape, run: &[Statement]) -> u32 {
    let mut held: Vec<TensorId> = Vec::new();
    let kept = run[..run.len() - 1].iter().map(|statement| &statement.target);
    for access in run.iter().flat_map(Statement::factors).chain(kept) {
        let is_of_row = access.modes.len() > 1 && access.modes.contains(&shape.col);
        if is_of_row && !held.contains(&access.tensor) {
            held.push(access.tensor);
        }
    }
    u32::try_from(held.len()).unwrap_or(u32::MAX).max(1)
}

fn widths(program: &Program, shape: &Shape, n_held: u32) -> Vec<RowWidth> {
    let width = |(row_threads, thread_cols): (u32, Option<u32>)| RowWidth {
        row_threads,
        block_rows: if row_threads == WARP_THREADS { WARP_ROWS } else { 1 },
        thread_cols,
    };
    let fits = |width: &RowWidth| {
        let limit = if width.block_threads() > 256 { MOST_HELD_OF_512 } else { MOST_HELD };
        width.thread_cols.is_none_or(|cols| cols.saturating_mul(n_held) <= limit)
    };
    let all = WIDTHS.into_iter().map(width).filter(fits);
    match program.mode(shape.col).extent {
        Extent::Runtime => all.collect(),
        Extent::Fixed(extent) => {
            let fitting = all.filter(|width| width.most_cols().is_none_or(|most| extent <= most));
            fitting.take(1).map(|width| exact(width, extent)).collect()
        }
    }
}

/// A width with no more columns a thread than a fixed extent needs.
fn exact(width: RowWidth, extent: u32) -> RowWidth {
    let needed = |_| extent.div_ceil(width.row_threads * 4).max(1) * 4;
    RowWidth { thread_cols: width.thread_cols.map(needed), ..width }
}

fn reasons(program: &Program, rows: &Rows, n_reductions: usize) -> Vec<Reason> {
    let col = &program.mode(rows.col_mode).name;
    let reason = |decision: String, because: String| Reason { decision, because };
    let passes = if n_reductions == 1 {
        "a reduction".to_string()
    } else {
        format!("{n_reductions} reductions")
    };
    let mut reasons = vec![reason(
        format!("rows along `{col}` in registers"),
        format!("{passes} over `{col}` and what is computed of each row then read it once"),
    )];
    reasons.extend(rows.together.iter().map(|group| {
        let because = "none needs another of them: one pass over the columns and one exchange \
                       between the threads of a row do for all";
        reason(format!("{} reduced together", names(program, group)), because.to_string())
    }));
    for width in &rows.widths {
        let (threads, per_block) = (width.row_threads, width.block_rows);
        let decision = format!("{threads} threads a row for {}", width.words());
        let because = match (width.thread_cols, per_block) {
            (None, _) => "more do not fit the registers: each statement reads the row again, most \
                          of it from the second-level cache"
                .to_string(),
            (Some(cols), 1) => format!("each holds {cols} columns; one row a block"),
            (Some(cols), _) => format!(
                "each holds {cols} columns, and a warp needs no shared memory; {per_block} rows a block"
            ),
        };
        reasons.push(reason(decision, because));
    }
    if rows.kinds.contains(&VariantKind::Wide) {
        reasons.push(reason(
            "four neighbouring columns an access".to_string(),
            "where their number and the buffers' alignment allow it".to_string(),
        ));
    }
    reasons
}

fn names(program: &Program, statements: &RangeInclusive<usize>) -> String {
    let tensors = program.statements[statements.clone()].iter();
    let names: Vec<String> = tensors
        .map(|statement| format!("`{}`", program.tensor(statement.target.tensor).name))
        .collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
