//! A flat position and the coordinates it stands for.

use mage_einsum::index::ModeId;

use super::builder::Builder;
use crate::kernel::{Expr, Stmt};

/// How many positions `modes` have together.
pub fn count(builder: &Builder<'_>, modes: &[ModeId]) -> Expr {
    let one = builder.number(1);
    modes.iter().fold(one, |product, mode| product.times(builder.extent(*mode)))
}

/// Takes a flat position in `modes` apart, the last mode fastest. `what` ends the names.
pub fn take_apart(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    modes: &[ModeId],
    flat: Expr,
    what: &str,
) -> Vec<(ModeId, Expr)> {
    let mut coordinates = Vec::new();
    let mut rest = flat;
    for (position, mode) in modes.iter().enumerate().rev() {
        let stem = builder.names.mode(*mode).to_string();
        let extent = builder.extent(*mode);
        let here = if position == 0 { rest.clone() } else { rest.clone().modulo(extent.clone()) };
        let at = builder.bind(body, &format!("{stem}_{what}"), here);
        coordinates.push((*mode, at));
        if position > 0 {
            rest = builder.bind(body, &format!("above_{stem}"), rest.over(extent));
        }
    }
    coordinates
}

/// The coordinate of a mode, 0 for one that the list lacks.
pub fn of(builder: &Builder<'_>, coordinates: &[(ModeId, Expr)], mode: ModeId) -> Expr {
    let found = coordinates.iter().find(|(id, _)| *id == mode);
    found.map_or_else(|| builder.number(0), |(_, at)| at.clone())
}
