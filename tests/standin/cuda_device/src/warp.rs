//! What the lanes of a warp exchange. A warp is 32 consecutive threads of a block.

use std::panic::Location;

use crate::pause::{Call, Place};
use crate::standin;

/// `value` of the lane whose number differs in the bits of `lane_mask`.
///
/// Panics in the end unless all 32 lanes come here: on a GPU the result would be undefined.
#[track_caller]
pub fn shuffle_xor_f32(value: f32, lane_mask: u32) -> f32 {
    f32::from_bits(shuffle(Location::caller(), value.to_bits(), lane_mask))
}

/// The same for an f64, in two halves as the hardware does it.
///
/// Panics in the end unless all 32 lanes come here.
#[track_caller]
pub fn shuffle_xor_f64(value: f64, lane_mask: u32) -> f64 {
    let (bits, place) = (value.to_bits(), Location::caller());
    let shuffle = |half: u64| u64::from(shuffle(place, half as u32, lane_mask));
    let (low, high) = (shuffle(bits), shuffle(bits >> 32));
    f64::from_bits(high << 32 | low)
}

fn shuffle(place: Place, word: u32, lane_mask: u32) -> u32 {
    standin::together(place, Call::Shuffle { lane_mask }, &[word], |lane, words| {
        words[(lane ^ lane_mask as usize) % standin::WARP_LANES][0]
    })
}
