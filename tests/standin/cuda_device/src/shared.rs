//! Shared memory: a static of its own per array, poisoned when a block enters it.
//!
//! Blocks run one at a time under the launch lock, so one piece of memory serves them all in turn.

use std::mem::MaybeUninit;

/// Bytes past the array's end that no kernel may touch.
pub(crate) const GUARD_BYTES: usize = 1024;

/// `N` elements that a block's threads share; a kernel declares it as `static mut` and takes its address.
#[repr(C, align(128))]
pub struct SharedArray<T, const N: usize, const ALIGN: usize = 0> {
    elements: [MaybeUninit<T>; N],
    guard: [MaybeUninit<u8>; GUARD_BYTES],
}

impl<T, const N: usize, const ALIGN: usize> SharedArray<T, N, ALIGN> {
    /// An array that nothing has written.
    pub const UNINIT: Self = {
        assert!(ALIGN <= 128 && (ALIGN == 0 || ALIGN.is_power_of_two()));
        Self {
            elements: [const { MaybeUninit::uninit() }; N],
            guard: [const { MaybeUninit::uninit() }; GUARD_BYTES],
        }
    };

    /// Bytes that the array takes of a block's shared memory.
    pub const BYTES: usize = size_of::<[T; N]>();
}
