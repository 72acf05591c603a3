//! Tensor cores: matrices from shared memory, and products of fragments.
//!
//! Which element is in which lane is told in the PTX ISA, "Matrix Fragments for mma.m16n8k16" and "mma.m16n8k8",
//! and "ldmatrix"; it is spelled out here once more and not taken from Mage, whose kernels this is to prove.

use std::panic::Location;
use std::ptr;

use half::{bf16, f16};

use crate::pause::{Call, Place};
use crate::standin;

/// Four matrices of eight rows of 16 bytes; lane `l` gives the address of row `l % 8` of matrix `l / 8`.
///
/// Panics in the end unless all 32 lanes come here.
///
/// # Safety
///
/// Each address is that of 16 bytes of shared memory, aligned to as many.
#[track_caller]
pub unsafe fn ldmatrix_x4(row: *const u32) -> [u32; 4] {
    matrices(Location::caller(), row, |lane, matrix, rows| {
        let word = rows(matrix * 8 + lane / 4) + lane % 4 * 4;
        // SAFETY: the caller's rows have 16 bytes.
        unsafe { *ptr::with_exposed_provenance::<u32>(word) }
    })
}

/// The same with rows and columns of each matrix exchanged, which holds 8x8 elements of two bytes.
///
/// Panics in the end unless all 32 lanes come here.
///
/// # Safety
///
/// Each address is that of 16 bytes of shared memory, aligned to as many.
#[track_caller]
pub unsafe fn ldmatrix_x4_trans(row: *const u32) -> [u32; 4] {
    matrices(Location::caller(), row, |lane, matrix, rows| {
        let half = |elem: usize| {
            let at = rows(matrix * 8 + lane % 4 * 2 + elem) + lane / 4 * 2;
            // SAFETY: the caller's rows have 16 bytes.
            u32::from(unsafe { *ptr::with_exposed_provenance::<u16>(at) })
        };
        half(1) << 16 | half(0)
    })
}

fn matrices(
    place: Place,
    row: *const u32,
    word: impl Fn(usize, usize, &dyn Fn(usize) -> usize) -> u32,
) -> [u32; 4] {
    let address = row.expose_provenance();
    assert!(address.is_multiple_of(16), "ldmatrix from {address:#x}, which is not 16-byte aligned");
    let halves = [address as u32, (address >> 32) as u32];
    standin::together(place, Call::Matrices, &halves, |lane, words| {
        let rows = |of: usize| words[of][0] as usize | (words[of][1] as usize) << 32;
        [0, 1, 2, 3].map(|matrix| word(lane, matrix, &rows))
    })
}

/// `sums` and the product of a 16x16 and a 16x8 matrix of bf16.
///
/// Panics in the end unless all 32 lanes come here.
///
/// # Safety
///
/// None is needed here; a GPU wants the whole warp.
#[must_use]
#[track_caller]
pub unsafe fn mma_m16n8k16_f32_bf16(sums: [f32; 4], a: [u32; 4], b: [u32; 2]) -> [f32; 4] {
    mma_of_halves(Location::caller(), sums, a, b, |bits| bf16::from_bits(bits).to_f64())
}

/// The same of f16.
///
/// Panics in the end unless all 32 lanes come here.
///
/// # Safety
///
/// None is needed here; a GPU wants the whole warp.
#[must_use]
#[track_caller]
pub unsafe fn mma_m16n8k16_f32_f16(sums: [f32; 4], a: [u32; 4], b: [u32; 2]) -> [f32; 4] {
    mma_of_halves(Location::caller(), sums, a, b, |bits| f16::from_bits(bits).to_f64())
}

fn mma_of_halves(
    place: Place,
    sums: [f32; 4],
    a: [u32; 4],
    b: [u32; 2],
    value: impl Fn(u16) -> f64,
) -> [f32; 4] {
    let half = |word: u32, at: usize| value((word >> (at * 16)) as u16);
    product(place, sums, a, b, |i, j, words| {
        let terms = (0..16).map(|k| {
            let (lane, upper) = (k % 8 / 2, k / 8);
            let a = half(words[i % 8 * 4 + lane][i / 8 + 2 * upper], k % 2);
            a * half(words[j * 4 + lane][4 + upper], k % 2)
        });
        terms.collect()
    })
}

/// `sums` and the product of a 16x8 and an 8x8 matrix of TF32; a number with more bits is a fault of the kernel,
/// which a GPU would cut off.
///
/// Panics in the end unless all 32 lanes come here.
///
/// # Safety
///
/// None is needed here; a GPU wants the whole warp.
#[must_use]
#[track_caller]
pub unsafe fn mma_m16n8k8_f32_tf32(sums: [f32; 4], a: [u32; 4], b: [u32; 2]) -> [f32; 4] {
    let value = |bits: u32| {
        assert!(bits & 0x1fff == 0 || f32::from_bits(bits).is_nan(), "{bits:#x} is no TF32");
        f64::from(f32::from_bits(bits))
    };
    product(Location::caller(), sums, a, b, |i, j, words| {
        let terms = (0..8).map(|k| {
            let (lane, upper) = (k % 4, k / 4);
            value(words[i % 8 * 4 + lane][i / 8 + 2 * upper])
                * value(words[j * 4 + lane][4 + upper])
        });
        terms.collect()
    })
}

/// Each of this lane's four sums with the products that belong to it, rounded once.
fn product(
    place: Place,
    sums: [f32; 4],
    [a0, a1, a2, a3]: [u32; 4],
    [b0, b1]: [u32; 2],
    products: impl Fn(usize, usize, &standin::Words) -> Vec<f64>,
) -> [f32; 4] {
    standin::together(place, Call::Mma, &[a0, a1, a2, a3, b0, b1], |lane, words| {
        [0, 1, 2, 3].map(|at: usize| {
            let (i, j) = (lane / 4 + at / 2 * 8, lane % 4 * 2 + at % 2);
            let before = f64::from(sums[at]);
            products(i, j, words).into_iter().fold(before, |sum, product| sum + product) as f32
        })
    })
}
