//! Chooses the family of tiles for a contraction whose tile nobody asked for, and what each of
//! them costs.

use super::choose_tiled::Groups;
use super::{Cost, Family, Member, Reason, Size, Tiled, VariantKind};
use crate::device::Device;

/// A tile with stages of 16 contracted positions, or 64 bytes of them for the tensor cores, or as
/// many as fit, and its cost.
#[derive(Debug, Clone, Copy)]
pub struct Candidate {
    /// Its place in the family.
    pub size: Size,
    /// Rows and columns.
    pub sides: [u32; 2],
    /// Microseconds that one tile takes of a multiprocessor of an H200, with wide accesses.
    pub wide: Cost,
    /// The same with narrow ones; none where smaller tiles of the family are always quicker then.
    pub narrow: Option<Cost>,
}

impl Candidate {
    /// Costs of each of several tiles and of one alone.
    const fn new(size: Size, sides: [u32; 2], wide: [u32; 2], narrow: [u32; 2]) -> Candidate {
        let narrow = Some(Cost { each: narrow[0], alone: narrow[1] });
        Candidate { narrow, ..Candidate::wide_only(size, sides, wide) }
    }

    /// The same of a tile for wide accesses.
    const fn wide_only(size: Size, sides: [u32; 2], wide: [u32; 2]) -> Candidate {
        Candidate { size, sides, wide: Cost { each: wide[0], alone: wide[1] }, narrow: None }
    }
}

/// Tiles of matrices. Source of the costs: evidence/2026-11-30-h200, tiles whose sum has 1024
/// terms. Large: `matmul_128` at 1024^3, a tile a multiprocessor in 95.9 us, and at 2048^3, two of
/// twice the depth in 366.8. Mid: `matmul_128x64` at 1024^3, one in 53.8, and at 2048^3, four of
/// twice the depth in 388. Small: `matmul_64` at 1024^3, two in 57.2, and in
/// evidence/2026-11-30-h200-thin at 512^3, one of half the depth in 18.7. Narrow: the same kernels
/// in evidence/2026-11-30-h200-tensor-cores at 1021 x 1021 and 2047 x 2047 outputs of 1023 terms,
/// and small ones alone at 509 x 509; mid tiles took 73 there, more than two small ones.
pub const MATRIX_TILES: [Candidate; 3] = [
    Candidate::new(Size::Large, [128, 128], [93, 96], [105, 115]),
    Candidate::wide_only(Size::Mid, [128, 64], [50, 54]),
    Candidate::new(Size::Small, [64, 64], [28, 37], [32, 47]),
];

/// Thin tiles, for outputs of few columns or few rows, most of which a square tile would compute
/// for nothing. Source of the costs: evidence/2026-11-30-h200-thin. Tall: `thin_128x32` at 1024^3,
/// two in 61.5, and at 512^3, one of half the depth in 19.9; one of 128x16 takes as long beside
/// cold operands and has half the outputs. Flat: `thin_16x128` at 1024^3, four in 74.6, and at
/// 512^3, one of half the depth in 14.4. Narrow: as for `MATRIX_TILES`, flat ones alone at 253 x 509.
pub const THIN_TILES: [Candidate; 2] = [
    Candidate::new(Size::Tall, [128, 32], [31, 40], [37, 52]),
    Candidate::new(Size::Flat, [16, 128], [19, 29], [22, 32]),
];

/// Tiles of matrices for the tensor cores, with stages of 64 bytes. Source of the costs:
/// evidence/2026-11-30-h200-tensor-cores, tiles whose sum has 1024 terms, or a quarter of 4096.
/// Large: `matmul_bf16` at 4096^3, eight tiles a multiprocessor, and `matmul_f16_128` at 1024^3, one.
/// Small: `matmul_f16` at 4096^3, 32 tiles, and `matmul_bf16_family` at 1024^3, two, which
/// take as long as one. Single elements reach the tensor cores slowly whatever the tile.
pub const MMA_TILES: [Candidate; 2] = [
    Candidate::wide_only(Size::Large, [128, 128], [14, 22]),
    Candidate::new(Size::Small, [64, 64], [5, 13], [5, 13]),
];

/// Tiles of eight channels, each of which has its own threads. Source of the costs:
/// evidence/2026-11-30-h200-families, sums of 256 terms. Large: `triangle_outgoing_64` at 256^3 and
/// 128 channels, two tiles a multiprocessor in 148.1 us. Small: `triangle_outgoing` at the same,
/// eight in 189.1.
pub const CHANNEL_TILES: [Candidate; 2] = [
    Candidate::new(Size::Large, [64, 64], [74, 74], [74, 74]),
    Candidate::new(Size::Small, [32, 32], [24, 24], [24, 24]),
];

impl Groups<'_> {
    /// Of some tiles those that suit the extents, cut to fixed ones, and the thin tiles, which are for
    /// multiply-adds. A thin one whose long side is cut is none; and no other one is as narrow as it
    /// is.
    pub(super) fn suited(&self, tiles: &[Candidate]) -> Vec<(Candidate, [u32; 2])> {
        let cut = |candidate: &Candidate| {
            let [rows, cols] = candidate.sides;
            [self.shrunk(self.row, rows), self.shrunk(self.col, cols)]
        };
        let longest = |sides: [u32; 2]| sides[0].max(sides[1]);
        let are_any = self.batch.is_none() && self.contracted.is_some() && !self.on_tensor_cores();
        let thin = THIN_TILES
            .iter()
            .filter(|candidate| are_any && longest(cut(candidate)) == longest(candidate.sides));
        let thin: Vec<(Candidate, [u32; 2])> = thin.map(|one| (*one, cut(one))).collect();
        let within = |one: [u32; 2], other: [u32; 2]| one[0] <= other[0] && one[1] <= other[1];
        let wider = tiles.iter().map(|candidate| (*candidate, cut(candidate)));
        let wider =
            wider.filter(|(_, sides)| !thin.iter().any(|(_, other)| within(*sides, *other)));
        wider.chain(thin.iter().copied()).collect()
    }
}

/// The family of some tiles: each shape once, and one alone where the number of tiles is known.
pub fn family(
    made: Vec<(Candidate, Tiled)>,
    tiles: TileCounts<'_>,
    device: &Device,
) -> Option<Family> {
    let mut members: Vec<Member> = Vec::new();
    for (candidate, tiled) in made {
        if members.iter().all(|member| member.tiled != tiled) {
            members.push(member(candidate, tiled));
        }
    }
    let counts: Option<Vec<u64>> = members.iter().map(|member| tiles(&member.tiled)).collect();
    if let Some(counts) = counts {
        let times = members
            .iter()
            .zip(&counts)
            .map(|(member, tiles)| member.least_cost().time(*tiles, device.n_sms));
        let least = times.enumerate().min_by_key(|(_, time)| *time).map_or(0, |(at, _)| at);
        return (least < members.len()).then(|| Family {
            largest: members.swap_remove(least),
            smaller: Vec::new(),
            long: None,
            deep: None,
        });
    }
    if let Some((_, larger)) = members.split_last_mut() {
        for member in larger.iter_mut().filter(|member| member.narrow.is_none()) {
            let variants = &mut member.tiled.variants;
            if variants.iter().any(|variant| variant.kind == VariantKind::Wide) {
                variants.retain(|variant| variant.kind == VariantKind::Wide);
            }
        }
    }
    let mut members = members.into_iter();
    let largest = members.next()?;
    Some(Family { largest, smaller: members.collect(), long: None, deep: None })
}

/// A member with another tile in its place, which costs its share.
pub fn cut(member: &Member, tiled: Tiled) -> Member {
    let Member { size, tiled: whole, wide, narrow } = member;
    let sides = [whole.row.tile, whole.col.tile];
    let candidate = Candidate { size: *size, sides, wide: *wide, narrow: *narrow };
    self::member(candidate, tiled)
}

/// A tile made of a candidate, maybe a smaller one, which then costs its share.
pub fn member(candidate: Candidate, tiled: Tiled) -> Member {
    let area = |sides: [u32; 2]| u64::from(sides[0]) * u64::from(sides[1]);
    let (part, whole) = (area([tiled.row.tile, tiled.col.tile]), area(candidate.sides));
    let wide = candidate.wide.share(part, whole);
    let narrow = candidate.narrow.map(|cost| cost.share(part, whole));
    Member { size: candidate.size, tiled, wide, narrow }
}

/// How many tiles a contraction has, where its extents are known.
pub type TileCounts<'c> = &'c dyn Fn(&Tiled) -> Option<u64>;

/// How the host chooses and why that is right.
pub fn reason(family: &Family, device: &Device) -> Reason {
    let sides = |member: &Member| format!("{}x{}", member.tiled.row.tile, member.tiled.col.tile);
    let (first, always) = turning_points(family, device);
    let is_narrow = |member: &&Member| member.tiled.variants.len() > 1;
    let narrow: Vec<&Member> = family.members().filter(is_narrow).collect();
    let narrow = match narrow.len() {
        0 | 1 => String::new(),
        _ => format!(
            ", with single elements {} and {}",
            list(narrow.iter().copied(), |member| member
                .cost(VariantKind::Narrow)
                .each
                .to_string()),
            list(narrow.iter().copied(), |member| member
                .cost(VariantKind::Narrow)
                .alone
                .to_string()),
        ),
    };
    Reason {
        decision: format!("{} tiles, at the launch", list(family.members(), sides)),
        because: format!(
            "no tile was asked for; a tile takes {} of a multiprocessor's time, and {} where it is \
             alone there{narrow}, and the busiest of {} has its share of them rounded up: so {} tiles \
             for some numbers from {first} of them on and for all from {always} on, and others \
             elsewhere",
            list(family.members(), |member| member.least_cost().each.to_string()),
            list(family.members(), |member| member.least_cost().alone.to_string()),
            device.n_sms,
            sides(&family.largest),
        ),
    }
}

/// Something of each member, in words: `a, b or c`.
pub fn list<'m>(
    members: impl IntoIterator<Item = &'m Member>,
    part: impl Fn(&Member) -> String,
) -> String {
    let parts: Vec<String> = members.into_iter().map(part).collect();
    match parts.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        Some(_) | None => parts.concat(),
    }
}

/// The number of large tiles from which on they are the best for some counts, and for all.
fn turning_points(family: &Family, device: &Device) -> (u64, u64) {
    let area =
        |member: &Member| u64::from(member.tiled.row.tile) * u64::from(member.tiled.col.tile);
    let is_best = |tiles: &u64| {
        let time = family.largest.least_cost().time(*tiles, device.n_sms);
        family.smaller.iter().all(|member| {
            let same = tiles * area(&family.largest) / area(member);
            time <= member.least_cost().time(same, device.n_sms)
        })
    };
    let most = u64::from(device.n_sms) * 32;
    let first = (1..=most).find(is_best).unwrap_or(most);
    let last_other = (1..=most).rev().find(|tiles| !is_best(tiles));
    (first, last_other.map_or(1, |last| last + 1))
}
