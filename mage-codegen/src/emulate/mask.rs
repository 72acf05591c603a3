//! Which threads of the block run a statement. The full mask is the usual one and has its own
//! path, because loops over all lanes vectorise and loops over a list do not.

use crate::device::WARP_THREADS;

/// Threads of a warp.
pub(super) const WARP_LANES: usize = WARP_THREADS as usize;

/// The running threads; never empty.
#[derive(Debug, Clone)]
pub(super) struct Mask {
    lanes: Vec<usize>,
    full: bool,
}

impl Mask {
    /// All threads of a block.
    pub fn full(n_threads: usize) -> Mask {
        Mask { lanes: (0..n_threads).collect(), full: true }
    }

    /// Those of `self` where `keep` holds; none where it holds nowhere, and `All` where it holds
    /// everywhere, so that no list is made for the usual case.
    pub fn narrow(&self, mut keep: impl FnMut(usize) -> bool) -> Where {
        let lanes: Vec<usize> = self.lanes.iter().copied().filter(|lane| keep(*lane)).collect();
        if lanes.is_empty() {
            Where::Nowhere
        } else if lanes.len() == self.lanes.len() {
            Where::All
        } else {
            Where::Some(Mask { lanes, full: false })
        }
    }

    /// Whether all threads of the block run.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// The first running thread.
    pub fn first(&self) -> usize {
        self.lanes.first().copied().unwrap_or(0)
    }

    /// The running threads in ascending order.
    pub fn lanes(&self) -> &[usize] {
        &self.lanes
    }

    /// The running threads of each warp that has any.
    pub fn warps(&self) -> impl Iterator<Item = &[usize]> {
        self.lanes.chunk_by(|a, b| a / WARP_LANES == b / WARP_LANES)
    }

    /// Does `act` in every running thread, in order, up to the first failure. One loop for both
    /// kinds of mask, so that the compiler inlines `act`, which is large where it can fail.
    #[inline]
    pub fn try_each<E>(&self, mut act: impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        self.lanes.iter().try_for_each(|lane| act(*lane))
    }

    /// Does `act` in every running thread, in order.
    #[inline]
    pub fn each(&self, mut act: impl FnMut(usize)) {
        if self.full {
            (0..self.lanes.len()).for_each(&mut act);
        } else {
            self.lanes.iter().for_each(|lane| act(*lane));
        }
    }
}

/// Where a condition holds, among the threads of a mask.
pub(super) enum Where {
    /// In all of them.
    All,
    /// In none.
    Nowhere,
    /// In these, which are fewer.
    Some(Mask),
}

impl Where {
    /// The threads it holds in, or none.
    pub fn of<'a>(&'a self, mask: &'a Mask) -> Option<&'a Mask> {
        match self {
            Where::All => Some(mask),
            Where::Nowhere => None,
            Where::Some(fewer) => Some(fewer),
        }
    }
}
