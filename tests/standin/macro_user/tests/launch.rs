//! The macro's modules launch on the stand-in, and give what their own oracle and emulator give.

#![cfg(feature = "cuda-oxide")]

use std::sync::Arc;

use cuda_core::{CudaContext, CudaStream, DeviceBuffer};
use mage::fill::{Fill, fill};
use mage::ndarray::ArrayViewD;
use mage::tolerance;
use mage_standin_macro_user::{capitals, chain, fixed, matmul, triangle};

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

#[test]
fn the_source_that_is_compiled_is_the_one_embedded() {
    assert!(matmul::SOURCE.contains("pub unsafe fn matmul_narrow("));
    assert_eq!(mage::emit::hash(matmul::SOURCE), matmul::SOURCE_HASH);
}
