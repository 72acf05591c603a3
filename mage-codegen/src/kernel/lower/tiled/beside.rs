//! Stages the operands of the epilogue that all rows of a tile share: their elements at the tile's
//! columns, once, behind the barrier that the first stage waits for anyway.

use mage_einsum::index::ModeId;

use super::Lowering;
use crate::kernel::lower::builder::{Staged, all, reg};
use crate::kernel::lower::coordinates;
use crate::kernel::lower::point::Point;
use crate::kernel::{Expr, Place, Space, Stmt, Width};
use crate::schedule::Tail;

impl Lowering<'_> {
    /// A thread moves an element, or several where the tile has more columns than threads.
    pub(super) fn stage_beside(&mut self, body: &mut Vec<Stmt>, origins: &[(ModeId, Expr)]) {
        let (tiled, builder) = (self.tiled, &mut self.builder);
        let (mode, tile) = (tiled.col.mode, tiled.col.tile);
        let threads = tiled.threads.block_threads();
        let thread = builder.thread(body);
        let stem = builder.names.mode(mode).to_string();
        for access in &tiled.beside {
            let name = builder.names.tensor(access.tensor).to_string();
            let cells = builder.shared(&format!("{name}_beside"), tile);
            let value = builder.registers(&format!("{name}_staged"), 1);
            let origin = coordinates::of(builder, origins, mode);
            let passes = tile.div_ceil(threads);
            builder.unrolled(body, &format!("{name}_pass"), passes, |builder, body, pass| {
                let cell = thread.clone().plus(pass.times(Expr::u32(threads)));
                let at = origin.clone().plus(cell.clone());
                let at = builder.bind(body, &format!("{name}_{stem}"), at);
                let mut preds = Vec::new();
                if !tile.is_multiple_of(threads) {
                    let tile = Expr::named(&format!("{}_TILE", stem.to_uppercase()), tile);
                    preds.push(cell.clone().less(tile));
                }
                if tiled.col.tail == Tail::Predicated {
                    preds.push(at.clone().less(builder.extent(mode)));
                }
                let mut then = vec![Stmt::Fill { reg: value, value: 0.0 }];
                let from = Point::new(vec![(mode, at)], "at").place(builder, &mut then, access);
                let to = reg(value, Expr::u32(0));
                then.push(Stmt::Load { to: to.clone(), from, width: Width::One, when: None });
                let place = Place { space: Space::Shared(cells), offset: cell };
                let from = vec![to];
                then.push(Stmt::Store { to: place, from, width: Width::One, when: None });
                match all(preds) {
                    None => body.extend(then),
                    Some(when) => body.push(Stmt::If { when, then, otherwise: Vec::new() }),
                }
            });
            builder.stage(Staged { access: access.clone(), cells, mode, origin });
        }
    }
}
