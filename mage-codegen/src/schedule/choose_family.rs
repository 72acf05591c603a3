//! Chooses the family of tiles for a contraction whose tile nobody asked for, and what each of
//! them costs.

use super::{Family, Member, Reason, Size, Tiled, VariantKind};
use crate::device::Device;

/// A tile with 16 contracted positions, or as many as fit, and its cost.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Its place in the family.
    pub size: Size,
    /// Rows and columns.
    pub sides: [u32; 2],
    /// Microseconds that one tile takes of a multiprocessor of an H200.
    pub cost: u32,
}

/// Tiles of matrices. Source of the costs: evidence/2026-11-30-h200, tiles whose sum has 1024
/// terms. Large: `matmul_128` at 1024^3, a tile a multiprocessor in 95.9 us, and at 2048^3, two of
/// twice the depth in 366.8. Mid: `matmul_128x64` at 1024^3, one in 53.8, and at 2048^3, four of
/// twice the depth in 388. Small: `matmul_64` at 1024^3, two in 57.2.
pub const MATRIX_TILES: [Candidate; 3] = [
    Candidate { size: Size::Large, sides: [128, 128], cost: 93 },
    Candidate { size: Size::Mid, sides: [128, 64], cost: 50 },
    Candidate { size: Size::Small, sides: [64, 64], cost: 28 },
];

/// Tiles of matrices for the tensor cores, with stages of 64 bytes. Source of the costs:
/// evidence/2026-11-30-h200-tensor-cores, tiles of bf16 whose sum has 4096 terms, for a quarter of
/// them. Large: `matmul_bf16` at 4096^3, eight tiles a multiprocessor. Small: `matmul_bf16_to_f32` at
/// the same, 32 tiles.
pub const MMA_TILES: [Candidate; 2] = [
    Candidate { size: Size::Large, sides: [128, 128], cost: 12 },
    Candidate { size: Size::Small, sides: [64, 64], cost: 4 },
];

/// Tiles of eight channels, each of which has its own threads. Source of the costs:
/// evidence/2026-11-30-h200-families, sums of 256 terms. Large: `triangle_outgoing_64` at 256^3 and
/// 128 channels, two tiles a multiprocessor in 148.1 us. Small: `triangle_outgoing` at the same,
/// eight in 189.1.
pub const CHANNEL_TILES: [Candidate; 2] = [
    Candidate { size: Size::Large, sides: [64, 64], cost: 74 },
    Candidate { size: Size::Small, sides: [32, 32], cost: 24 },
];

/// The family of some tiles: each shape once, and one alone where the number of tiles is known.
pub fn family(
    made: Vec<(Candidate, Tiled)>,
    tiles: TileCounts<'_>,
    device: &Device,
) -> Option<Family> {
    let mut members: Vec<Member> = Vec::new();
    for (candidate, tiled) in made {
        let area = |sides: [u32; 2]| u64::from(sides[0]) * u64::from(sides[1]);
        let part = u64::from(candidate.cost) * area([tiled.row.tile, tiled.col.tile]);
        let cost = u32::try_from(part.div_ceil(area(candidate.sides))).unwrap_or(u32::MAX);
        if members.iter().all(|member| member.tiled != tiled) {
            members.push(Member { size: candidate.size, tiled, cost });
        }
    }
    let counts: Option<Vec<u64>> = members.iter().map(|member| tiles(&member.tiled)).collect();
    if let Some(counts) = counts {
        let times =
            members.iter().zip(&counts).map(|(member, tiles)| member.time(*tiles, device.n_sms));
        let least = times.enumerate().min_by_key(|(_, time)| *time).map_or(0, |(at, _)| at);
        return (least < members.len()).then(|| Family::only(members.swap_remove(least).tiled));
    }
    // Single elements reach the tensor cores slowly whatever the tile; one of them is enough there.
    if let Some((_, larger)) = members.split_last_mut() {
        for tiled in larger.iter_mut().map(|member| &mut member.tiled) {
            if tiled.threads.fragments && tiled.variants.len() > 1 {
                tiled.variants.retain(|variant| variant.kind == VariantKind::Wide);
            }
        }
    }
    let mut members = members.into_iter();
    let largest = members.next()?;
    Some(Family { largest, smaller: members.collect(), long: None, deep: None })
}

/// How many tiles a contraction has, where its extents are known.
pub type TileCounts<'c> = &'c dyn Fn(&Tiled) -> Option<u64>;

/// How the host chooses and why that is right.
pub fn reason(family: &Family, device: &Device) -> Reason {
    let list = |part: &dyn Fn(&Member) -> String| {
        let parts: Vec<String> = family.members().map(part).collect();
        match parts.split_last() {
            Some((last, others)) if !others.is_empty() => {
                format!("{} or {last}", others.join(", "))
            }
            Some(_) | None => parts.concat(),
        }
    };
    let sides = |member: &Member| format!("{}x{}", member.tiled.row.tile, member.tiled.col.tile);
    let (first, always) = turning_points(family, device);
    Reason {
        decision: format!("{} tiles, at the launch", list(&sides)),
        because: format!(
            "no tile was asked for; a tile takes {} of a multiprocessor's time, and the busiest of \
             {} has its share of them rounded up: so {} tiles for some numbers from {first} of them \
             on and for all from {always} on, and smaller ones elsewhere",
            list(&|member| member.cost.to_string()),
            device.n_sms,
            sides(&family.largest),
        ),
    }
}

/// The number of large tiles from which on they are the best for some counts, and for all.
fn turning_points(family: &Family, device: &Device) -> (u64, u64) {
    let area =
        |member: &Member| u64::from(member.tiled.row.tile) * u64::from(member.tiled.col.tile);
    let is_best = |tiles: &u64| {
        let time = family.largest.time(*tiles, device.n_sms);
        family.smaller.iter().all(|member| {
            let same = tiles * area(&family.largest) / area(member);
            time <= member.time(same, device.n_sms)
        })
    };
    let most = u64::from(device.n_sms) * 32;
    let first = (1..=most).find(is_best).unwrap_or(most);
    let last_other = (1..=most).rev().find(|tiles| !is_best(tiles));
    (first, last_other.map_or(1, |last| last + 1))
}
