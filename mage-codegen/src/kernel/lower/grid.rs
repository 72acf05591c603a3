//! Takes the block's index apart into tile origins and the coordinates of the modes that the grid
//! walks one by one, and says how many blocks there are.

use mage_einsum::index::ModeId;

use super::builder::{Builder, host_extent};
use super::names::Names;
use crate::kernel::{Expr, HostExpr, Stmt};
use crate::schedule::{Schedule, Tiled};

/// One digit of the block's index: a mode, and the elements of it that a block owns.
pub struct Digit {
    /// The mode.
    pub mode: ModeId,
    /// Its tile; 1 for a mode that is walked one by one.
    pub tile: u32,
    /// The name of the tile's constant; `None` for a mode that is walked one by one.
    pub tile_name: Option<String>,
}

impl Digit {
    /// A mode of which a block owns a tile.
    pub fn tiled(names: &Names, mode: ModeId, tile: u32) -> Digit {
        Digit { mode, tile, tile_name: Some(tile_name(names, mode)) }
    }

    /// A mode that is walked one by one.
    pub fn single(mode: ModeId) -> Digit {
        Digit { mode, tile: 1, tile_name: None }
    }
}

/// The digits of a tiled launch, fastest first: neighbouring blocks share the row factor's tile.
pub fn digits(tiled: &Tiled, names: &Names) -> Vec<Digit> {
    let tile_of = |mode: ModeId, tile: u32| Digit::tiled(names, mode, tile);
    let mut digits =
        vec![tile_of(tiled.col.mode, tiled.col.tile), tile_of(tiled.row.mode, tiled.row.tile)];
    digits.extend(tiled.batch.mode.map(|mode| tile_of(mode, tiled.batch.tile)));
    for outer in [&tiled.col.outer, &tiled.row.outer, &tiled.batch.outer] {
        digits.extend(outer.iter().rev().map(|mode| Digit::single(*mode)));
    }
    digits
}

/// The constant that holds a mode's tile, for example `I_TILE`.
pub fn tile_name(names: &Names, mode: ModeId) -> String {
    format!("{}_TILE", names.mode(mode).to_uppercase())
}

/// The blocks of a launch with these digits.
pub fn blocks(schedule: &Schedule, digits: &[Digit], names: &Names) -> HostExpr {
    let counts = digits.iter().map(|digit| {
        let extent = host_extent(&schedule.program, names, digit.mode);
        extent.ceil_div(u64::from(digit.tile))
    });
    HostExpr::product(counts)
}

/// Binds the origin (or for a mode walked one by one the coordinate) of every digit of `block`, a
/// 32-bit position.
pub fn bind(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    digits: &[Digit],
    block: Expr,
) -> Vec<(ModeId, Expr)> {
    let mut origins = Vec::new();
    let block = builder.coordinate(block);
    let mut rest = builder.bind(body, "block", block);
    for (position, digit) in digits.iter().enumerate() {
        let stem = builder.names.mode(digit.mode).to_string();
        let last = position + 1 == digits.len();
        let count = if last { None } else { Some(count(builder, body, digit, &stem)) };
        let here = match &count {
            None => rest.clone(),
            Some(count) => rest.clone().modulo(count.clone()),
        };
        let (name, origin) = match &digit.tile_name {
            None => (format!("{stem}_at"), here),
            Some(tile) => (format!("{stem}_tile"), here.times(builder.named(tile, digit.tile))),
        };
        origins.push((digit.mode, builder.bind(body, &name, origin)));
        if let Some(count) = count {
            rest = builder.bind(body, &format!("above_{stem}"), rest.over(count));
        }
    }
    origins
}

fn count(builder: &mut Builder<'_>, body: &mut Vec<Stmt>, digit: &Digit, stem: &str) -> Expr {
    let extent = builder.extent(digit.mode);
    let Some(name) = &digit.tile_name else {
        return extent;
    };
    let count = match extent.as_const() {
        Some(fixed) => {
            builder.number(u32::try_from(fixed).unwrap_or(u32::MAX).div_ceil(digit.tile))
        }
        None => ceil_div(builder, extent, name, digit.tile),
    };
    builder.bind(body, &format!("{stem}_tiles"), count)
}

/// `extent / tile`, rounded up; 32 bits hold the sum because their extents stop at 2^31.
pub fn ceil_div(builder: &Builder<'_>, extent: Expr, tile_name: &str, tile: u32) -> Expr {
    if tile == 1 {
        return extent;
    }
    let tile = builder.named(tile_name, tile);
    extent.plus(tile.clone().minus(builder.number(1))).over(tile)
}
