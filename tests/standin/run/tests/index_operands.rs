//! Index operands in the source that is emitted: what is read through them, and what their handles
//! and `launch` refuse.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use cuda_core::DeviceBuffer;
use mage_standin_run::Device;
use mage_standin_run::csr::{Extents, Indices, RowPointers, device, launch};

const POINTERS: [u32; 4] = [0, 2, 2, 5];
const SOURCES: [u32; 5] = [1, 3, 0, 3, 3];

/// Elements of an index operand, and what its handle is to find them below, or to end at.
type Given<'a> = (&'a [u32], usize);

fn run(pointers: Given<'_>, sources: Given<'_>) -> Result<Vec<f32>, String> {
    let Device { context, stream } = Device::new().unwrap();
    let module = device::load(&context).unwrap();
    let weights = DeviceBuffer::from_host(&stream, &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let elements: Vec<f32> = (0..8_u8).map(|at| f32::from(at) * f32::from(at)).collect();
    let elements = DeviceBuffer::from_host(&stream, &elements).unwrap();
    let text = |error: mage_standin_run::csr::LaunchError| error.to_string();
    let pointers = RowPointers::new(&stream, pointers.0, pointers.1).map_err(text)?;
    let sources = Indices::new(&stream, sources.0, sources.1).map_err(text)?;
    let mut out = DeviceBuffer::from_host(&stream, &[f32::NAN; 6]).unwrap();
    let extents = Extents { i: 3, f: 2, n: 4, e: 5 };
    launch(&module, &stream, &extents, &weights, &elements, &pointers, &sources, &mut out)
        .map_err(text)?;
    Ok(out.to_host_vec(&stream).unwrap())
}

#[test]
fn sums_over_rows_of_edges() {
    let expected = [76.0, 107.0, 0.0, 0.0, 324.0, 444.0];
    assert_eq!(run((&POINTERS, 5), (&SOURCES, 4)), Ok(expected.to_vec()));
    // Indices below less than the extent are below the extent.
    let low = run((&POINTERS, 5), (&[0; 5], 1)).unwrap();
    assert_eq!(low, [0.0, 3.0, 0.0, 0.0, 0.0, 12.0]);
}

#[test]
fn wrong_indices_are_refused() {
    let rows: [(Given<'_>, Given<'_>, &str); 8] = [
        ((&POINTERS, 5), (&[1, 3, 0, 4, 3], 4), "index 4 at 3 is not below 4"),
        ((&[], 0), (&SOURCES, 4), "row pointers are empty, at least 1"),
        ((&[1, 2, 2, 5], 5), (&SOURCES, 4), "row pointers begin at 1, not at 0"),
        ((&[0, 3, 2, 5], 5), (&SOURCES, 4), "row pointers fall from 3 to 2 at 2"),
        ((&POINTERS, 6), (&SOURCES, 4), "row pointers end at 5, not at 6"),
        ((&[0, 2, 2, 6], 6), (&SOURCES, 4), "index operand `P` ends at 6, but label `e` is 5"),
        (
            (&POINTERS, 5),
            (&SOURCES, 9),
            "index operand `S` has indices below 9, but label `n` is 4",
        ),
        (
            (&[0, 5], 5),
            (&SOURCES, 4),
            "index operand `P` has 2 elements but its extent i = 3 asks for one more",
        ),
    ];
    for (pointers, sources, expected) in rows {
        assert_eq!(run(pointers, sources), Err(expected.to_string()));
    }
}
