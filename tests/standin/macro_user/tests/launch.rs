//! The macro's modules launch on the stand-in, and give what their own oracle and emulator give.

#![cfg(feature = "cuda-oxide")]

use std::sync::Arc;

use cuda_core::{CudaContext, CudaStream, DeviceBuffer};
use mage::fill::{Fill, fill};
use mage::ndarray::{ArrayViewD, Axis, Slice};
use mage::tolerance;
use mage_standin_macro_user::{capitals, centered, chain, fixed, matmul, strided, triangle};

fn device() -> (Arc<CudaContext>, Arc<CudaStream>) {
    let context = CudaContext::new(0).unwrap();
    let stream = context.default_stream();
    (context, stream)
}

fn view<'a>(shape: &[usize], data: &'a [f32]) -> ArrayViewD<'a, f32> {
    ArrayViewD::from_shape(shape, data).unwrap()
}

/// Calls `launch`, `emulate` and `reference` of one module on normal numbers.
macro_rules! agree {
    ($module:ident, ($($extents:expr)?), $a:expr, $b:expr) => {
        let (context, stream) = device();
        let (a_shape, b_shape): (&[usize], &[usize]) = (&$a, &$b);
        let a = fill(Fill::Normal, 0, a_shape.iter().product());
        let b = fill(Fill::Normal, 1, b_shape.iter().product());
        let reference = $module::reference(view(a_shape, &a), view(b_shape, &b)).unwrap();

        let emulated = $module::emulate($(&$extents,)? &a, &b).unwrap();
        assert!(tolerance::compare(&emulated, &reference).passes());

        let module = $module::device::load(&context).unwrap();
        let poison = vec![f32::NAN; reference.values.len()];
        let a = DeviceBuffer::from_host(&stream, &a).unwrap();
        let b = DeviceBuffer::from_host(&stream, &b).unwrap();
        let mut out = DeviceBuffer::from_host(&stream, &poison).unwrap();
        $module::launch(&module, &stream, $(&$extents,)? &a, &b, &mut out).unwrap();
        stream.synchronize().unwrap();
        let launched = out.to_host_vec(&stream).unwrap();
        assert!(tolerance::compare(&launched, &reference).passes());
    };
}

#[test]
fn modules_agree_with_their_oracle() {
    agree!(matmul, (matmul::Extents { i: 33, k: 18, j: 35 }), [33, 18], [18, 35]);
    agree!(capitals, (capitals::Extents { i: 17, I: 9, j: 18 }), [17, 9], [9, 18]);
    agree!(triangle, (triangle::Extents { i: 17, k: 9, c: 5, j: 33 }), [17, 9, 5], [33, 9, 5]);
    agree!(fixed, (), [64, 48], [48, 32]);
}

#[test]
fn a_sequence_takes_the_workspace_it_asks_for() {
    let (context, stream) = device();
    let extents = chain::Extents { i: 17, j: 9, k: 11, l: 18 };
    let shapes = [[17, 9], [9, 11], [11, 18]];
    let operands: Vec<Vec<f32>> =
        (0..).zip(shapes).map(|(seed, [rows, cols])| fill(Fill::Hash, seed, rows * cols)).collect();
    let [a, b, c] = [0, 1, 2].map(|position| view(&shapes[position], &operands[position]));
    let reference =
        chain::reference(a, b, c).unwrap().rounded_to::<f32>().into_raw_vec_and_offset().0;
    let emulated = chain::emulate(&extents, &operands[0], &operands[1], &operands[2]).unwrap();
    assert_eq!(emulated, reference);

    let need = chain::workspace_elems(&extents).unwrap();
    assert_eq!(need, 188);
    let module = chain::device::load(&context).unwrap();
    let upload = |data: &[f32]| DeviceBuffer::from_host(&stream, data).unwrap();
    let [a, b, c] = [0, 1, 2].map(|position| upload(&operands[position]));
    let mut workspace = upload(&vec![f32::NAN; need]);
    let mut out = upload(&vec![f32::NAN; reference.len()]);
    chain::launch(&module, &stream, &extents, &a, &b, &c, &mut workspace, &mut out).unwrap();
    assert_eq!(out.to_host_vec(&stream).unwrap(), reference);
}

/// The same buffer as both operands, whole and by every other column, backwards (cases.md, H10).
/// Outputs come after the operands, in the order in which they are named.
#[test]
fn several_outputs_are_launched_into_their_buffers() {
    let (context, stream) = device();
    let extents = centered::Extents { i: 2, j: 2 };
    let x = [1.0, 3.0, -4.0, 4.0];
    let right = (vec![-1.0, 1.0, -4.0, 4.0], vec![2.0, 0.0]);
    assert_eq!(centered::emulate(&extents, &x), Ok(right.clone()));

    let module = centered::device::load(&context).unwrap();
    let x = DeviceBuffer::from_host(&stream, &x).unwrap();
    let mut y = DeviceBuffer::from_host(&stream, &[f32::NAN; 4]).unwrap();
    let mut m = DeviceBuffer::from_host(&stream, &[f32::NAN; 2]).unwrap();
    centered::launch(&module, &stream, &extents, &x, &mut y, &mut m).unwrap();
    stream.synchronize().unwrap();
    let launched = (y.to_host_vec(&stream).unwrap(), m.to_host_vec(&stream).unwrap());
    assert_eq!(launched, right);

    let refusal = centered::launch(&module, &stream, &extents, &x, &mut m, &mut y).unwrap_err();
    assert!(refusal.to_string().contains("output `Y` has 2 elements"), "{refusal}");
}

#[test]
fn views_share_a_buffer() {
    let (context, stream) = device();
    let data = fill(Fill::Hash, 0, 18 * 20);
    let module = strided::device::load(&context).unwrap();
    let buffer = DeviceBuffer::from_host(&stream, &data).unwrap();
    let launched = |extents: &strided::Extents, a, b| {
        let poison = vec![f32::NAN; extents.i * extents.k];
        let mut out = DeviceBuffer::from_host(&stream, &poison).unwrap();
        strided::launch(&module, &stream, extents, a, b, &mut out).unwrap();
        out.to_host_vec(&stream).unwrap()
    };
    let values = |reference: mage::oracle::Evaluation| {
        reference.rounded_to::<f32>().into_raw_vec_and_offset().0
    };

    let whole = strided::View::row_major(&buffer, [18, 20]);
    assert_eq!((whole.first, whole.strides), (0, [20, 1]));
    let array = view(&[18, 20], &data);
    let reference = strided::reference(array.clone(), array.clone()).unwrap();
    let extents = strided::Extents { i: 18, j: 20, k: 18 };
    assert_eq!(launched(&extents, whole, whole), values(reference));

    let backwards = strided::View { buffer: &buffer, first: 19, strides: [20, -2] };
    let columns = array.slice_axis(Axis(1), Slice::new(0, None, -2));
    let rows = strided::View { first: 340, strides: [-20, 2], ..whole };
    let mut upended = array.slice_axis(Axis(1), Slice::new(0, None, 2));
    upended.invert_axis(Axis(0));
    let reference = strided::reference(columns, upended).unwrap();
    let extents = strided::Extents { i: 18, j: 10, k: 18 };
    assert_eq!(launched(&extents, backwards, rows), values(reference));
}

#[test]
fn a_view_out_of_its_buffer_is_refused() {
    let (context, stream) = device();
    let module = strided::device::load(&context).unwrap();
    let buffer = DeviceBuffer::from_host(&stream, &[1.0; 6]).unwrap();
    let mut out = DeviceBuffer::from_host(&stream, &[0.0; 4]).unwrap();
    let extents = strided::Extents { i: 2, j: 3, k: 2 };
    let right = strided::View::row_major(&buffer, [2, 3]);
    let mut refusal = |first: usize, strides: [isize; 2]| {
        let wrong = strided::View { first, strides, ..right };
        strided::launch(&module, &stream, &extents, right, wrong, &mut out).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(2, [-3, 1]),
        "operand `B` reaches elements -1 to 4 but its buffer has 6: the view begins at 2 and has \
         stride -3 along `k` = 2, stride 1 along `j` = 3"
    );
    assert!(refusal(1, [3, 1]).contains("reaches elements 1 to 6 but its buffer has 6"));
    assert!(refusal(usize::MAX, [isize::MAX, isize::MIN]).contains("but its buffer has 6"));
}

#[test]
fn a_refusal_is_an_error_that_names_the_operand() {
    let (context, stream) = device();
    let module = matmul::device::load(&context).unwrap();
    let a = DeviceBuffer::from_host(&stream, &[1.0; 5]).unwrap();
    let b = DeviceBuffer::from_host(&stream, &[1.0; 6]).unwrap();
    let mut out = DeviceBuffer::from_host(&stream, &[0.0; 4]).unwrap();
    let extents = matmul::Extents { i: 2, k: 3, j: 2 };
    let refusal = matmul::launch(&module, &stream, &extents, &a, &b, &mut out);
    let refusal: Box<dyn std::error::Error> = Box::new(refusal.unwrap_err());
    assert!(refusal.to_string().contains("`A` has 5 elements"), "{refusal}");
}

/// Launches `matmul` into a buffer of NaN; returns the refusal or the output, and what the operand
/// holds afterwards.
fn launched(
    extents: &matmul::Extents,
    a: &[f32],
    b: &[f32],
    n_out: usize,
) -> (Result<Vec<f32>, String>, Vec<f32>) {
    let (context, stream) = device();
    let module = matmul::device::load(&context).unwrap();
    let [a, b] = [a, b].map(|data| DeviceBuffer::from_host(&stream, data).unwrap());
    let mut out = DeviceBuffer::from_host(&stream, &vec![f32::NAN; n_out]).unwrap();
    let outcome = matmul::launch(&module, &stream, extents, &a, &b, &mut out);
    let read = |buffer: &DeviceBuffer<f32>| buffer.to_host_vec(&stream).unwrap();
    (outcome.map(|()| read(&out)).map_err(|refusal| refusal.to_string()), read(&a))
}

/// An empty sum writes zeros over what was there, an empty output launches nothing, and the next
/// launch works (cases E1 and E2).
#[test]
fn zero_extents() {
    let (zeros, _) = launched(&matmul::Extents { i: 2, k: 0, j: 3 }, &[], &[], 6);
    let zeros = zeros.unwrap();
    assert_eq!(zeros, [0.0; 6]);
    assert!(zeros.iter().all(|zero| zero.is_sign_positive()));
    for (extents, b) in [
        (matmul::Extents { i: 0, k: 3, j: 2 }, vec![1.0; 6]),
        (matmul::Extents { i: 0, k: 0, j: 0 }, Vec::new()),
    ] {
        assert_eq!(launched(&extents, &[], &b, 0).0, Ok(Vec::new()));
        let (next, operand) =
            launched(&matmul::Extents { i: 1, k: 2, j: 1 }, &[3.0, 4.0], &[5.0, 6.0], 1);
        assert_eq!(next, Ok(vec![39.0]));
        assert_eq!(operand, [3.0, 4.0]);
    }
}

/// A refusal comes before anything is written, and the context is usable after it (case F8).
#[test]
fn a_refusal_writes_nothing() {
    let (context, stream) = device();
    let module = matmul::device::load(&context).unwrap();
    let upload = |data: &[f32]| DeviceBuffer::from_host(&stream, data).unwrap();
    let (a, b, short) = (upload(&[3.0, 4.0]), upload(&[5.0, 6.0]), upload(&[5.0]));
    let mut out = upload(&[-1.0]);
    let extents = matmul::Extents { i: 1, k: 2, j: 1 };
    matmul::launch(&module, &stream, &extents, &a, &short, &mut out).unwrap_err();
    assert_eq!(out.to_host_vec(&stream).unwrap(), [-1.0]);
    matmul::launch(&module, &stream, &extents, &a, &b, &mut out).unwrap();
    assert_eq!(out.to_host_vec(&stream).unwrap(), [39.0]);
}

/// The same launch gives the same bits each time (case J11).
#[test]
fn two_launches_give_the_same_bits() {
    let (a, b) = (fill(Fill::Normal, 0, 33 * 70), fill(Fill::Normal, 1, 70 * 35));
    let bits = || {
        let (out, _) = launched(&matmul::Extents { i: 33, k: 70, j: 35 }, &a, &b, 33 * 35);
        out.unwrap().into_iter().map(f32::to_bits).collect::<Vec<_>>()
    };
    assert_eq!(bits(), bits());
}

#[test]
fn the_source_that_is_compiled_is_the_one_embedded() {
    assert!(matmul::SOURCE.contains("pub unsafe fn matmul_narrow("));
    assert_eq!(mage::emit::hash(matmul::SOURCE), matmul::SOURCE_HASH);
}
