//! Device memory: allocations between guard regions, so that a write out of bounds is seen after the launch.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of each guard. One tile's row past the end of a test's buffer lands inside it.
const GUARD_BYTES: usize = 4096;
/// What the driver aligns allocations to.
const ALIGN_BYTES: usize = 256;
/// All ones is a NaN in every float format and a huge index, so that reading a guard spoils the result.
const POISON: u8 = 0xff;

/// Bytes of every live allocation by its address. A `BTreeMap`, so that reports come in address order.
static LIVE: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn live() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    // A launch that panics while it holds the lock leaves the map whole.
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn layout(n_bytes: usize) -> Layout {
    Layout::from_size_align(n_bytes + 2 * GUARD_BYTES, ALIGN_BYTES)
        .expect("a test's buffer is far below the address space")
}

/// Allocates `n_bytes` of poisoned memory between two guards and returns its address.
pub(crate) fn allocate(n_bytes: usize) -> usize {
    // SAFETY: the layout is never empty, because the guards are not.
    let base = unsafe { alloc(layout(n_bytes)) };
    if base.is_null() {
        handle_alloc_error(layout(n_bytes));
    }
    // SAFETY: `base` was just allocated with this many bytes.
    unsafe { base.write_bytes(POISON, n_bytes + 2 * GUARD_BYTES) };
    let address = base.expose_provenance() + GUARD_BYTES;
    live().insert(address, n_bytes);
    address
}

/// Frees what `allocate` returned.
pub(crate) fn free(address: usize) {
    let n_bytes = live().remove(&address);
    if let Some(n_bytes) = n_bytes {
        let base = std::ptr::with_exposed_provenance_mut(address - GUARD_BYTES);
        // SAFETY: the map held the address, so `allocate` made it with this layout and nothing freed it since.
        unsafe { dealloc(base, layout(n_bytes)) };
    }
}

/// Says which guard bytes a launch overwrote, and poisons them again so that only the culprit is blamed.
pub fn check_guards() -> Result<(), String> {
    let mut reports = Vec::new();
    for (&address, &n_bytes) in live().iter() {
        for (name, start) in [("before", address - GUARD_BYTES), ("past", address + n_bytes)] {
            let guard: *mut u8 = std::ptr::with_exposed_provenance_mut(start);
            // SAFETY: both guards belong to a live allocation, the map's lock keeps it alive, and kernels run
            // only under the launch lock that the caller holds.
            let bytes = unsafe { std::slice::from_raw_parts_mut(guard, GUARD_BYTES) };
            if let Some(first) = bytes.iter().position(|&byte| byte != POISON) {
                reports.push(format!(
                    "write {name} a device buffer of {n_bytes} bytes: byte {} from its start",
                    (start + first) as i128 - address as i128
                ));
                bytes.fill(POISON);
            }
        }
    }
    if reports.is_empty() { Ok(()) } else { Err(reports.join("; ")) }
}
