//! Operands whose strides the launch gives: the published cases (cases.md, section H), which
//! variant runs, what the host refuses, and faults that must be caught.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at once")]

use common::{Agreement, Problem};
use mage_codegen::emulate::Failure;
use mage_codegen::kernel::{BufferId, HostPred, HostStep, Module, ParamValue, Space};
use mage_codegen::pipeline::Levels;
use mage_einsum::diagnostic::Code;
use mage_einsum::dtype::Dtype;
use mage_einsum::fill::{Fill, fill_as};
use mage_einsum::view::{Arrangement, Stored, View};

mod common;
mod plant;

const MATMUL: &str = "\"ik,kj->ij\", tile = 16, strides = runtime";

/// An operand by its shape, buffer and view.
struct Operand {
    shape: Vec<usize>,
    stored: Stored<f64>,
}

fn operand(shape: &[usize], data: Vec<f64>, first: u64, strides: &[i64]) -> Operand {
    let stored = Stored { data, view: View { first, strides: strides.to_vec() } };
    Operand { shape: shape.to_vec(), stored }
}

fn hash(seed: u32, len: usize) -> Vec<f64> {
    fill_as(Dtype::F32, Fill::Hash, seed, len)
}

/// Compiles a notation with run-time strides and binds its extents to the operands' shapes.
fn posed(invocation: &str, extents: &str, operands: Vec<Operand>) -> (Levels, Problem) {
    let levels = common::compile(invocation);
    let extents = common::label_extents(&levels.module, &common::extents(extents));
    let (shapes, stored): (Vec<_>, Vec<_>) =
        operands.into_iter().map(|operand| (operand.shape, operand.stored)).unzip();
    let problem = common::stored_problem(&levels, extents, &shapes, (stored, Vec::new()));
    (levels, problem)
}

/// The emulator's output, which is the oracle's.
fn output(invocation: &str, extents: &str, operands: Vec<Operand>) -> Vec<f64> {
    let (levels, problem) = posed(invocation, extents, operands);
    let mut run = common::emulate(&levels.module, &problem, 16).expect(invocation);
    let wrong = common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal);
    assert_eq!(wrong, None, "{invocation}");
    run.outputs.remove(0)
}

/// H1 and H2: transposed storage changes nothing of B6 and B1.
#[test]
fn a_transposed_view_is_the_operand() {
    // A[i,k,c] of extents 3, 5, 2 at c, i, k in its buffer.
    let a = hash(0, 30);
    let mut transposed = vec![0.0; 30];
    for (at, value) in a.iter().enumerate() {
        let (i, k, c) = (at / 10, at / 2 % 5, at % 2);
        transposed[c * 15 + i * 5 + k] = *value;
    }
    let got = output(
        "\"ikc,jkc->ijc\", tile = 16, strides = runtime",
        "i=3 k=5 c=2 j=4",
        vec![
            operand(&[3, 5, 2], transposed, 0, &[5, 1, 15]),
            operand(&[4, 5, 2], hash(1, 40), 0, &[10, 2, 1]),
        ],
    );
    assert_eq!(
        (common::sums(&got), &got[..4], got[23]),
        ([73, 1475], &[37.0, -18.0, -5.0, 40.0][..], 28.0)
    );

    let columns = |data: &[f64], rows: usize| -> Vec<f64> {
        let n_columns = data.len() / rows;
        (0..data.len()).map(|at| data[at % rows * n_columns + at / rows]).collect()
    };
    let got = output(
        MATMUL,
        "i=3 k=5 j=4",
        vec![
            operand(&[3, 5], columns(&hash(0, 15), 3), 0, &[1, 3]),
            operand(&[5, 4], columns(&hash(1, 20), 5), 0, &[1, 5]),
        ],
    );
    assert_eq!((common::sums(&got), &got[..4]), ([-118, -787], &[-14.0, -16.0, -42.0, 20.0][..]));
}

/// H3, H5 and H6: strides of zero, below zero, and of windows that overlap.
#[test]
fn strides_that_no_contiguous_array_has() {
    let nt = "\"ik,jk->ij\", tile = 16, strides = runtime";
    let got = output(
        nt,
        "i=3 k=5 j=4",
        vec![operand(&[3, 5], hash(0, 5), 0, &[0, 1]), operand(&[4, 5], hash(1, 20), 0, &[5, 1])],
    );
    assert_eq!(got, [18.0, 0.0, 22.0, 30.0].repeat(3));

    // X[::-2, ::3] of X = H (6, 8).
    let reversed = || operand(&[3, 3], hash(0, 48), 40, &[-16, 3]);
    let got = output(nt, "i=3 k=3 j=3", vec![reversed(), reversed()]);
    assert_eq!(got, [77.0, 45.0, -37.0, 45.0, 33.0, -5.0, -37.0, -5.0, 61.0]);

    let windows = || operand(&[2, 2, 2], fill_as(Dtype::F32, Fill::Ramp, 0, 6), 0, &[3, 1, 1]);
    let got = output(
        "\"abc,acd->abd\", strides = runtime",
        "a=2 b=2 c=2 d=2",
        vec![windows(), windows()],
    );
    assert_eq!(got, [5.0, 8.0, 8.0, 13.0, 41.0, 50.0, 50.0, 61.0]);
}

/// The arms that run at each arrangement.
fn arms(invocation: &str, extents: &str, arrangement: Arrangement) -> Vec<String> {
    let levels = common::compile(invocation);
    let extents = common::extents(extents);
    let problem = common::arranged(&levels, &extents, &[Fill::Hash], arrangement);
    let run = common::emulate(&levels.module, &problem, 16).expect(invocation);
    let wrong = common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal);
    assert_eq!(wrong, None, "{invocation}, {arrangement:?}");
    run.launches.into_iter().map(|launch| launch.arm).collect()
}

#[test]
fn wide_where_the_last_stride_is_one_and_all_lie_in_fours() {
    for (invocation, extents) in [
        (MATMUL, "i=20 k=24 j=28"),
        ("\"ikc,jkc->ijc\", tile = 16, strides = runtime", "i=9 k=5 c=8 j=3"),
        ("\"iik,kj->ij\", tile = 16, strides = runtime", "i=9 k=8 j=12"),
        ("\"ijk,jk->i\", strides = runtime", "i=300 j=5 k=16"),
        ("\"ij->j\", strides = runtime", "i=70 j=36"),
        ("\"ij,jk,kl->il\", tile = 16, strides = runtime", "i=20 j=8 k=16 l=12"),
    ] {
        for (name, arrangement) in Arrangement::NAMES {
            let wanted = match arrangement {
                Arrangement::RowMajor | Arrangement::Padded | Arrangement::Upended => "wide",
                Arrangement::Broadcast => "wide",
                Arrangement::Transposed | Arrangement::Reversed => "narrow",
            };
            let arms = arms(invocation, extents, arrangement);
            // A temporary, which is row-major, is wide whatever the operands are.
            let found = arms.first().expect("a launch");
            assert!(found.ends_with(wanted), "{invocation}, {name}: {arms:?}");
        }
    }
}

#[test]
fn what_has_no_wide_variant_takes_any_strides() {
    for (invocation, extents) in [
        ("\"ijk->kij\", strides = runtime", "i=3 j=33 k=35"),
        ("\"ij->ij\", strides = runtime", "i=3 j=5"),
        ("\"ij,ji->ij\", strides = runtime", "i=7 j=6"),
        ("\"ii->i\", strides = runtime", "i=9"),
        ("\"iii->\", strides = runtime", "i=5"),
        ("\",->\", strides = runtime", ""),
        ("\"i,j->ij\", tile = 16, strides = runtime", "i=17 j=20"),
        (
            "\"ik,kj->ij\", tile = 16, extents = (i = 16, k = 16, j = 16), strides = runtime",
            "i=16 k=16 j=16",
        ),
        ("\"ik,kj->ij\", tile = 16, extents = (k = 1), strides = runtime", "i=5 k=1 j=8"),
    ] {
        for (_, arrangement) in Arrangement::NAMES {
            arms(invocation, extents, arrangement);
        }
    }
}

/// One tensor under two sets of modes; and one buffer that two operands share (H10).
#[test]
fn a_tensor_that_is_read_twice() {
    let gram = "\"G[i,j] = sum(k) X[i,k] * X[j,k]\", tile = 16, strides = runtime";
    let square = "\"G[i,j] = sum(k) X[i,k] * X[k,j]\", tile = 16, strides = runtime";
    for (_, arrangement) in Arrangement::NAMES {
        arms(gram, "i=20 j=20 k=8", arrangement);
        arms(square, "i=20 k=20 j=20", arrangement);
    }
    let both = || operand(&[5, 5], hash(0, 25), 0, &[5, 1]);
    let transposed = operand(&[5, 5], hash(0, 25), 0, &[1, 5]);
    let got = output(MATMUL, "i=5 k=5 j=5", vec![both(), transposed]);
    for (i, j) in [(0, 1), (2, 4), (3, 0)] {
        assert_eq!(got[i * 5 + j], got[j * 5 + i]);
    }
}

/// The arm of a matrix product whose left operand is a view of a long buffer.
fn arm_of_view(extents: &str, shape: [usize; 2], first: u64, strides: [i64; 2]) -> String {
    let a = operand(&shape, hash(0, 400), first, &strides);
    let b = operand(&[shape[1], 4], hash(1, shape[1] * 4), 0, &[4, 1]);
    let (levels, problem) = posed(MATMUL, extents, vec![a, b]);
    let run = common::emulate(&levels.module, &problem, 16).expect("a run");
    let wrong = common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal);
    assert_eq!(wrong, None);
    run.launches[0].arm.clone()
}

#[test]
fn what_keeps_an_access_narrow() {
    let arm = |first, strides| arm_of_view("i=6 k=8 j=4", [6, 8], first, strides);
    assert_eq!(arm(0, [8, 1]), "wide");
    assert_eq!(arm(4, [44, 1]), "wide");
    assert_eq!(arm(300, [-60, 1]), "wide");
    assert_eq!(arm(0, [4, 1]), "wide");
    assert_eq!(arm(1, [8, 1]), "narrow");
    assert_eq!(arm(0, [9, 1]), "narrow");
    assert_eq!(arm(0, [0, 0]), "narrow");
    assert_eq!(arm(8, [16, -1]), "narrow");
    // The stride of a single row is of no account.
    let single = |stride| arm_of_view("i=1 k=8 j=4", [1, 8], 0, [stride, 1]);
    assert_eq!(
        (single(3), single(i64::MIN), single(i64::MAX)),
        ("wide".into(), "wide".into(), "wide".into())
    );
}

/// A diagonal whose strides would not fit their sum, were it of account.
#[test]
fn strides_of_single_elements_may_be_anything() {
    let a = operand(&[1, 1], vec![3.0], 0, &[i64::MAX, i64::MAX]);
    assert_eq!(output("\"ii->i\", strides = runtime", "i=1", vec![a]), [3.0]);
    let empty = operand(&[2, 0], Vec::new(), u64::MAX, &[i64::MIN, 7]);
    let none = operand(&[0, 2], Vec::new(), 9, &[1, 1]);
    assert_eq!(output(MATMUL, "i=2 k=0 j=2", vec![empty, none]), [0.0; 4]);
}

fn refusal(len: usize, first: u64, strides: &[i64]) -> Result<(), (Code, String)> {
    let levels = common::compile(MATMUL);
    let extents = common::extents("i=3 k=5 j=4");
    let mut problem = common::arranged(&levels, &extents, &[Fill::Hash], Arrangement::RowMajor);
    problem.operands[0] = vec![1.0; len];
    problem.views[0] = Some(View { first, strides: strides.to_vec() });
    match common::emulate(&levels.module, &problem, 16) {
        Ok(_) => Ok(()),
        Err(Failure::Host(failure)) => Err((failure.code, failure.message)),
        Err(Failure::Trap(trap)) => panic!("{trap}"),
    }
}

#[test]
fn a_view_must_lie_in_its_buffer() {
    assert_eq!(refusal(15, 0, &[5, 1]), Ok(()));
    assert_eq!(refusal(99, 0, &[5, 1]), Ok(()));
    assert_eq!(refusal(15, 14, &[-5, -1]), Ok(()));
    assert_eq!(refusal(1, 0, &[0, 0]), Ok(()));
    let told = |len, first, strides: &[i64]| {
        let (code, message) = refusal(len, first, strides).expect_err("a refusal");
        assert_eq!(code, Code::UnsupportedStride);
        message
    };
    assert_eq!(
        told(20, 3, &[-4, 1]),
        "operand `A` reaches elements -5 to 7 but its buffer has 20: the view begins at 3 and has \
         stride -4 along `i` = 3, stride 1 along `k` = 5"
    );
    assert!(
        told(14, 0, &[5, 1])
            .starts_with("operand `A` reaches elements 0 to 14 but its buffer has 14")
    );
    assert!(told(15, 1, &[5, 1]).contains("1 to 15 but"));
    assert!(told(15, 13, &[-5, -1]).contains("-1 to 13 but"));
    assert!(told(0, 0, &[0, 0]).contains("0 to 0 but its buffer has 0"));
    // Where products leave 64 bits, and their sum does not.
    let far = told(15, 0, &[i64::MAX, i64::MIN / 2]);
    assert!(far.contains("-18446744073709551616 to 18446744073709551614"), "{far}");
}

#[test]
fn a_view_must_fit_the_operand() {
    let told = |invocation: &str, view: Option<View>| {
        let levels = common::compile(invocation);
        let extents = common::extents("i=3 k=5 j=4");
        let mut problem = common::problem(&levels, &extents, &[Fill::Hash]);
        problem.views[0] = view;
        match common::emulate(&levels.module, &problem, 16) {
            Err(Failure::Host(failure)) => failure.message,
            other => panic!("no refusal: {other:?}"),
        }
    };
    let view = |strides: &[i64]| Some(View { first: 0, strides: strides.to_vec() });
    assert_eq!(
        told("\"ik,kj->ij\"", view(&[5, 1])),
        "operand `A` is given as a view but must be row-major"
    );
    assert_eq!(told(MATMUL, view(&[5])), "operand `A` has 1 strides for 2 labels");
}

/// Operands without a view are row-major, so a caller need not say so.
#[test]
fn no_view_is_the_row_major_one() {
    let levels = common::compile(MATMUL);
    let problem = common::problem(&levels, &common::extents("i=20 k=24 j=28"), &[Fill::Hash]);
    let run = common::emulate(&levels.module, &problem, 16).expect("a run");
    assert_eq!(run.launches[0].arm, "wide");
    let wrong = common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal);
    assert_eq!(wrong, None);
}

/// What becomes of a faulty module on operands in some arrangement.
fn caught(plant: impl Fn(&mut Module) -> usize, extents: &str, arrangement: Arrangement) -> String {
    let mut levels = common::compile(MATMUL);
    let problem = common::arranged(&levels, &common::extents(extents), &[Fill::Hash], arrangement);
    assert!(plant(&mut levels.module) > 0, "nothing was planted");
    match common::emulate(&levels.module, &problem, 16) {
        Ok(run) => {
            let wrong = common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal);
            wrong.map_or("nothing".to_owned(), |wrong| format!("comparison: {wrong}"))
        }
        Err(failure) => failure.to_string(),
    }
}

const A: BufferId = BufferId(0);

/// Swaps the two strides of the left operand that a kernel gets.
fn swap_strides(module: &mut Module) -> usize {
    let params = module.kernels.iter_mut().flat_map(|kernel| &mut kernel.params);
    let mut n_changed = 0;
    for param in params {
        if let ParamValue::Stride { buffer: A, dims } = &mut param.value {
            dims[0] = 1 - dims[0];
            n_changed += 1;
        }
    }
    n_changed
}

/// Leaves a kind of condition out of those under which the wide variant is taken.
fn forget(module: &mut Module, is_left_out: fn(&HostPred) -> bool) -> usize {
    let mut n_left_out = 0;
    for step in &mut module.host {
        let HostStep::Select(arms) = step else { continue };
        for arm in arms {
            let HostPred::All(all) = &mut arm.eligible else { continue };
            let before = all.len();
            all.retain(|pred| !is_left_out(pred));
            n_left_out += before - all.len();
        }
    }
    n_left_out
}

#[test]
fn faults_are_caught() {
    let (even, odd) = ("i=20 k=24 j=28", "i=19 k=23 j=27");
    let swapped = caught(swap_strides, odd, Arrangement::Padded);
    assert!(swapped.contains("comparison") || swapped.contains("out of bounds"), "{swapped}");
    let unmasked = |module: &mut Module| plant::unmask(module, Space::Global(A));
    let beyond = caught(unmasked, odd, Arrangement::RowMajor);
    assert!(beyond.contains("`a[") && beyond.contains("is out of bounds"), "{beyond}");
    let before = caught(unmasked, odd, Arrangement::Reversed);
    assert!(before.contains("`a[-") && before.contains("is out of bounds"), "{before}");
    let wrong_at = |strides: [[i64; 2]; 2], is_left_out: fn(&HostPred) -> bool| {
        let [a, b] = strides.map(|strides| {
            move |shape: &[usize; 2], seed| operand(shape, hash(seed, 4000), 0, &strides)
        });
        let (mut levels, problem) = posed(MATMUL, even, vec![a(&[20, 24], 0), b(&[24, 28], 1)]);
        assert_eq!(
            common::emulate(&levels.module, &problem, 16).expect("a run").launches[0].arm,
            "narrow"
        );
        assert_eq!(forget(&mut levels.module, is_left_out), 2);
        match common::emulate(&levels.module, &problem, 16) {
            Ok(run) => common::disagreement(&run.outputs, &problem.evaluations, Agreement::Equal),
            Err(failure) => Some(failure.to_string()),
        }
    };
    let every_fourth =
        wrong_at([[96, 4], [28, 1]], |pred| matches!(pred, HostPred::UnitStride(..)));
    assert!(every_fourth.expect("a fault").contains("elements differ"));
    let odd_rows =
        wrong_at([[25, 1], [29, 1]], |pred| matches!(pred, HostPred::StrideMultipleOf(..)));
    assert!(odd_rows.expect("a fault").contains("is misaligned"));
}

/// Without the host's check the emulator still sees what leaves a buffer.
#[test]
fn the_host_s_check_is_what_keeps_a_view_in_its_buffer() {
    let mut levels = common::compile(MATMUL);
    let unchecked =
        |step: &HostStep| matches!(step, HostStep::Require { that: HostPred::InBuffer(A), .. });
    let extents = common::extents("i=3 k=5 j=4");
    let mut problem = common::arranged(&levels, &extents, &[Fill::Hash], Arrangement::Reversed);
    problem.views[0] = Some(View { first: 13, strides: vec![-5, -1] });
    levels.module.host.retain(|step| !unchecked(step));
    let failure = common::emulate(&levels.module, &problem, 16).expect_err("a trap");
    assert!(failure.to_string().contains("`a[-1]`, 1 wide, is out of bounds"), "{failure}");
}
