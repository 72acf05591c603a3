//! What a block asks of the memories, counted from its accesses. A warp is 32 consecutive threads,
//! and an access of a warp is one request.
//!
//! Global memory moves whole sectors of 32 bytes (CUDA C++ Best Practices Guide, "Coalesced Access
//! to Global Memory"), so a request costs the distinct sectors it touches.
//!
//! Shared memory has 32 banks of one 4-byte word a cycle (CUDA C++ Programming Guide, "Compute
//! Capability 5.x: Shared Memory"): lanes that ask one bank for different words wait for each
//! other, lanes that ask for one word share it. At most 128 bytes a cycle come back, so a
//! four-byte request is one phase and a sixteen-byte request one phase a quarter warp, eight lanes.
//! A sixteen-byte load takes a phase a half warp where all lanes `n` and `n ^ 1` ask for one
//! address, or all lanes `n` and `n ^ 2` (NVIDIA developer forum, thread 77228, "Unexpected shared
//! memory bank conflict", on capability 7.x). A phase costs as many wavefronts as the busiest bank
//! has distinct words; ideally one, and what is above that is bank conflicts.

use super::index::View;
use super::mask::{Mask, WARP_LANES};
use super::program::Operation;
use crate::device::{BANKS, SECTOR_BYTES};
use crate::fragment::Fragment;

/// Requests and costs of one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Loads from global memory.
    pub global_load: GlobalCounts,
    /// Stores to global memory.
    pub global_store: GlobalCounts,
    /// Loads from shared memory.
    pub shared_load: SharedCounts,
    /// Stores to shared memory.
    pub shared_store: SharedCounts,
    /// Fused multiply-adds, one a thread.
    pub fmas: u64,
    /// Products of fragments by the tensor cores, one a warp.
    pub mmas: u64,
    /// Floating-point operations, one a thread: two for a fused multiply-add, one for any other
    /// and for a function, whatever it takes.
    pub flops: u64,
    /// Shuffles, one a warp.
    pub shuffles: u64,
    /// Barriers that the block reached.
    pub barriers: u64,
}

/// Accesses to global memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GlobalCounts {
    /// Accesses of warps with at least one running thread.
    pub requests: u64,
    /// Distinct sectors of 32 bytes, summed over requests.
    pub sectors: u64,
    /// Bytes that the running threads asked for, summed over requests.
    pub bytes_asked: u64,
}

/// Accesses to shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SharedCounts {
    /// Accesses of warps with at least one running thread.
    pub requests: u64,
    /// Wavefronts by the rule above.
    pub wavefronts: u64,
    /// Wavefronts if no bank had to serve two words in one phase.
    pub ideal_wavefronts: u64,
}

impl GlobalCounts {
    /// Bytes moved: whole sectors.
    pub fn bytes_moved(&self) -> u64 {
        self.sectors * u64::from(SECTOR_BYTES)
    }

    /// Counts an access of the block to a buffer that starts at `base_byte`.
    pub(super) fn access(
        &mut self,
        offsets: View<'_>,
        width: usize,
        (base_byte, elem_bytes): (u64, u64),
        mask: &Mask,
    ) {
        let access_bytes = width as u64 * elem_bytes;
        let sector = u64::from(SECTOR_BYTES);
        for warp in mask.warps() {
            let mut sectors: Vec<u64> = warp
                .iter()
                .flat_map(|lane| {
                    let first = base_byte + offsets.at(*lane) * elem_bytes;
                    let last = first + access_bytes - 1;
                    first / sector..=last / sector
                })
                .collect();
            self.requests += 1;
            self.sectors += distinct(&mut sectors);
            self.bytes_asked += warp.len() as u64 * access_bytes;
        }
    }
}

impl SharedCounts {
    /// Wavefronts above the ideal.
    pub fn conflicts(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal_wavefronts)
    }

    /// Counts a load of the block: elements an access, and bytes an element.
    pub(super) fn load(&mut self, offsets: View<'_>, size: (usize, u64), mask: &Mask) {
        for warp in mask.warps() {
            let paired = |distance: usize| {
                warp.iter().all(|lane| {
                    let partner = lane ^ distance;
                    warp.binary_search(&partner).is_err()
                        || offsets.at(*lane) == offsets.at(partner)
                })
            };
            let words = words(size);
            let joined = if words > 1 && (paired(1) || paired(2)) { 2 } else { 1 };
            self.request(warp, offsets, size, joined * WARP_LANES / words);
        }
    }

    /// Counts a store of the block.
    pub(super) fn store(&mut self, offsets: View<'_>, size: (usize, u64), mask: &Mask) {
        for warp in mask.warps() {
            self.request(warp, offsets, size, WARP_LANES / words(size));
        }
    }

    fn request(
        &mut self,
        warp: &[usize],
        offsets: View<'_>,
        size: (usize, u64),
        phase_lanes: usize,
    ) {
        self.requests += 1;
        for phase in warp.chunk_by(|a, b| a / phase_lanes == b / phase_lanes) {
            self.ideal_wavefronts += 1;
            self.wavefronts += wavefronts(phase, offsets, size);
        }
    }
}

impl Counts {
    /// Counts a product of fragments in so many warps.
    pub(super) fn mma(&mut self, n_warps: usize, fragment: Fragment) {
        let products = Fragment::ROWS * Fragment::COLS * fragment.depth();
        self.mmas += n_warps as u64;
        self.flops += 2 * (n_warps * products) as u64;
    }

    /// Counts an operation in `n_lanes` threads.
    pub(super) fn compute(&mut self, operation: Operation, n_lanes: usize) {
        let n_lanes = n_lanes as u64;
        match operation {
            Operation::Copy | Operation::Tf32 => {}
            Operation::Add
            | Operation::Sub
            | Operation::Mul
            | Operation::Div
            | Operation::Max
            | Operation::Min
            | Operation::Call(_) => self.flops += n_lanes,
            Operation::Fma => {
                self.fmas += n_lanes;
                self.flops += 2 * n_lanes;
            }
        }
    }
}

/// 4-byte words of an access.
fn words((width, elem_bytes): (usize, u64)) -> usize {
    (width as u64 * elem_bytes).div_ceil(4) as usize
}

/// The most distinct words that one bank has to serve.
fn wavefronts(lanes: &[usize], offsets: View<'_>, (width, elem_bytes): (usize, u64)) -> u64 {
    let words = |lane: &usize| {
        let first = offsets.at(*lane) * elem_bytes;
        first / 4..(first + width as u64 * elem_bytes).div_ceil(4)
    };
    let mut words: Vec<u64> = lanes.iter().flat_map(words).collect();
    distinct(&mut words);
    let mut per_bank = [0; BANKS as usize];
    for word in words {
        per_bank[(word % u64::from(BANKS)) as usize] += 1;
    }
    per_bank.into_iter().max().unwrap_or(0)
}

fn distinct(values: &mut Vec<u64>) -> u64 {
    values.sort_unstable();
    values.dedup();
    values.len() as u64
}

#[cfg(test)]
mod tests {
    use super::{GlobalCounts, Mask, SharedCounts, View};

    fn shared(width: usize, offset: impl Fn(u64) -> u64) -> (u64, u64) {
        let offsets: Vec<u64> = (0..32).map(offset).collect();
        let mut counts = SharedCounts::default();
        counts.load(View::Lanes(&offsets), (width, 4), &Mask::full(32));
        (counts.wavefronts, counts.ideal_wavefronts)
    }

    #[test]
    fn shared_wavefronts() {
        assert_eq!(shared(1, |lane| lane), (1, 1));
        assert_eq!(shared(1, |_| 7), (1, 1));
        assert_eq!(shared(1, |lane| lane * 2), (2, 1));
        assert_eq!(shared(1, |lane| lane * 32), (32, 1));
        assert_eq!(shared(1, |lane| lane * 33), (1, 1));
        assert_eq!(shared(4, |lane| lane * 4), (4, 4));
        assert_eq!(shared(4, |lane| lane * 8), (8, 4));
        assert_eq!(shared(4, |lane| lane / 2 * 4), (2, 2));
        assert_eq!(shared(4, |lane| lane / 4 * 32), (8, 2));
        assert_eq!(shared(4, |lane| lane / 8 * 32), (4, 2));
        assert_eq!(shared(4, |_| 0), (2, 2));
    }

    #[test]
    fn global_sectors() {
        let sectors = |width, base_byte, offset: fn(u64) -> u64| {
            let offsets: Vec<u64> = (0..32).map(offset).collect();
            let mut counts = GlobalCounts::default();
            counts.access(View::Lanes(&offsets), width, (base_byte, 4), &Mask::full(32));
            (counts.sectors, counts.bytes_asked)
        };
        assert_eq!(sectors(1, 0, |lane| lane), (4, 128));
        assert_eq!(sectors(1, 4, |lane| lane), (5, 128));
        assert_eq!(sectors(1, 0, |lane| lane * 8), (32, 128));
        assert_eq!(sectors(4, 0, |lane| lane * 4), (16, 512));
        assert_eq!(sectors(1, 0, |_| 3), (1, 128));
    }
}
