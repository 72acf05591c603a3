//! Recognises reductions over the rows of a CSR matrix whose outputs have features.

use mage_einsum::index::{Extent, Program, Statement};

use super::choose_elementwise::kinds;
use super::{Launch, Reason, Segments, Strategy};
use crate::device::WARP_THREADS;

/// Threads of a block of rows: two warps. A block lasts as long as its longest row, and with more
/// rows most of its warps would wait for one.
const BLOCK_THREADS: u32 = 64;

/// Threads of the block of a part.
const PART_THREADS: u32 = 256;

/// Lanes of a row for few features and for more.
const ROW_LANES: [u32; 3] = [8, 16, WARP_THREADS];

/// Edges in flight: with four features a lane and a warp a row, 2 KiB of it.
const AHEAD: u32 = 4;

/// Edges of a part: each warp of its block has 32 of them or more. Of 512, 256 and 128 it is the one
/// with which power-law degrees and one giant row are both quick beside cuSPARSE. Source:
/// evidence/2026-12-01-h200, changes.md.
const PART_EDGES: u32 = 256;

/// The launch of a statement that reduces the edges of each row, with features last in its target;
/// nothing for any other.
pub fn choose_segments(
    program: &Program,
    statement_idx: usize,
    statement: &Statement,
) -> Option<Launch> {
    let segment = statement.segment?;
    let ([edge_mode], [row_mode, lane_mode]) =
        (statement.reduced.as_slice(), statement.target.modes.as_slice())
    else {
        return None;
    };
    if *row_mode != segment.row {
        return None;
    }
    let row_lanes = match program.mode(*lane_mode).extent {
        Extent::Runtime => ROW_LANES.to_vec(),
        Extent::Fixed(extent) => {
            let fits = |lanes: &u32| extent <= lanes * 4 || *lanes == WARP_THREADS;
            ROW_LANES.into_iter().find(fits).into_iter().collect()
        }
    };
    let segments = Segments {
        segment,
        lane_mode: *lane_mode,
        edge_mode: *edge_mode,
        row_lanes,
        block_threads: BLOCK_THREADS,
        part_threads: PART_THREADS,
        ahead: AHEAD,
        part_edges: PART_EDGES,
        kinds: kinds(program, *lane_mode),
    };
    let reasons = reasons(program, &segments);
    Some(Launch::of(statement_idx, Strategy::Segments(segments), reasons))
}

fn reasons(program: &Program, segments: &Segments) -> Vec<Reason> {
    let [lane, edge] =
        [segments.lane_mode, segments.edge_mode].map(|mode| &program.mode(mode).name);
    let reason =
        |decision: String, because: &str| Reason { decision, because: because.to_string() };
    let lanes: Vec<String> = segments.row_lanes.iter().map(u32::to_string).collect();
    vec![
        reason(
            format!("lanes walk `{lane}`"),
            "it is contiguous in the output and in what is looked up, so whole sectors are used",
        ),
        reason(
            format!("{} lanes a row", lanes.join(" or ")),
            "as many as its features fill, four each",
        ),
        reason(
            format!("{} of `{edge}` in flight", segments.ahead),
            "an element is looked up before it is read, and memory answers long after it is asked",
        ),
        reason(
            format!("rows with {} of `{edge}` or more in parts", segments.part_edges),
            "the lanes of one row would still be at it when all others have long been done",
        ),
        reason(
            "parts are listed where the row pointers are checked".to_string(),
            "a block of a part has none to search for, and no block is launched for nothing",
        ),
    ]
}
