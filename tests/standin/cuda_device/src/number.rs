//! What instructions of PTX make of numbers (PTX ISA, "Floating-Point Instructions"), for `ptx_asm!`.
//! An approximate one gives the nearest number, or one as far from it as the PTX ISA lets it be.

use std::cell::Cell;

/// To which side approximate instructions err, as far as they may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The result is too small.
    Below,
    /// The result is the nearest number.
    Nearest,
    /// The result is too large.
    Above,
}

/// Ulp that `ex2.approx` may err.
const EXP2_ULPS: i32 = 2;
/// Ulp that `rcp.approx` may err.
const RECIPROCAL_ULPS: i32 = 1;
/// What `rsqrt.approx` may err, relative to its result: `2^-22.9`.
const RSQRT_ERROR: f64 = 1.278e-7;

thread_local! {
    /// Of powers, and of reciprocals.
    static SIDES: Cell<[Side; 2]> = const { Cell::new([Side::Nearest; 2]) };
}

/// Chooses the sides of powers and of reciprocals for the launches that this OS thread makes from now on.
pub fn set_sides(powers: Side, reciprocals: Side) {
    SIDES.set([powers, reciprocals]);
}

/// # Safety
///
/// None is needed here and below; inline PTX is unsafe to write.
pub unsafe fn fma(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

/// # Safety
///
/// See `fma`.
pub unsafe fn fma_saturated(a: f32, b: f32, c: f32) -> f32 {
    let value = a.mul_add(b, c);
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// # Safety
///
/// See `fma`.
pub unsafe fn max(x: f32, y: f32) -> f32 {
    match x == y {
        // The positive one of two zeros.
        true => f32::from_bits(x.to_bits() & y.to_bits()),
        false if x > y || x.is_nan() => x,
        false => y,
    }
}

/// # Safety
///
/// See `fma`.
pub unsafe fn sqrt(x: f32) -> f32 {
    x.sqrt()
}

/// # Safety
///
/// See `fma`.
pub unsafe fn sqrt_f64(x: f64) -> f64 {
    x.sqrt()
}

/// # Safety
///
/// See `fma`.
pub unsafe fn exp2(x: f32) -> f32 {
    let [side, _] = SIDES.get();
    // Of zero it is 1.
    if x == 0.0 { 1.0 } else { flushed(beside(f64::from(flushed(x)).exp2(), side, EXP2_ULPS)) }
}

/// # Safety
///
/// See `fma`.
pub unsafe fn reciprocal(x: f32) -> f32 {
    let [_, side] = SIDES.get();
    flushed(beside(f64::from(flushed(x)).recip(), side, RECIPROCAL_ULPS))
}

/// # Safety
///
/// See `fma`.
pub unsafe fn rsqrt(x: f32) -> f32 {
    let [_, side] = SIDES.get();
    let value = f64::from(x).sqrt().recip();
    (value * (1.0 + f64::from(sign(side)) * RSQRT_ERROR)) as f32
}

fn sign(side: Side) -> i32 {
    match side {
        Side::Below => -1,
        Side::Nearest => 0,
        Side::Above => 1,
    }
}

/// The f32 so many ulp beside the nearest one; zeros, infinities and NaN stay.
fn beside(value: f64, side: Side, ulps: i32) -> f32 {
    let nearest = value as f32;
    let bits = nearest.to_bits().wrapping_add_signed(sign(side) * ulps);
    if nearest.is_normal() { f32::from_bits(bits) } else { nearest }
}

/// `.ftz`: subnormal numbers are zeros.
fn flushed(x: f32) -> f32 {
    if x.is_subnormal() { 0.0_f32.copysign(x) } else { x }
}
