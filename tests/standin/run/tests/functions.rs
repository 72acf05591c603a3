//! The functions of one number, in the source that is emitted: as near to the value as
//! `Function::relative_roundoffs` and `Function::absolute_error` say, over a sample of all f32,
//! whatever the approximate instructions do within what the PTX ISA allows them.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

use cuda_device::number::{Side, set_sides};
use mage_einsum::function::Function;
use mage_standin_run::functions::FUNCTIONS;
use mage_standin_run::{Device, Emitted, Operand};

/// Distance between the bit patterns of the sample; odd, so that it meets every last bit.
const STEP: usize = 65_539;

/// What a dense sample may miss: the ends of ranges and where one formula follows another.
const NOTABLE: [f32; 24] = [
    0.0,
    1e-45,
    f32::MIN_POSITIVE,
    1e-20,
    0.333,
    0.5,
    0.55,
    0.5500001,
    0.6666667,
    1.0,
    1.0000001,
    1.3333334,
    4.1,
    4.7,
    9.02,
    13.5,
    16.0,
    20.0,
    87.33655,
    88.0,
    88.72283,
    88.72284,
    3.4e38,
    f32::INFINITY,
];

/// How far an f32 result is from `expected`, in units of what it may be.
fn error(function: Function, got: f32, expected: f64) -> f64 {
    let nearest = expected as f32;
    if got == nearest || (got.is_nan() && nearest.is_nan()) {
        return 0.0;
    }
    let unit = 2.0_f64.powi(-24);
    let may = function.relative_roundoffs() * unit * expected.abs() + function.absolute_error();
    // Where the value leaves the numbers of f32, a result near the edge may fall on either side.
    let edge = f64::from(f32::MAX) * (1.0 + 2.0_f64.powi(-25));
    let got = if got.is_infinite() { edge.copysign(f64::from(got)) } else { f64::from(got) };
    let expected = if nearest.is_infinite() && expected.is_finite() {
        expected.clamp(-edge, edge)
    } else {
        expected
    };
    let error = (got - expected).abs() / may;
    if error.is_nan() { f64::INFINITY } else { error }
}

fn sample() -> Vec<f64> {
    let all = (0..=u32::MAX).step_by(STEP).map(f32::from_bits);
    let notable = NOTABLE.into_iter().flat_map(|value| [value, -value]);
    all.chain(notable).chain([f32::NAN]).map(f64::from).collect()
}

fn results(emitted: &Emitted, values: &[f64]) -> Vec<f64> {
    let device = Device::new().unwrap();
    let input = Operand { data: values.to_vec(), first: 0, strides: Vec::new() };
    let before = [vec![f64::NAN; values.len()]];
    let launched = (emitted.launch)(&device, &[values.len()], &[input], &[], &[], &before);
    launched.unwrap().remove(0)
}

/// The largest error over the sample, and where it is.
fn worst(function: Function, emitted: &Emitted, values: &[f64]) -> (f64, f64) {
    let errors = values
        .iter()
        .zip(results(emitted, values))
        .map(|(value, result)| (error(function, result as f32, function.of(*value)), *value));
    errors.fold((0.0, 0.0), |worst, one| if one.0 > worst.0 { one } else { worst })
}

#[test]
fn every_function_keeps_its_error() {
    let values = sample();
    let mut failures = Vec::new();
    for (function, emitted) in Function::ALL.into_iter().zip(FUNCTIONS) {
        assert_eq!(function.name(), emitted.name);
        for powers in [Side::Below, Side::Nearest, Side::Above] {
            for reciprocals in [Side::Below, Side::Nearest, Side::Above] {
                set_sides(powers, reciprocals);
                let (error, value) = worst(function, emitted, &values);
                if error > 1.0 {
                    failures.push(format!(
                        "{}({value:e}): {error:.3} of what it may, {powers:?}, {reciprocals:?}",
                        emitted.name
                    ));
                }
            }
        }
    }
    set_sides(Side::Nearest, Side::Nearest);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The test would see a wrong value, and values that are missing or too many.
#[test]
fn errors_are_seen() {
    let wrong = |got: f32, expected: f64| error(Function::Exp, got, expected) > 1.0;
    assert!(wrong(1.000_001, 1.0) && wrong(0.0, 1e-37) && wrong(f32::NAN, 1.0));
    assert!(wrong(1.0, f64::NAN) && wrong(f32::INFINITY, 1e38) && wrong(1e38, f64::INFINITY));
    assert!(!wrong(f32::INFINITY, 3.402_823e38) && !wrong(f32::MAX, 3.402_823_7e38));
    assert!(!wrong(0.0, 1e-39) && !wrong(f32::INFINITY, f64::INFINITY));
}
