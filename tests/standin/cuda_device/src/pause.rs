//! Where a thread lets the others run: at a barrier of its block, or in a call that its warp makes together.

use std::panic::Location;

use crate::standin::WARP_LANES;

/// A place in the kernel's source.
pub(crate) type Place = &'static Location<'static>;

/// Why a thread pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It waits for its block.
    Barrier(Place),
    /// It waits for its warp.
    Warp { place: Place, call: Call },
}

/// What a warp does together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Words cross over a mask of lanes.
    Shuffle { lane_mask: u32 },
    /// Matrices are loaded.
    Matrices,
    /// Fragments are multiplied.
    Mma,
}

/// Whether the warp's threads are in a call that they make together.
pub(crate) fn meets(reached: &[Option<Pause>], at: impl Fn(u64) -> String) -> Result<bool, String> {
    let calls = |pause: &Option<Pause>| matches!(pause, Some(Pause::Warp { .. }));
    let Some(first) = reached.iter().position(calls) else {
        return Ok(false);
    };
    let says = |lane: usize| format!("{} {}", at(lane as u64), describe(reached[lane]));
    if reached.len() != WARP_LANES {
        let n_lanes = reached.len();
        return Err(format!("partial warp: {}, and its warp has {n_lanes} threads", says(first)));
    }
    match reached.iter().position(|pause| *pause != reached[first]) {
        Some(lane) => {
            let what = reached[first].map_or("call", name);
            Err(format!("divergent {what}: {}, but {}", says(first), says(lane)))
        }
        None => Ok(true),
    }
}

fn name(pause: Pause) -> &'static str {
    match pause {
        Pause::Barrier(_) => "barrier",
        Pause::Warp { call: Call::Shuffle { .. }, .. } => "shuffle",
        Pause::Warp { call: Call::Matrices, .. } => "load of matrices",
        Pause::Warp { call: Call::Mma, .. } => "mma",
    }
}

/// What a thread does, in words.
pub(crate) fn describe(reached: Option<Pause>) -> String {
    match reached {
        Some(Pause::Barrier(place)) => format!("waits at {place}"),
        Some(Pause::Warp { place, call: Call::Shuffle { .. } }) => format!("shuffles at {place}"),
        Some(Pause::Warp { place, call: Call::Matrices }) => format!("loads matrices at {place}"),
        Some(Pause::Warp { place, call: Call::Mma }) => format!("multiplies at {place}"),
        None => "has returned".to_owned(),
    }
}
