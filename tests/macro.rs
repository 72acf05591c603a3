//! The macro in a crate without the feature `cuda-oxide`, which denies every warning and names
//! its own things like those of the expansion.

#![deny(warnings, missing_docs)]
#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use std::error::Error;

use mage::diagnostic::Code;
use mage::fill::{Fill, fill};
use mage::ndarray::{ArrayView, ArrayViewD, Axis, Slice};
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
mage::einsum_kernel!(
    "ik,kj->ij",
    tile = 16,
    name = fused,
    epilogue = |acc, bias: j, residual: ij| relu(acc + bias) - 0.5 * residual
);
mage::einsum_kernel!("Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]", name = neighbours);
mage::einsum_kernel!(
    "m[i] = mean(j) X[i,j]; \
     v[i] = mean(j) (X[i,j] - m[i])^2; \
     Y[i,j] = (X[i,j] - m[i]) * rsqrt(v[i]) * g[j] + b[j]",
    name = normalised
);
mage::einsum_kernel!("m[i] = mean(j) X[i,j]; v[i] = mean(j) (X[i,j] - m[i])^2", name = variance);

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

/// A closure has the result first, then operands with the labels that it gives them.
#[test]
fn an_epilogue_is_computed_from_each_result() {
    let a = [1.0, 2.0, 3.0, 4.0];
    let b = [1.0, 0.0, -1.0, 2.0, 1.0, 0.0];
    let bias = [-6.0, 1.0, 2.0];
    let residual = [2.0, 0.0, 4.0, 0.0, 6.0, 8.0];
    // The products are 5, 2, -1 and 11, 4, -3; with the bias -1, 3, 1 and 5, 5, -1.
    let right = vec![-1.0, 3.0, -1.0, 5.0, 2.0, -4.0];

    let emulated = fused::emulate(&fused::Extents { i: 2, k: 2, j: 3 }, &a, &b, &bias, &residual);
    let reference = fused::reference(
        view(&[2, 2], &a),
        view(&[2, 3], &b),
        view(&[3], &bias),
        view(&[2, 3], &residual),
    );
    let reference = reference.unwrap().rounded_to::<f32>().into_raw_vec_and_offset().0;
    assert_eq!((reference, emulated), (right.clone(), Ok(right)));
}

/// Index operands come after the operands, in the order of the text.
#[test]
fn neighbours_are_looked_up() {
    let extents = neighbours::Extents { i: 3, e: 3, f: 2, s: 3 };
    let weights = [2.0, 3.0, 10.0];
    let features = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let (pointers, sources) = ([0, 2, 2, 3], [1, 0, 2]);
    // 2 * (3, 4) + 3 * (1, 2), nothing, 10 * (5, 6).
    let right = vec![9.0, 14.0, 0.0, 0.0, 50.0, 60.0];

    let emulate = |pointers: &[u32], sources: &[u32]| {
        neighbours::emulate(&extents, &weights, &features, pointers, sources)
    };
    let reference = |pointers: &[u32], sources: &[u32]| {
        let (pointers, sources) = (ArrayView::from(pointers), ArrayView::from(sources));
        neighbours::reference(
            view(&[3], &weights),
            view(&[3, 2], &features),
            pointers.into_dyn(),
            sources.into_dyn(),
        )
    };
    let expected = reference(&pointers, &sources).unwrap();
    let expected = expected.rounded_to::<f32>().into_raw_vec_and_offset().0;
    assert_eq!((expected, emulate(&pointers, &sources)), (right.clone(), Ok(right)));

    // An index beyond its extent; row pointers that fall, that end early and that begin late.
    let wrong_rows = [[0, 2, 1, 3], [0, 2, 2, 2], [1, 2, 2, 3]].map(|pointers| (pointers, sources));
    for (pointers, sources) in [(pointers, [1, 0, 3])].into_iter().chain(wrong_rows) {
        let refusal = emulate(&pointers, &sources).unwrap_err();
        assert!(matches!(refusal, EmulateError::Failure(_)), "{pointers:?} {sources:?}");
        let refusal = reference(&pointers, &sources).unwrap_err();
        assert_eq!(refusal.0[0].code, Code::IndexOutOfRange, "{pointers:?} {sources:?}");
    }
}

/// Rows with 256 entries or more are cut: rows of just as many and of one more or fewer, of many
/// parts, one after the other and beside rows without entries.
#[test]
fn rows_of_any_length_are_summed() {
    let all: [&[u32]; 7] = [
        &[0, 0, 256, 513, 513, 1024, 2561],
        &[0, 0, 0, 512, 512, 769, 2561],
        &[0, 255, 511, 511, 768, 768, 2561],
        &[0, 255, 255, 766, 1022, 1277, 2561],
        &[0, 0, 1, 2561, 2561, 2561, 2561],
        &[0, 1, 2560, 2560, 2560, 2561, 2561],
        &[0, 2561, 2561, 2561, 2561, 2561, 2561],
    ];
    for f in [1, 4, 33] {
        let extents = neighbours::Extents { i: 6, e: 2561, f, s: 7 };
        let weights: Vec<f32> = (0..extents.e).map(|e| (e % 5) as f32 - 1.0).collect();
        let features: Vec<f32> = (0..extents.s * f).map(|at| (at % 3) as f32 - 1.0).collect();
        let sources: Vec<u32> = (0..extents.e as u32).map(|e| e * 3 % 7).collect();
        for pointers in all {
            let sum = |row: usize, feature: usize| -> f32 {
                let edges = pointers[row] as usize..pointers[row + 1] as usize;
                edges.map(|e| weights[e] * features[sources[e] as usize * f + feature]).sum()
            };
            let at = (0..extents.i * f).map(|at| sum(at / f, at % f));
            let right: Vec<f32> = at.collect();
            let emulated =
                neighbours::emulate(&extents, &weights, &features, pointers, &sources).unwrap();
            assert_eq!(emulated, right, "{f} features, {pointers:?}");
        }
    }
}

/// A literal may go on in the next line; a division by a deviation of zero is that of IEEE 754.
#[test]
fn statements_follow_each_other() {
    let (x, g, b) = ([1.0, 3.0, 7.0, 7.0], [2.0, 3.0], [1.0, 1.0]);
    let emulated = normalised::emulate(&normalised::Extents { i: 2, j: 2 }, &x, &g, &b).unwrap();
    let reference =
        normalised::reference(view(&[2, 2], &x), view(&[2], &g), view(&[2], &b)).unwrap();
    let reference = reference.rounded_to::<f32>().into_raw_vec_and_offset().0;
    for values in [emulated, reference] {
        assert_eq!(values[..2], [-1.0, 4.0]);
        assert!(values[2].is_nan() && values[3].is_nan(), "0 * infinity is NaN");
    }
}

/// The mean, 2^24 + 3, is no f32; deviations from a rounded one would have the mean square 6.
#[test]
fn a_variance_is_corrected_for_the_rounding_of_its_mean() {
    let x = [16_777_216.0, 16_777_218.0, 16_777_220.0, 16_777_222.0];
    let emulated = variance::emulate(&variance::Extents { i: 1, j: 4 }, &x);
    let reference = variance::reference(view(&[1, 4], &x)).unwrap();
    let reference = reference.rounded_to::<f32>().into_raw_vec_and_offset().0;
    assert_eq!((reference, emulated), (vec![5.0], Ok(vec![5.0])));
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
