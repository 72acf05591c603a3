//! Where a thread lets the others run: at a barrier of its block, or in a shuffle of its warp, whose words are
//! exchanged here.

use std::panic::Location;

use crate::standin::WARP_LANES;

/// A place in the kernel's source.
pub(crate) type Place = &'static Location<'static>;

/// Why a thread pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It waits for its block.
    Barrier(Place),
    /// It waits for its warp, with a word for the lane across the mask.
    Shuffle { place: Place, word: u32, lane_mask: u32 },
}

/// What each lane is given, where the warp's threads are in a shuffle; nothing where none of them is.
pub(crate) fn exchange(
    reached: &[Option<Pause>],
    at: impl Fn(u64) -> String,
) -> Result<Option<[u32; WARP_LANES]>, String> {
    let shuffle = |pause: &Option<Pause>| matches!(pause, Some(Pause::Shuffle { .. }));
    let Some(first) = reached.iter().position(shuffle) else {
        return Ok(None);
    };
    let says = |lane: usize| format!("{} {}", at(lane as u64), describe(reached[lane]));
    if reached.len() != WARP_LANES {
        let n_lanes = reached.len();
        return Err(format!("partial warp: {}, and its warp has {n_lanes} threads", says(first)));
    }
    let mut words = [0; WARP_LANES];
    for (lane, pause) in reached.iter().enumerate() {
        match (pause, reached[first]) {
            (
                Some(Pause::Shuffle { place, word, lane_mask }),
                Some(Pause::Shuffle { place: same, lane_mask: mask, .. }),
            ) if *place == same && *lane_mask == mask => {
                words[(lane ^ mask as usize) % WARP_LANES] = *word;
            }
            (_, _) => {
                return Err(format!("divergent shuffle: {}, but {}", says(first), says(lane)));
            }
        }
    }
    Ok(Some(words))
}

/// What a thread does, in words.
pub(crate) fn describe(reached: Option<Pause>) -> String {
    match reached {
        Some(Pause::Barrier(place)) => format!("waits at {place}"),
        Some(Pause::Shuffle { place, .. }) => format!("shuffles at {place}"),
        None => "has returned".to_owned(),
    }
}
