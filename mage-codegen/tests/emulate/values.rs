//! Correct kernels give the right values.

use crate::build::run_aligned;
use crate::kernels::{Tiles, copy, matmul, transpose};

/// Small integers, so that sums are exact in any order.
fn numbers(len: usize) -> Vec<f64> {
    (0..len).map(|position| (position * 7 % 11) as f64 - 5.0).collect()
}

#[test]
fn copies_a_tail() {
    for extent in [1, 31, 32, 33, 100] {
        let input = numbers(extent);
        let run =
            run_aligned(&copy(), &[extent as u64], std::slice::from_ref(&input), extent).unwrap();
        assert_eq!(run.output, input);
        assert_eq!(run.launches[0].blocks, extent.div_ceil(32) as u64);
    }
}

#[test]
fn transposes_through_shared_memory() {
    let input = numbers(64);
    let run = run_aligned(&transpose(), &[8, 8], std::slice::from_ref(&input), 64).unwrap();
    for (position, value) in run.output.iter().enumerate() {
        assert_eq!(*value, input[position % 8 * 8 + position / 8]);
    }
}

#[test]
fn multiplies_matrices() {
    let small = Tiles { m: 16, n: 8, k: 4 };
    let large = Tiles { m: 64, n: 64, k: 16 };
    for (tiles, [i, k, j]) in [
        (small, [16, 4, 8]),
        (small, [17, 5, 9]),
        (small, [1, 1, 1]),
        (small, [33, 0, 7]),
        (large, [65, 63, 66]),
        (large, [128, 128, 128]),
    ] {
        let (a, b) = (numbers(i * k), numbers(k * j));
        let extents = [i as u64, k as u64, j as u64];
        let run = run_aligned(&matmul(tiles), &extents, &[a.clone(), b.clone()], i * j).unwrap();
        for row in 0..i {
            for col in 0..j {
                let expected: f64 = (0..k).map(|at| a[row * k + at] * b[at * j + col]).sum();
                assert_eq!(run.output[row * j + col], expected, "{row} {col}");
            }
        }
    }
}
