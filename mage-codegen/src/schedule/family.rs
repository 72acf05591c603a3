//! A family of tiles for one contraction: the same mapping with tiles of several extents, of which
//! the host takes the one that is done first. Many large tiles reuse more of what they load; a few
//! of them leave multiprocessors idle; where there are few rows or columns, thin ones waste less.

use super::{Parts, Tiled, VariantKind};

/// The tiles that the host can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// The largest tile, or the only one.
    pub largest: Member,
    /// Smaller ones, the larger first.
    pub smaller: Vec<Member>,
    /// The same in parts and with another tile, for long sums of few outputs.
    pub long: Option<Box<Long>>,
    /// The same in rounds, for sums of more than 2^16 terms.
    pub deep: Option<Box<Deep>>,
}

/// A contraction whose steps are summed in rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deep {
    /// It is for more steps than these.
    pub most_steps: u32,
    /// The tile of a block.
    pub tiled: Tiled,
}

/// A contraction whose steps are divided among blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Long {
    /// Which sums, and how they are divided.
    pub parts: Parts,
    /// The tiles, of which the host takes the one that costs least in all.
    pub tiles: Vec<Member>,
    /// What the parts take beside their steps, in the unit of costs times terms.
    pub overhead: u32,
    /// So many outputs add one to that.
    pub overhead_outputs: u32,
}

/// One tile of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its place in the family.
    pub size: Size,
    /// The tile.
    pub tiled: Tiled,
    /// What it costs with wide accesses.
    pub wide: Cost,
    /// What it costs with narrow ones, where that is known to differ.
    pub narrow: Option<Cost>,
}

/// What a tile takes of a multiprocessor's time beside other tiles; only ratios count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Where a multiprocessor has several.
    pub each: u32,
    /// Where a tile has a multiprocessor for itself: nothing runs while it waits for its loads.
    pub alone: u32,
}

/// A member's place in its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Most reuse of what a block loads.
    Large,
    /// Half of it.
    Mid,
    /// For few outputs.
    Small,
    /// For few columns.
    Tall,
    /// For few rows.
    Flat,
}

impl Size {
    /// The part of the kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Size::Large => "large",
            Size::Mid => "mid",
            Size::Small => "small",
            Size::Tall => "tall",
            Size::Flat => "flat",
        }
    }

    /// The same of the kernel in parts.
    pub fn long_name(self) -> &'static str {
        match self {
            Size::Large => "long_large",
            Size::Mid => "long_mid",
            Size::Small => "long_small",
            Size::Tall => "long_tall",
            Size::Flat => "long_flat",
        }
    }

    /// How many of it are as good as one block where blocks are counted that keep the device busy:
    /// a flat tile has half the outputs of a small one.
    pub fn of_a_block(self) -> u64 {
        match self {
            Size::Flat => 2,
            Size::Large | Size::Mid | Size::Small | Size::Tall => 1,
        }
    }
}

impl Cost {
    /// What `tiles` of it take of the busiest of `n_sms` multiprocessors.
    pub fn time(&self, tiles: u64, n_sms: u32) -> u64 {
        let share = tiles.div_ceil(u64::from(n_sms)).saturating_mul(u64::from(self.each));
        share.max(u64::from(self.alone))
    }

    /// The cost of a smaller tile: its share.
    pub fn share(&self, part: u64, whole: u64) -> Cost {
        let [each, alone] = [self.each, self.alone].map(|cost| {
            u32::try_from((u64::from(cost) * part).div_ceil(whole)).unwrap_or(u32::MAX)
        });
        Cost { each, alone }
    }
}

impl Member {
    /// What it costs with accesses of a kind.
    pub fn cost(&self, kind: VariantKind) -> Cost {
        match kind {
            VariantKind::Wide => self.wide,
            VariantKind::Narrow => self.narrow.unwrap_or(self.wide),
        }
    }

    /// What it costs with its widest accesses.
    pub fn least_cost(&self) -> Cost {
        let kind = self.tiled.variants.first().map_or(VariantKind::Narrow, |variant| variant.kind);
        self.cost(kind)
    }
}

impl Family {
    /// The tiles of all versions: in parts, in rounds, and the members'.
    pub fn tiles(&self) -> impl Iterator<Item = &Tiled> {
        let long = self.long.iter().flat_map(|long| &long.tiles).map(|member| &member.tiled);
        let deep = self.deep.iter().map(|deep| &deep.tiled);
        long.chain(deep).chain(self.members().map(|member| &member.tiled))
    }

    /// The members, the largest first.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        [&self.largest].into_iter().chain(&self.smaller)
    }

    /// The smallest tile, or the only one.
    pub fn smallest(&self) -> &Member {
        self.smaller.last().unwrap_or(&self.largest)
    }

    /// The member of a size, by its name.
    pub fn named(&self, size: &str) -> Option<&Member> {
        self.members().find(|member| member.size.name() == size)
    }
}
