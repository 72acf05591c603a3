//! Says why a schedule is not one: a layout that is not one-to-one, a tile that the layout does
//! not cover, a stage that does not fit.

use mage_einsum::index::{Extent, ModeId};

use super::choose_rows::is_apart;
use super::{
    Along, Epilogue, Lanes, Launch, Range, Reduction, Rows, Schedule, Strategy, Swizzle, Tiled,
    Transpose, chunk_elems,
};
use crate::device::WARP_THREADS;

/// Checks every launch.
///
/// # Errors
/// What is wrong and where; a failure is a bug of Mage and not of its user.
pub fn verify(schedule: &Schedule) -> Result<(), String> {
    for launch in &schedule.launches {
        verify_launch(schedule, launch)
            .map_err(|why| format!("schedule `{}`: {why}", schedule.name))?;
    }
    Ok(())
}

fn verify_launch(schedule: &Schedule, launch: &Launch) -> Result<(), String> {
    match &launch.strategy {
        Strategy::PerOutput(per_output) => block_threads(schedule, per_output.block_threads),
        Strategy::Transpose(transpose) => verify_transpose(schedule, launch, transpose),
        Strategy::Reduction(reduction) => verify_reduction(schedule, launch, reduction),
        Strategy::Rows(rows) => verify_rows(schedule, launch, rows),
        Strategy::Segments(segments) => {
            block_threads(schedule, segments.block_threads)?;
            block_threads(schedule, segments.part_threads)?;
            let fits = |lanes: &u32| {
                lanes.is_power_of_two() && segments.block_threads.is_multiple_of(*lanes)
            };
            if !segments.row_lanes.iter().all(fits) || segments.row_lanes.is_empty() {
                return Err(format!("{:?} lanes a row", segments.row_lanes));
            }
            let mapped = [segments.segment.row, segments.lane_mode, segments.edge_mode];
            verify_modes(schedule, launch, &mapped)
        }
        Strategy::Elementwise(elementwise) => {
            block_threads(schedule, elementwise.block_threads)?;
            let mut mapped = elementwise.outer.clone();
            mapped.extend(elementwise.row_mode);
            mapped.push(elementwise.lane_mode);
            verify_modes(schedule, launch, &mapped)
        }
        Strategy::Tiled(family) => {
            family.tiles().try_for_each(|tiled| verify_tile(schedule, launch, tiled))
        }
    }
}

fn verify_tile(schedule: &Schedule, launch: &Launch, tiled: &Tiled) -> Result<(), String> {
    verify_modes(schedule, launch, &tiled_modes(tiled))?;
    verify_stage(schedule, tiled)?;
    verify_layout(tiled)
}

fn block_threads(schedule: &Schedule, threads: u32) -> Result<(), String> {
    let limit = schedule.device.capability.block_threads;
    if threads == 0 || threads > limit {
        return Err(format!("{threads} threads a block, limit {limit}"));
    }
    Ok(())
}

fn verify_transpose(
    schedule: &Schedule,
    launch: &Launch,
    transpose: &Transpose,
) -> Result<(), String> {
    let mut mapped = vec![transpose.load.mode, transpose.store.mode];
    mapped.extend(&transpose.outer);
    verify_modes(schedule, launch, &mapped)?;
    let (tile, threads) = (transpose.tile, transpose.block_threads);
    block_threads(schedule, threads)?;
    if transpose.row_elems < tile {
        return Err(format!("a tile row of {} holds {tile}", transpose.row_elems));
    }
    if !(tile * tile).is_multiple_of(threads) || !threads.is_multiple_of(tile) {
        return Err(format!("{threads} threads do not walk a tile of {tile}x{tile} in whole rows"));
    }
    Ok(())
}

fn verify_reduction(
    schedule: &Schedule,
    launch: &Launch,
    reduction: &Reduction,
) -> Result<(), String> {
    let mut mapped = [reduction.terms.as_slice(), &reduction.outer].concat();
    match reduction.lanes {
        Lanes::Terms if reduction.terms.last() != Some(&reduction.lane_mode) => {
            return Err("lanes do not walk the innermost terms".to_string());
        }
        Lanes::Terms => {}
        Lanes::Outputs => mapped.push(reduction.lane_mode),
    }
    verify_modes(schedule, launch, &mapped)?;
    for split in &reduction.splits {
        block_threads(schedule, split.block_threads)?;
        for kind in &reduction.kinds {
            let lanes = reduction.output_lanes(split, *kind);
            let threads = reduction.output_threads(split, *kind);
            if let Range::Long(parts) = split.range
                && !parts.unit_len.is_multiple_of(Reduction::elems(*kind))
            {
                return Err(format!("a part of {} terms tears accesses apart", parts.unit_len));
            }
            let whole = lanes.is_power_of_two() && threads.is_power_of_two();
            if !whole || !split.block_threads.is_multiple_of(WARP_THREADS) {
                return Err(format!("{threads} threads an output, {lanes} outputs side by side"));
            }
        }
    }
    match reduction.splits.last().map(|split| split.range) {
        Some(Range::Many | Range::All) => Ok(()),
        Some(Range::Long(_) | Range::Short(_) | Range::Few(_)) | None => {
            Err("the last split is not for everything else".to_string())
        }
    }
}

/// Every width has whole warps, and every row some width.
fn verify_rows(schedule: &Schedule, launch: &Launch, rows: &Rows) -> Result<(), String> {
    let program = &schedule.program;
    for position in launch.statements() {
        for (mode, _) in &program.statements[position].roles {
            if *mode != rows.col_mode && !rows.row_modes.contains(mode) {
                return Err(format!("mode `{}` is not mapped", program.mode(*mode).name));
            }
        }
    }
    verify_together(schedule, launch, rows)?;
    for width in &rows.widths {
        block_threads(schedule, width.block_threads())?;
        let threads = width.row_threads;
        if !threads.is_multiple_of(WARP_THREADS) || width.block_rows > 1 && threads != WARP_THREADS
        {
            return Err(format!("{threads} threads a row, {} rows a block", width.block_rows));
        }
        if width.thread_cols.is_some_and(|cols| !cols.is_multiple_of(4)) {
            return Err(format!("{:?} columns of a thread", width.thread_cols));
        }
    }
    let last = rows.widths.last().map(|width| width.most_cols());
    match (last, program.mode(rows.col_mode).extent) {
        (Some(None), _) => Ok(()),
        (Some(Some(most)), Extent::Fixed(extent)) if extent <= most => Ok(()),
        (_, _) => Err("the last width is not for all rows".to_string()),
    }
}

/// Reductions that share an exchange are neighbours of one launch, and none reads another.
fn verify_together(schedule: &Schedule, launch: &Launch, rows: &Rows) -> Result<(), String> {
    let mut free = *launch.statements().start();
    for group in &rows.together {
        let (first, last) = (*group.start(), *group.end());
        if first < free || last <= first || last > *launch.statements().end() {
            return Err(format!("statements {first} to {last} are no group of the launch"));
        }
        for next in first + 1..=last {
            if !is_apart(&schedule.program, first..=next - 1, next) {
                return Err(format!("statement {next} is reduced together with what it needs"));
            }
        }
        free = last + 1;
    }
    Ok(())
}

fn tiled_modes(tiled: &Tiled) -> Vec<ModeId> {
    let mut mapped: Vec<ModeId> = vec![tiled.row.mode, tiled.col.mode];
    mapped.extend(tiled.contracted.mode);
    mapped.extend(tiled.batch.mode);
    for outer in [&tiled.row.outer, &tiled.col.outer, &tiled.contracted.outer, &tiled.batch.outer] {
        mapped.extend(outer);
    }
    mapped
}

/// Every mode of the statement is mapped exactly once.
fn verify_modes(schedule: &Schedule, launch: &Launch, mapped: &[ModeId]) -> Result<(), String> {
    for (mode, _) in &schedule.program.statements[launch.statement].roles {
        let times = mapped.iter().filter(|id| *id == mode).count();
        if times != 1 {
            let name = &schedule.program.mode(*mode).name;
            return Err(format!("mode `{name}` is mapped {times} times"));
        }
    }
    Ok(())
}

fn verify_stage(schedule: &Schedule, tiled: &Tiled) -> Result<(), String> {
    let limit = schedule.device.capability.static_shared_bytes;
    let bytes = tiled.shared_bytes();
    if bytes > limit {
        return Err(format!("{bytes} bytes of shared memory, limit {limit}"));
    }
    if let Epilogue::Exchanged(exchange) = &tiled.epilogue {
        let all_rows = tiled.threads.thread_elems(0);
        let halves = if exchange.thread_rows == all_rows { 1 } else { 2 };
        let rows = tiled.exchange_rows(exchange.thread_rows);
        if halves * tiled.exchange_elems(exchange) > tiled.stages * tiled.stage_elems()
            || !all_rows.is_multiple_of(exchange.thread_rows)
            || exchange.channel_elems < rows * tiled.col.tile
        {
            return Err(format!("an exchange of {} rows does not fit the stages", rows));
        }
    }
    for side in tiled.sides() {
        let staging = &side.staging;
        let (row, rows) = match (staging.swizzle, staging.along) {
            (Some(_), Along::Contracted) => (tiled.contracted.tile, side.tile),
            (_, _) => (side.tile, tiled.contracted.tile),
        };
        if staging.row_elems < row {
            return Err(format!("a stage row of {} holds {row}", staging.row_elems));
        }
        if let Some(swizzle) = staging.swizzle {
            verify_swizzle(swizzle, staging.row_elems / chunk_elems(tiled.dtype), rows)?;
        }
        if staging.channel_elems < rows * staging.row_elems {
            return Err("the rows of a channel overlap the next channel".to_string());
        }
    }
    Ok(())
}

/// Every chunk of a row has a place of its own in it.
fn verify_swizzle(swizzle: Swizzle, chunks: u32, rows: u32) -> Result<(), String> {
    for row in 0..rows {
        let mut places: Vec<u32> = (0..chunks).map(|chunk| swizzle.place(row, chunk)).collect();
        places.sort_unstable();
        if places != (0..chunks).collect::<Vec<_>>() {
            return Err(format!("the chunks of row {row} lie at {places:?} of {chunks}"));
        }
    }
    Ok(())
}

/// The map from (thread, register) to element is one-to-one and onto the tile.
fn verify_layout(tiled: &Tiled) -> Result<(), String> {
    let map = &tiled.threads;
    let tile = [map.tile(0), map.tile(1)];
    if tile != [tiled.row.tile, tiled.col.tile] || map.channels != tiled.batch.tile {
        return Err(format!("threads cover {tile:?} of {}x{}", tiled.row.tile, tiled.col.tile));
    }
    let mut owners = vec![0_u32; (map.channels * tile[0] * tile[1]) as usize];
    for thread in 0..map.block_threads() {
        for row in 0..map.thread_elems(0) {
            for col in 0..map.thread_elems(1) {
                let at = map.element(thread, [row, col]);
                let cell = (at.channel * tile[0] + at.row) * tile[1] + at.col;
                match owners.get_mut(cell as usize) {
                    Some(count) => *count += 1,
                    None => return Err(format!("thread {thread} owns {at:?}, outside the tile")),
                }
            }
        }
    }
    match owners.iter().position(|count| *count != 1) {
        Some(cell) => Err(format!("element {cell} of the tile has {} owners", owners[cell])),
        None => Ok(()),
    }
}
