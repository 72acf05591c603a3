//! Copies that go on beside the kernel: a copy reads its source at once and writes it when it is waited for. Until
//! then its place is poisoned.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::standin::{self, POISON};

/// What one thread has under way: groups, the oldest first, and the copies that no group has yet.
#[derive(Default)]
struct Queue {
    groups: Vec<Vec<Copied>>,
    open: Vec<Copied>,
}

/// Bytes and where they go.
struct Copied {
    to: usize,
    bytes: Vec<u8>,
}

thread_local! {
    /// By the thread's place in its block.
    static QUEUES: RefCell<BTreeMap<standin::Dim, Queue>> = const { RefCell::new(BTreeMap::new()) };
}

/// A new block: nothing is under way.
pub(crate) fn enter() {
    QUEUES.with_borrow_mut(BTreeMap::clear);
}

/// Copies 4 bytes, of which `read` are read and the others are zero.
///
/// # Safety
///
/// `to` is 4 bytes of shared memory, aligned to as many; `from` has the bytes that are read.
pub unsafe fn cp_async_ca_zfill_4(to: *mut u32, from: *const u8, read: u32) {
    // SAFETY: as the caller says.
    unsafe { start::<4>(to, from, read) }
}

/// `cp.async.cg` of 16 bytes, of which `read` are read and the others are zero.
///
/// # Safety
///
/// `to` is 16 bytes of shared memory, aligned to as many; `from` has the bytes that are read.
pub unsafe fn copy_16(to: *mut u32, from: *const u8, read: u32) {
    // SAFETY: as the caller says.
    unsafe { start::<16>(to, from, read) }
}

unsafe fn start<const BYTES: usize>(to: *mut u32, from: *const u8, read: u32) {
    let (address, source) = (to.expose_provenance(), from.addr());
    assert!(address.is_multiple_of(BYTES), "a copy to {address:#x}, not {BYTES}-byte aligned");
    assert!(
        read == 0 || source.is_multiple_of(BYTES),
        "a copy from {source:#x}, not {BYTES}-byte aligned"
    );
    let mut bytes = vec![0; BYTES];
    // SAFETY: the source has these bytes, and both places are apart.
    unsafe { from.copy_to_nonoverlapping(bytes.as_mut_ptr(), (read as usize).min(BYTES)) };
    // SAFETY: the place has so many bytes.
    unsafe { to.cast::<u8>().write_bytes(POISON, BYTES) };
    with_queue(|queue| queue.open.push(Copied { to: address, bytes }));
}

/// `cp.async.commit_group`.
///
/// # Safety
///
/// None is needed; inline PTX is unsafe to write.
pub unsafe fn commit() {
    with_queue(|queue| {
        let group = std::mem::take(&mut queue.open);
        queue.groups.push(group);
    });
}

/// `cp.async.wait_group`.
///
/// # Safety
///
/// None is needed; inline PTX is unsafe to write.
pub unsafe fn wait(pending: usize) {
    with_queue(|queue| {
        let n_done = queue.groups.len().saturating_sub(pending);
        for copied in queue.groups.drain(..n_done).flatten() {
            let to = std::ptr::with_exposed_provenance_mut::<u8>(copied.to);
            // SAFETY: the place is shared memory of this block, as when the copy was started.
            unsafe { to.copy_from_nonoverlapping(copied.bytes.as_ptr(), copied.bytes.len()) };
        }
    });
}

fn with_queue(act: impl FnOnce(&mut Queue)) {
    let thread = standin::current().thread;
    QUEUES.with_borrow_mut(|queues| act(queues.entry(thread).or_default()));
}
