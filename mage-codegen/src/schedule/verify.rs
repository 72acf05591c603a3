//! Says why a schedule is not one: a layout that is not one-to-one, a tile that the layout does
//! not cover, a stage that does not fit.

use mage_einsum::index::ModeId;

use super::{Launch, Schedule, Strategy, Tiled};

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
        Strategy::PerOutput(per_output) => {
            let limit = schedule.device.capability.block_threads;
            let threads = per_output.block_threads;
            if threads == 0 || threads > limit {
                return Err(format!("{threads} threads a block, limit {limit}"));
            }
            Ok(())
        }
        Strategy::Tiled(tiled) => {
            verify_modes(schedule, launch, tiled)?;
            verify_stage(schedule, tiled)?;
            verify_layout(tiled)
        }
    }
}

/// Every mode of the statement is mapped exactly once.
fn verify_modes(schedule: &Schedule, launch: &Launch, tiled: &Tiled) -> Result<(), String> {
    let mut mapped: Vec<ModeId> = vec![tiled.row.mode, tiled.col.mode];
    mapped.extend(tiled.contracted.mode);
    mapped.extend(tiled.batch.mode);
    for outer in
        [&tiled.row.outer, &tiled.col.outer, &tiled.contracted.outer, &tiled.batch.outer]
    {
        mapped.extend(outer);
    }
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
    for side in tiled.sides() {
        let staging = &side.staging;
        if staging.row_elems < side.tile {
            return Err(format!("a stage row of {} holds {}", staging.row_elems, side.tile));
        }
        if staging.channel_elems < tiled.contracted.tile * staging.row_elems {
            return Err("the rows of a channel overlap the next channel".to_string());
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
