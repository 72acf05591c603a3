//! Times one product, without a `tile`, at 200 sizes: squares at multiples of 64, beside them, at
//! primes and in between, and oblongs. `bench.py` joins the peer, `sweep.py` draws what came of it.

use cuda_core::CudaContext;

use crate::Error;
use crate::bench::{Work, measure};

/// The kernel whose sizes are swept.
const NAME: &str = "matmul";

/// The largest square.
const MOST: usize = 4480;

/// Few columns, then few rows, then few of both or few terms: rows, terms and columns.
const OBLONGS: &[[usize; 3]] = &[
    [4096, 4096, 4],
    [4096, 4096, 8],
    [4096, 4096, 15],
    [4096, 4096, 16],
    [4096, 4096, 17],
    [4096, 4096, 24],
    [4096, 4096, 31],
    [4096, 4096, 32],
    [4096, 4096, 33],
    [4096, 4096, 48],
    [4096, 4096, 64],
    [4096, 4096, 65],
    [4096, 4096, 96],
    [4096, 4096, 128],
    [4, 4096, 4096],
    [8, 4096, 4096],
    [16, 4096, 4096],
    [17, 4096, 4096],
    [32, 4096, 4096],
    [33, 4096, 4096],
    [64, 4096, 4096],
    [65, 4096, 4096],
    [128, 4096, 4096],
    [64, 65536, 64],
    [256, 16384, 256],
    [8192, 64, 8192],
    [1000, 100, 3000],
    [100, 6000, 3000],
    [65536, 64, 16],
    [20000, 1000, 16],
];

/// Times all; prints one JSON line a size.
pub fn run() -> Result<bool, Error> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    for [i, k, j] in squares().into_iter().map(|n| [n, n, n]).chain(OBLONGS.iter().copied()) {
        // In the order of the module's `Extents`.
        let work = Work { name: NAME, extents: &[i, k, j], degrees: None };
        println!("{}", measure(&work, &context, &stream)?);
    }
    Ok(true)
}

/// 170 squares in ascending order.
fn squares() -> Vec<usize> {
    let mut sizes: Vec<usize> = (64..=MOST).step_by(64).collect();
    // Beside multiples of the tiles.
    let tiles = (128..=2048).step_by(128).chain([2560, 3072, 3584, 4096]);
    sizes.extend(tiles.flat_map(|tile| [tile - 1, tile + 1]));
    sizes.extend((0..44).map(|step| prime_from(100 * step + 75)));
    // Multiples of four in the midst of a tile.
    sizes.extend((0..16).map(|step| 100 + 272 * step));
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The least prime from a number on.
fn prime_from(number: usize) -> usize {
    let is_prime = |number: usize| (2..number).all(|divisor| !number.is_multiple_of(divisor));
    (number..).find(|number| is_prime(*number)).unwrap_or(number)
}
