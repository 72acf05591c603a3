//! The host's steps: what they refuse and in which words, what they choose.

use mage_codegen::emulate::{Failure, Launched};
use mage_codegen::kernel::{Arm, BufferId, HostError, HostExpr, HostPred, HostStep, Module};

use crate::build::run_aligned;
use crate::kernels::{Tiles, copy, matmul};

const A: BufferId = BufferId(0);
const OUT: BufferId = BufferId(2);

fn extent(label: usize) -> HostExpr {
    HostExpr::Extent(label)
}

fn never() -> HostPred {
    HostPred::Equal(HostExpr::Const(0), HostExpr::Const(1))
}

fn refused(that: HostPred, error: HostError, extents: &[u64]) -> String {
    let mut module = matmul(Tiles { m: 16, n: 8, k: 4 });
    module.host.insert(0, HostStep::Require { that, error });
    match run_aligned(&module, extents, &[vec![0.0; 100], vec![0.0; 100]], 4) {
        Err(Failure::Host(failure)) => failure.message,
        Err(Failure::Trap(trap)) => format!("a trap: {trap}"),
        Ok(_) => "no failure".to_string(),
    }
}

#[test]
fn messages_name_both_sides() {
    let product = || HostExpr::Product(vec![extent(0), extent(1)]);
    let rows = [
        (HostError::ExtentLimit { label: 1, limit: 15 }, "label `k` is 16, limit 15"),
        (
            HostError::FixedExtent { label: 1, fixed: 64 },
            "label `k` is 16 but the option `extents` fixed it to 64",
        ),
        (
            HostError::ExtentMismatch { first: 0, other: 1, buffer: A },
            "label `i` is 8 but label `k` is 16 and both index one dimension of operand `A`",
        ),
        (
            HostError::LengthMismatch { buffer: A },
            "operand `A` has 100 elements but its extents i*k = 8*16 ask for 128",
        ),
        (
            HostError::SizeOverflow { buffer: OUT },
            "output `OUT` is too large: i*j = 8*4 elements of 4 bytes, \
             limit 9223372036854775807 bytes",
        ),
        (
            HostError::LaunchLimit {
                what: "the number of blocks in the grid".to_string(),
                need: product(),
                limit: 100,
            },
            "the number of blocks in the grid is 128, limit 100 (label `i` is 8, label `k` is 16)",
        ),
    ];
    for (error, expected) in rows {
        assert_eq!(refused(never(), error, &[8, 16, 4]), expected);
    }
}

#[test]
fn an_overflow_is_the_step_s_error() {
    let product = HostExpr::Product(vec![extent(0), extent(1)]);
    let message = refused(
        HostPred::AtMost(product, u64::MAX),
        HostError::SizeOverflow { buffer: A },
        &[1 << 40, 1 << 40, 4],
    );
    assert!(message.starts_with("operand `A` is too large: i*k = 1099511627776*"), "{message}");
}

#[test]
fn an_overflow_that_nothing_ruled_out_is_told_apart() {
    let mut module = copy();
    let blocks = HostExpr::Product(vec![extent(0), HostExpr::Const(u64::MAX)]);
    module.host = vec![HostStep::Launch { kernel: 0, blocks }];
    let failure = run_aligned(&module, &[2], &[vec![0.0; 2]], 2).unwrap_err();
    assert!(failure.to_string().contains("a mistake in the module"), "{failure}");
}

#[test]
fn counts_of_arguments_are_checked() {
    let failure = run_aligned(&copy(), &[2, 3], &[vec![0.0; 2]], 2).unwrap_err();
    assert_eq!(failure.to_string(), "2 extents for 1 labels");
    let failure = run_aligned(&copy(), &[2], &[], 2).unwrap_err();
    assert_eq!(failure.to_string(), "0 operands for 1 inputs");
}

fn selecting() -> Module {
    let mut module = copy();
    let launch = module.host.clone();
    let wide = HostPred::All(vec![
        HostPred::MultipleOf(extent(0), 4),
        HostPred::AlignedTo(A, 16),
        HostPred::LengthIs(A, extent(0)),
    ]);
    module.host = vec![
        HostStep::ReturnIf(HostPred::IsZero(extent(0))),
        HostStep::Select(vec![
            Arm { name: "wide".to_string(), eligible: wide, steps: launch.clone() },
            Arm { name: "narrow".to_string(), eligible: HostPred::All(vec![]), steps: launch },
        ]),
    ];
    module
}

#[test]
fn the_first_eligible_arm_is_taken() {
    for (extent, arm) in [(64_usize, "wide"), (63, "narrow")] {
        let run =
            run_aligned(&selecting(), &[extent as u64], &[vec![1.0; extent]], extent).unwrap();
        let launched = Launched { kernel: 0, arm: arm.to_string(), blocks: 2 };
        assert_eq!(run.launches, [launched]);
    }
}

#[test]
fn an_empty_output_launches_nothing() {
    let run = run_aligned(&selecting(), &[0], &[vec![]], 0).unwrap();
    assert!(run.launches.is_empty() && run.outputs == [[0.0; 0]]);
}
