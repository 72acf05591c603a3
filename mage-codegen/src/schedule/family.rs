//! A family of tiles for one contraction: the same mapping with tiles of several extents, of which
//! the host takes the one that is done first. Many large tiles reuse more of what they load; a few
//! of them leave multiprocessors idle.

use super::Tiled;

/// The tiles that the host can take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// The largest tile, or the only one.
    pub largest: Member,
    /// Smaller ones, the larger first.
    pub smaller: Vec<Member>,
}

/// One tile of a family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its place in the family.
    pub size: Size,
    /// The tile.
    pub tiled: Tiled,
    /// What a tile takes of a multiprocessor's time beside those of the other members; only
    /// ratios count.
    pub cost: u32,
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
}

impl Size {
    /// The part of the kernel's name.
    pub fn name(self) -> &'static str {
        match self {
            Size::Large => "large",
            Size::Mid => "mid",
            Size::Small => "small",
        }
    }
}

impl Member {
    /// What `tiles` of it take of the busiest of `n_sms` multiprocessors.
    pub fn time(&self, tiles: u64, n_sms: u32) -> u64 {
        tiles.div_ceil(u64::from(n_sms)).saturating_mul(u64::from(self.cost))
    }
}

impl Family {
    /// A tile that has no alternative.
    pub fn only(tiled: Tiled) -> Family {
        let largest = Member { size: Size::Large, tiled, cost: 1 };
        Family { largest, smaller: Vec::new() }
    }

    /// The members, the largest first.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        [&self.largest].into_iter().chain(&self.smaller)
    }

    /// The member of a size, by its name.
    pub fn named(&self, size: &str) -> Option<&Member> {
        self.members().find(|member| member.size.name() == size)
    }
}
