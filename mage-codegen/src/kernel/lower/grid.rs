//! Takes the block's index apart into tile origins and the coordinates of the modes that the grid
//! walks one by one, and says how many blocks there are.

use mage_einsum::index::ModeId;

use super::builder::{Builder, host_extent};
use super::names::Names;
use crate::kernel::{Expr, HostExpr, Stmt};
use crate::schedule::{Schedule, Tiled};

/// One digit of the block's index: a mode, and what of it a block owns.
pub struct Digit {
    /// The mode.
    pub mode: ModeId,
    /// Elements of its tile; `None` for a mode that is walked one by one.
    pub tile: Option<u32>,
}

impl Digit {
    /// A mode of which a block owns a tile.
    pub fn tiled(mode: ModeId, tile: u32) -> Digit {
        Digit { mode, tile: Some(tile) }
    }

    /// A mode that is walked one by one.
    pub fn single(mode: ModeId) -> Digit {
        Digit { mode, tile: None }
    }

    /// Elements of the mode that a block owns.
    fn elems(&self) -> u32 {
        self.tile.unwrap_or(1)
    }
}

/// The digits of a tiled launch, fastest first: neighbouring blocks share the row factor's tile.
pub fn digits(tiled: &Tiled) -> Vec<Digit> {
    let (row, col, batch) = (&tiled.row, &tiled.col, &tiled.batch);
    let mut digits = vec![Digit::tiled(col.mode, col.tile), Digit::tiled(row.mode, row.tile)];
    digits.extend(batch.mode.map(|mode| Digit::tiled(mode, batch.tile)));
    for outer in [&col.outer, &row.outer, &batch.outer] {
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
        extent.ceil_div(u64::from(digit.elems()))
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
        let count = (!last).then(|| {
            let count = tiles(builder, digit.mode, digit.elems());
            builder.bind(body, &format!("{stem}_tiles"), count)
        });
        let here = match &count {
            None => rest.clone(),
            Some(count) => rest.clone().modulo(count.clone()),
        };
        let (name, origin) = match digit.tile {
            None => (format!("{stem}_at"), here),
            Some(tile) => {
                let tile = builder.named(&tile_name(builder.names, digit.mode), tile);
                (format!("{stem}_tile"), here.times(tile))
            }
        };
        origins.push((digit.mode, builder.bind(body, &name, origin)));
        if let Some(count) = count {
            rest = builder.bind(body, &format!("above_{stem}"), rest.over(count));
        }
    }
    origins
}

/// How many tiles of a mode there are; 32 bits hold the sum on the way because such extents stop at
/// 2^31.
pub fn tiles(builder: &Builder<'_>, mode: ModeId, tile: u32) -> Expr {
    let extent = builder.extent(mode);
    match extent.as_const() {
        Some(fixed) => builder.number(u32::try_from(fixed).unwrap_or(u32::MAX).div_ceil(tile)),
        None if tile == 1 => extent,
        None => {
            let tile = builder.named(&tile_name(builder.names, mode), tile);
            extent.plus(tile.clone().minus(builder.number(1))).over(tile)
        }
    }
}
