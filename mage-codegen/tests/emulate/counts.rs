//! Counts of one block, against figures worked out by hand.

use mage_codegen::emulate::{Sample, count};

use crate::kernels::{Tiles, copy, matmul};

#[test]
fn a_copy_moves_what_it_asks_for() {
    let aligned = Sample { extents: &[64], byte_alignments: &[16, 4], launch: 0, block: 1 };
    let counts = count(&copy(), &aligned).unwrap();
    assert_eq!((counts.global_load.requests, counts.global_load.sectors), (1, 4));
    assert_eq!(counts.global_load.bytes_asked, counts.global_load.bytes_moved());
    // 128 bytes from a byte that starts no sector touch one sector more.
    assert_eq!(counts.global_store.sectors, 5);
    assert_eq!(counts.flops, 0);
}

#[test]
fn a_matmul_block() {
    let tiles = Tiles { m: 64, n: 64, k: 16 };
    // Extents whose operands no test could hold.
    let sample = Sample {
        extents: &[1 << 20, 32, 1 << 20],
        byte_alignments: &[16, 16, 16],
        launch: 0,
        block: 12345,
    };
    let counts = count(&matmul(tiles), &sample).unwrap();
    assert_eq!(counts.fmas, 64 * 64 * 32);
    assert_eq!(counts.flops, 2 * counts.fmas);
    assert_eq!(counts.barriers, 2 * 2);
    // Both tiles are read once a turn, each element by one thread, in whole sectors.
    assert_eq!(counts.global_load.bytes_asked, 2 * 2 * 64 * 16 * 4);
    assert_eq!(counts.global_load.bytes_moved(), counts.global_load.bytes_asked);
    // A thread stores four elements one at a time, so a sector is asked for four times.
    assert_eq!(counts.global_store.bytes_moved(), 4 * counts.global_store.bytes_asked);
    // The transposing stores put 16 lanes of a warp into one bank.
    assert_eq!(counts.shared_store.conflicts(), 2 * 4 * 8 * 15);
}

#[test]
fn a_block_outside_the_grid_is_refused() {
    let sample = Sample { extents: &[64], byte_alignments: &[16, 16], launch: 0, block: 2 };
    let failure = count(&copy(), &sample).unwrap_err();
    assert_eq!(failure.to_string(), "launch 0 has no block 2");
}
