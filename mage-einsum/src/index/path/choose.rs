//! Which factors are contracted in which order: the best of all orders for a few factors, the best
//! next pair for many, left to right where extents are unknown.

use std::cmp::Reverse;

use super::pair::pair;
use super::report::Order;
use super::size::{Modes, Sizes};

/// Up to so many factors every order is looked at: 6 have 945 trees, over 63 sets of factors.
const EXHAUSTIVE_FACTORS: usize = 6;

/// Sizes are compared as signed numbers, which this bound keeps them within.
const LARGEST_SIZE: u128 = 1 << 120;

/// The path of a product of `factors` whose result has the modes `target`.
pub(super) fn choose(
    factors: &[Modes],
    target: &Modes,
    sizes: &Sizes,
) -> (Vec<(usize, usize)>, Order) {
    let are_known = factors.iter().all(|factor| sizes.are_known(factor));
    if factors.len() < 3 {
        ((1..factors.len()).map(|_| (0, 1)).collect(), Order::Only)
    } else if !are_known {
        (left_to_right(factors.len()), Order::LeftToRight)
    } else if factors.len() <= EXHAUSTIVE_FACTORS {
        (exhaustive(factors, target, sizes), Order::Exhaustive)
    } else {
        (greedy(factors, target, sizes), Order::Greedy)
    }
}

/// The result of a step stands last, so the next factor is the first one.
fn left_to_right(n_factors: usize) -> Vec<(usize, usize)> {
    let first = std::iter::once((0, 1));
    first.chain((2..n_factors).rev().map(|last| (0, last - 1))).collect()
}

/// The best way to contract a set of factors.
#[derive(Clone)]
struct Best {
    flops: u128,
    /// Elements of the largest result on the way, the set's own included.
    largest: u128,
    /// The two sets it is made from; none for a single factor.
    halves: Option<(usize, usize)>,
    /// The modes that the result has.
    modes: Modes,
}

/// Builds the best way for every set of factors from those of its parts. A set is a number whose
/// bits are factors, so parts come before the whole.
fn exhaustive(factors: &[Modes], target: &Modes, sizes: &Sizes) -> Vec<(usize, usize)> {
    let n_sets = 1_usize << factors.len();
    let mut best: Vec<Option<Best>> = vec![None; n_sets];
    for set in 1..n_sets {
        best[set] = if set.is_power_of_two() {
            let modes = factors[set.trailing_zeros() as usize].clone();
            Some(Best { flops: 0, largest: 0, halves: None, modes })
        } else {
            best_of_set(set, &best, &needed_outside(set, factors, target), sizes)
        };
    }
    let mut path = Vec::new();
    let mut live: Vec<usize> = (0..factors.len()).map(|factor| 1 << factor).collect();
    emit(n_sets - 1, &best, &mut live, &mut path);
    path
}

/// Modes that a result of the factors in `set` must keep.
fn needed_outside(set: usize, factors: &[Modes], target: &Modes) -> Modes {
    let outside = factors.iter().enumerate().filter(|(factor, _)| set >> factor & 1 == 0);
    outside.flat_map(|(_, modes)| modes).chain(target).copied().collect()
}

/// The fewest operations; among equals the smallest results, then the most left to right.
fn best_of_set(set: usize, best: &[Option<Best>], needed: &Modes, sizes: &Sizes) -> Option<Best> {
    let lowest = set & set.wrapping_neg();
    let mut rights: Vec<usize> =
        (1..set).filter(|right| right & !set == 0 && right & lowest == 0).collect();
    rights.sort_by_key(|right| (right.count_ones(), Reverse(*right)));
    let mut found: Option<Best> = None;
    for right_set in rights {
        let left_set = set & !right_set;
        let (Some(left), Some(right)) = (&best[left_set], &best[right_set]) else { continue };
        let step = pair(&left.modes, &right.modes, needed, sizes);
        let flops = step.flops.saturating_add(left.flops).saturating_add(right.flops);
        let largest = sizes.points(&step.kept).max(left.largest).max(right.largest);
        if found.as_ref().is_none_or(|found| (flops, largest) < (found.flops, found.largest)) {
            let halves = Some((left_set, right_set));
            found = Some(Best { flops, largest, halves, modes: step.kept });
        }
    }
    found
}

/// The tree below `set` as pairs of positions, leaves first.
fn emit(set: usize, best: &[Option<Best>], live: &mut Vec<usize>, path: &mut Vec<(usize, usize)>) {
    let halves = best[set].as_ref().and_then(|best| best.halves);
    let Some((left, right)) = halves else { return };
    emit(left, best, live, path);
    emit(right, best, live, path);
    let place = |half: usize| live.iter().position(|found| *found == half).unwrap_or(0);
    let (left, right) = (place(left), place(right));
    path.push((left.min(right), left.max(right)));
    live.remove(left.max(right));
    live.remove(left.min(right));
    live.push(set);
}

/// Takes the pair next whose result is smallest beside its factors; among equals the one with the
/// fewest operations, then the first (opt_einsum, "The Greedy Path").
fn greedy(factors: &[Modes], target: &Modes, sizes: &Sizes) -> Vec<(usize, usize)> {
    let mut live: Vec<Modes> = factors.to_vec();
    let mut path = Vec::new();
    let size = |modes: &Modes| sizes.points(modes).min(LARGEST_SIZE).cast_signed();
    while live.len() > 1 {
        let positions =
            (0..live.len()).flat_map(|left| (left + 1..live.len()).map(move |r| (left, r)));
        let steps = positions.map(|(left, right)| {
            let others = live.iter().enumerate().filter(|(at, _)| *at != left && *at != right);
            let needed = others.flat_map(|(_, modes)| modes).chain(target).copied().collect();
            let step = pair(&live[left], &live[right], &needed, sizes);
            let growth = size(&step.kept) - size(&live[left]) - size(&live[right]);
            (growth, step.flops, (left, right), step.kept)
        });
        let Some((_, _, (left, right), kept)) =
            steps.min_by_key(|(growth, flops, positions, _)| (*growth, *flops, *positions))
        else {
            break;
        };
        live.remove(right);
        live.remove(left);
        live.push(kept);
        path.push((left, right));
    }
    path
}
