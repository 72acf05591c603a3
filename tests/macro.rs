//! The macro in a crate without the feature `cuda-oxide`, which denies every warning and names
//! its own things like those of the expansion.

#![deny(warnings, missing_docs)]
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::error::Error;

use mage::fill::{Fill, fill};
use mage::ndarray::{ArrayViewD, Axis, Slice};
use mage::{EmulateError, tolerance};

mage::einsum_kernel!("ik,kj->ij", tile = 16);
mage::einsum_kernel!("ik,kj->ij", tile = 32);
mage::einsum_kernel!(r#"iI,Ij->ij"#, tile = (16, 16, 8), name = capitals,);
mage::einsum_kernel!("ik,kj->ij", tile = 16, extents = (k = 9), name = fixed);
mage::einsum_kernel!("ij->", name = total);
mage::einsum_kernel!("ij->i", name = row_sums);
#[rustfmt::skip]
mage::einsum_kernel!( r"ik , kj -> ij" ,tile=64,name   = spaced , );
mage::einsum_kernel!("ik,kj->ij", tile = 16, strides = runtime, name = strided);

/// A caller whose names are those that the expansion uses.
mod hostile {
    #![allow(dead_code, non_camel_case_types, non_upper_case_globals)]

    pub mod std {}
    pub mod core {}
    pub struct Some;
    pub struct Ok;
    pub enum Result {}
    pub enum Option {}
    pub enum Vec {}
    pub struct Extents;
    pub const i: u8 = 1;
    pub const k: u8 = 2;
    pub const acc: u8 = 3;
    pub static tile: u8 = 4;

    mage::einsum_kernel!("ik,kj->ij", tile = 16, name = matmul);
}

/// A literal that went through a macro of the caller.
macro_rules! kernel {
    ($notation:literal, $name:ident, $tile:expr) => {
        mage::einsum_kernel!($notation, tile = $tile, name = $name);
    };
}
kernel!("bik,bkj->bij", batched, 16);

fn view<'a>(shape: &[usize], data: &'a [f32]) -> ArrayViewD<'a, f32> {
    ArrayViewD::from_shape(shape, data).unwrap()
}

#[test]
fn emulate_agrees_with_reference() -> Result<(), Box<dyn Error>> {
    let a = fill(Fill::Normal, 0, 33 * 17);
    let b = fill(Fill::Normal, 1, 17 * 35);
    let reference = einsum_ik_kj_ij_tile16::reference(view(&[33, 17], &a), view(&[17, 35], &b))?;
    let outputs = [
        einsum_ik_kj_ij_tile16::emulate(
            &einsum_ik_kj_ij_tile16::Extents { i: 33, k: 17, j: 35 },
            &a,
            &b,
        )?,
        einsum_ik_kj_ij_tile32::emulate(
            &einsum_ik_kj_ij_tile32::Extents { i: 33, k: 17, j: 35 },
            &a,
            &b,
        )?,
        capitals::emulate(&capitals::Extents { i: 33, I: 17, j: 35 }, &a, &b)?,
        hostile::matmul::emulate(&hostile::matmul::Extents { i: 33, k: 17, j: 35 }, &a, &b)?,
        batched::emulate(&batched::Extents { b: 1, i: 33, k: 17, j: 35 }, &a, &b)?,
        spaced::emulate(&spaced::Extents { i: 33, k: 17, j: 35 }, &a, &b)?,
    ];
    for output in outputs {
        assert!(tolerance::compare(&output, &reference).passes());
    }
    Ok(())
}

#[test]
fn names_in_scope_mean_what_they_meant() {
    let (i, k, n_i, acc, tile) = (1, 2, 3, 4, 5);
    mage::einsum_kernel!("i,i->", name = inner);
    let dot = inner::emulate(&inner::Extents { i: 3 }, &[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]);
    assert_eq!(dot, Ok(vec![32.0]));
    assert_eq!([i, k, n_i, acc, tile], [1, 2, 3, 4, 5]);
}

#[test]
fn fixed_extents_are_not_asked_for() {
    let a = fill(Fill::Hash, 0, 7 * 9);
    let b = fill(Fill::Hash, 1, 9 * 5);
    let output = fixed::emulate(&fixed::Extents { i: 7, j: 5 }, &a, &b);
    let reference = fixed::reference(view(&[7, 9], &a), view(&[9, 5], &b)).unwrap();
    assert_eq!(output, Ok(reference.rounded_to::<f32>().into_raw_vec_and_offset().0));
    assert!(fixed::reference(view(&[7, 3], &a[..21]), view(&[3, 5], &b[..15])).is_err());
}

/// A label that stands once is summed (case D6).
#[test]
fn a_label_that_stands_once_is_summed() {
    let a = fill(Fill::Hash, 0, 7 * 5);
    let sums = row_sums::emulate(&row_sums::Extents { i: 7, j: 5 }, &a).unwrap();
    let weighted = sums.iter().zip(1..).map(|(sum, weight)| sum * weight as f32);
    assert_eq!((sums.iter().sum::<f32>(), weighted.sum::<f32>()), (46.0, 181.0));
}

/// Operands with strides of their own are views, whose shapes say what the extents are.
#[test]
fn views_are_emulated_as_they_lie() {
    let data = fill(Fill::Hash, 0, 18 * 40);
    let whole = view(&[18, 40], &data);
    let mut reversed = whole.slice_axis(Axis(1), Slice::new(0, Some(35), -2));
    reversed.invert_axis(Axis(0));
    let transposed = whole.slice_axis(Axis(1), Slice::new(3, Some(20), 1)).reversed_axes();
    let row = view(&[1, 18], &data[..18]);
    let row = row.broadcast(vec![33, 18]).unwrap();
    for left in [transposed, row.into_dyn()] {
        let emulated = strided::emulate(left.clone(), reversed.clone());
        let reference = strided::reference(left, reversed.clone()).unwrap();
        assert_eq!(emulated, Ok(reference.rounded_to::<f32>().into_raw_vec_and_offset().0));
    }
    let refusal = strided::emulate(whole.clone(), whole.clone()).unwrap_err();
    assert!(matches!(refusal, EmulateError::Operands(_)));
    assert!(refusal.to_string().contains("label `k` is 40 in operand 0 but 18"), "{refusal}");
}

#[test]
fn texts_are_embedded() {
    assert_eq!(spaced::NOTATION, "ik , kj -> ij");
    assert_eq!(spaced::OPTIONS, "tile = 64, name = spaced");
    assert_eq!(capitals::NOTATION, "iI,Ij->ij");
    assert_eq!(capitals::OPTIONS, "tile = (16, 16, 8), name = capitals");
    assert_eq!(mage::emit::hash(capitals::SOURCE), capitals::SOURCE_HASH);
    assert!(capitals::SOURCE.starts_with("//! `iI,Ij->ij`"));
    assert!(capitals::EXPLANATION.contains("schedule capitals for"));
}

#[test]
fn refusals_name_the_label_and_the_operand() {
    let refusal = total::emulate(&total::Extents { i: 2, j: 3 }, &[1.0; 5]).unwrap_err();
    assert!(matches!(refusal, EmulateError::Failure(_)));
    assert!(refusal.to_string().contains("operand `A` has 5 elements"), "{refusal}");

    let refusal =
        einsum_ik_kj_ij_tile16::reference(view(&[2, 3], &[0.0; 6]), view(&[4, 2], &[0.0; 8]));
    let refusal = refusal.unwrap_err().to_string();
    assert!(refusal.contains("label `k` is 3 in operand 0 but 4 in operand 1"), "{refusal}");
}

/// The embedded hash is compared before anything runs.
#[test]
fn another_source_is_refused() {
    let embedded = mage::support::Embedded {
        notation: total::NOTATION,
        options: total::OPTIONS,
        source_hash: "0000000000000000",
    };
    let refusal =
        mage::support::emulate::<f32, f32>(&embedded, &[1, 1], (&[&[1.0]], &[]), &[]).unwrap_err();
    assert!(matches!(refusal, EmulateError::OtherSource { .. }), "{refusal}");
}
