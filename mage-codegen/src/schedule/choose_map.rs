//! Chooses what a thread owns of a tile.

use mage_einsum::dtype::Dtype;

use super::{Resources, ThreadMap};
use crate::device::{Device, WARP_THREADS};

/// Most rows or columns of a thread: 8x8 accumulators leave room for two blocks of 256 threads
/// on a multiprocessor (kernels.md, "f32 contraction").
const MOST_THREAD_ELEMS: u32 = 8;

/// One warp for each of the four schedulers of a multiprocessor, as long as the tile allows it.
const WANTED_THREADS: u32 = 128;

/// A tile that is to be mapped.
#[derive(Debug, Clone, Copy)]
pub struct TileShape {
    /// Channels, rows and columns.
    pub channels: u32,
    /// Rows and columns.
    pub sides: [u32; 2],
    /// Depth of a stage.
    pub contracted: u32,
    /// The type of the stage's elements and of the accumulators.
    pub dtype: Dtype,
}

/// The best map of `shape`, or what it would need and the limit, in words.
pub fn choose_map(shape: TileShape, device: &Device) -> Result<ThreadMap, String> {
    let mut best: Option<(f64, ThreadMap)> = None;
    let mut refusal = None;
    for rows in divisors(shape.sides[0]) {
        for cols in divisors(shape.sides[1]) {
            let map = map_of(shape, [rows, cols]);
            if let Err(why) = fits(shape, &map, device) {
                refusal = Some(why);
                continue;
            }
            let cost = cost(&map);
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, map));
            }
        }
    }
    match (best, refusal) {
        (Some((_, map)), _) => Ok(map),
        (None, Some(why)) => Err(why),
        (None, None) => Err("an empty tile".to_string()),
    }
}

fn divisors(extent: u32) -> impl Iterator<Item = u32> {
    (1..=MOST_THREAD_ELEMS).filter(move |elems| extent.is_multiple_of(*elems))
}

fn map_of(shape: TileShape, elems: [u32; 2]) -> ThreadMap {
    // An access has at most 16 bytes, so four f64 are no quad.
    let in_quads = |count: u32| count.is_multiple_of(4) && shape.dtype.size_bytes() <= 4;
    let quad_elems = elems.map(|count| if in_quads(count) { 4 } else { 1 });
    let places = [shape.sides[0] / elems[0], shape.sides[1] / elems[1]];
    let lanes = warp_shape(places).unwrap_or(places);
    ThreadMap {
        channels: shape.channels,
        warps: [places[0] / lanes[0], places[1] / lanes[1]],
        lanes,
        quads: [elems[0] / quad_elems[0], elems[1] / quad_elems[1]],
        quad_elems,
        fragments: false,
    }
}

/// Lanes of a warp, nearest to square first: the fewer distinct shared elements a warp reads, the
/// more each read is broadcast.
fn warp_shape(places: [u32; 2]) -> Option<[u32; 2]> {
    [[4, 8], [8, 4], [2, 16], [16, 2], [1, 32], [32, 1]]
        .into_iter()
        .find(|lanes| places[0].is_multiple_of(lanes[0]) && places[1].is_multiple_of(lanes[1]))
}

fn fits(shape: TileShape, map: &ThreadMap, device: &Device) -> Result<(), String> {
    let threads = u64::from(shape.channels)
        * u64::from(shape.sides[0] / map.thread_elems(0))
        * u64::from(shape.sides[1] / map.thread_elems(1));
    let limit = device.capability.block_threads;
    if threads > u64::from(limit) {
        return Err(format!("{threads} threads a block, limit {limit}"));
    }
    let needed = Resources::registers(map, shape.sides, shape.contracted, shape.dtype);
    let limit = (device.capability.sm_registers
        / map.block_threads().next_multiple_of(WARP_THREADS))
    .min(device.capability.thread_registers);
    if needed > limit {
        let threads = map.block_threads();
        return Err(format!(
            "about {needed} registers a thread at {threads} a block, limit {limit}"
        ));
    }
    Ok(())
}

/// Shared reads an accumulation, with a malus for idle schedulers and for lanes without a warp.
/// The weights order the tiles of kernels.md the way they were measured there: 8x8 a thread for
/// 128x128 tiles, 8x4 for 64x64, 4x4 for 32x32.
fn cost(map: &ThreadMap) -> f64 {
    let [rows, cols] = [0, 1].map(|direction| f64::from(map.thread_elems(direction)));
    let threads = f64::from(map.block_threads());
    let idle = (f64::from(WANTED_THREADS) / threads).log2().max(0.0);
    let ragged = if map.warp_lanes() == WARP_THREADS { 0.0 } else { 0.5 };
    let upright = if rows > cols { 0.01 } else { 0.0 };
    1.0 / rows + 1.0 / cols + 0.15 * idle + ragged + upright
}
