//! One step of a path: two factors become one. A mode that only one of them has and that nothing
//! after them needs is summed either within the product or before it, in a statement of its own.

use super::size::{Modes, Sizes};

/// How two factors are contracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    /// Modes of the left factor that are summed before the product.
    pub(super) left_first: Modes,
    /// The same for the right factor.
    pub(super) right_first: Modes,
    /// Modes of the result.
    pub(super) kept: Modes,
    /// Points of the statements' spaces together.
    points: u128,
    /// Floating-point operations of the statements together.
    pub(super) flops: u128,
}

/// Contracts factors over `left` and `right`, of whose modes those in `needed` must stay.
///
/// What is summed first is what gives the fewest points: a point is one element read, or one
/// multiply-add. Among equals the fewest statements win.
pub(super) fn pair(left: &Modes, right: &Modes, needed: &Modes, sizes: &Sizes) -> Pair {
    let own = |modes: &Modes, other: &Modes| -> Modes {
        modes
            .iter()
            .filter(|mode| !other.contains(mode) && !needed.contains(mode))
            .copied()
            .collect()
    };
    let (left_own, right_own) = (own(left, right), own(right, left));
    let none = Modes::new();
    let ways = [(&none, &none), (&left_own, &none), (&none, &right_own), (&left_own, &right_own)];
    let [within, others @ ..] = ways.map(|(left_first, right_first)| {
        way([left, right], [left_first, right_first], needed, sizes)
    });
    others.into_iter().fold(within, |best, way| if way.points < best.points { way } else { best })
}

fn way(factors: [&Modes; 2], first: [&Modes; 2], needed: &Modes, sizes: &Sizes) -> Pair {
    let mut all = Modes::new();
    let (mut points, mut flops) = (0_u128, 0_u128);
    for (factor, first) in factors.into_iter().zip(first) {
        if !first.is_empty() {
            points = points.saturating_add(sizes.points(factor));
            flops = flops.saturating_add(sizes.points(factor));
        }
        all.extend(factor.difference(first));
    }
    let kept: Modes = all.intersection(needed).copied().collect();
    let product = sizes.points(&all);
    let flops_a_point = if kept.len() < all.len() { 2 } else { 1 };
    let [left_first, right_first] = first.map(Modes::clone);
    Pair {
        left_first,
        right_first,
        kept,
        points: points.saturating_add(product),
        flops: flops.saturating_add(product.saturating_mul(flops_a_point)),
    }
}
