//! The loops over lanes of index arithmetic. Each computes all results first and keeps one word
//! that tells whether any of them is wrong, so that the loop has no branch; only then is the
//! thread looked for.

use crate::kernel::{BinOp, Ty};

use super::failure::Fault;
use super::index::{View, checked, refusal};
use super::mask::{Mask, Where};

/// `into = left op right` in the running threads.
pub(super) fn binary(
    op: BinOp,
    ty: Ty,
    left: View<'_>,
    right: View<'_>,
    mask: &Mask,
    into: &mut [u64],
) -> Result<(), Box<Fault>> {
    let bad = match (op, ty) {
        // Operands of 32 bits cannot overflow 64: a wrong result is one with a high bit, a
        // difference below zero included.
        (BinOp::Add, Ty::U32) => apply(left, right, mask, into, |a, b| high(a.wrapping_add(b))),
        (BinOp::Sub, Ty::U32) => apply(left, right, mask, into, |a, b| high(a.wrapping_sub(b))),
        (BinOp::Mul, Ty::U32) => apply(left, right, mask, into, |a, b| high(a.wrapping_mul(b))),
        (BinOp::Add, Ty::U64) => apply(left, right, mask, into, |a, b| flag(a.overflowing_add(b))),
        (BinOp::Sub, Ty::U64) => apply(left, right, mask, into, |a, b| flag(a.overflowing_sub(b))),
        (BinOp::Mul, Ty::U64) => apply(left, right, mask, into, |a, b| flag(a.overflowing_mul(b))),
        (BinOp::Add, Ty::I64) => signed(left, right, mask, into, i64::overflowing_add),
        (BinOp::Sub, Ty::I64) => signed(left, right, mask, into, i64::overflowing_sub),
        (BinOp::Mul, Ty::I64) => signed(left, right, mask, into, i64::overflowing_mul),
        // There is no such operation on numbers with a sign: wrong wherever it is reached.
        (BinOp::SaturatingSub | BinOp::Div | BinOp::Rem | BinOp::Min | BinOp::Xor, Ty::I64) => 1,
        (BinOp::Div, Ty::U32 | Ty::U64) => {
            apply(left, right, mask, into, |a, b| a.checked_div(b).map_or((0, 1), |c| (c, 0)))
        }
        (BinOp::Rem, Ty::U32 | Ty::U64) => {
            apply(left, right, mask, into, |a, b| a.checked_rem(b).map_or((0, 1), |c| (c, 0)))
        }
        (BinOp::Min, Ty::U32 | Ty::U64) => apply(left, right, mask, into, |a, b| (a.min(b), 0)),
        (BinOp::SaturatingSub, Ty::U32 | Ty::U64) => {
            apply(left, right, mask, into, |a, b| (a.saturating_sub(b), 0))
        }
        (BinOp::Xor, Ty::U32 | Ty::U64) => apply(left, right, mask, into, |a, b| (a ^ b, 0)),
    };
    if bad == 0 {
        return Ok(());
    }
    mask.try_each(|lane| match checked(op, ty, left.at(lane), right.at(lane)) {
        Some(_) => Ok(()),
        None => Err(Fault::at(lane, refusal(op, ty, left.at(lane), right.at(lane)))),
    })
}

#[inline]
fn high(value: u64) -> (u64, u64) {
    (value, value >> 32)
}

#[inline]
fn flag((value, overflowed): (u64, bool)) -> (u64, u64) {
    (value, u64::from(overflowed))
}

/// `into = f(left, right)` on numbers with a sign, kept in the same 64 bits.
#[inline]
fn signed(
    left: View<'_>,
    right: View<'_>,
    mask: &Mask,
    into: &mut [u64],
    f: impl Fn(i64, i64) -> (i64, bool),
) -> u64 {
    apply(left, right, mask, into, |a, b| {
        let (value, overflowed) = f(a.cast_signed(), b.cast_signed());
        (value.cast_unsigned(), u64::from(overflowed))
    })
}

/// Fills `into` with the first half of `f` and answers with the disjunction of the second halves.
#[inline]
fn apply(
    left: View<'_>,
    right: View<'_>,
    mask: &Mask,
    into: &mut [u64],
    f: impl Fn(u64, u64) -> (u64, u64),
) -> u64 {
    let mut bad = 0;
    let mut put = |into: &mut u64, (value, wrong): (u64, u64)| {
        *into = value;
        bad |= wrong;
    };
    match (left, right) {
        (View::Lanes(left), View::Lanes(right)) if mask.is_full() => {
            for ((into, a), b) in into.iter_mut().zip(left).zip(right) {
                put(into, f(*a, *b));
            }
        }
        (View::Lanes(left), View::Uniform(b)) if mask.is_full() => {
            for (into, a) in into.iter_mut().zip(left) {
                put(into, f(*a, b));
            }
        }
        (View::Uniform(a), View::Lanes(right)) if mask.is_full() => {
            for (into, b) in into.iter_mut().zip(right) {
                put(into, f(a, *b));
            }
        }
        (View::Uniform(_) | View::Lanes(_), View::Uniform(_) | View::Lanes(_)) => {
            mask.each(|lane| put(&mut into[lane], f(left.at(lane), right.at(lane))));
        }
    }
    bad
}

/// Where among the running threads `left` is below `right`.
pub(super) fn less(left: View<'_>, right: View<'_>, mask: &Mask) -> Where {
    if let (View::Uniform(left), View::Uniform(right)) = (left, right) {
        return if left < right { Where::All } else { Where::Nowhere };
    }
    // Counting first keeps the usual cases, all and none, free of a list.
    let mut n_held = 0;
    mask.each(|lane| n_held += usize::from(left.at(lane) < right.at(lane)));
    match n_held {
        0 => Where::Nowhere,
        held if held == mask.lanes().len() => Where::All,
        _ => mask.narrow(|lane| left.at(lane) < right.at(lane)),
    }
}
