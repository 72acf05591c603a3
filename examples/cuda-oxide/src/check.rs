//! Compares every output element of every kernel with the oracle, by equality for integers and
//! under the stated bound for normal data, with a poisoned output, and twice for determinism.

use cuda_core::{CudaContext, CudaStream, DeviceBuffer};
use mage::fill::{Fill, fill};
use mage::ndarray::{ArrayD, ArrayViewD, IxDyn};
use mage::oracle::Evaluation;

use crate::case::{CASES, Case, Problem};
use crate::{Error, strided};

/// Checks all; prints a line a comparison.
pub fn run() -> Result<bool, Error> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    println!("device {}", context.device_name()?);
    let (mut right, mut wrong) = (0, 0);
    for case in CASES {
        for extents in case.checks {
            for data in [Fill::Hash, Fill::Normal] {
                let launch = (case.bind)(&context, extents)?;
                let problem = case.problem(extents)?;
                let said = compare(case, &problem, data, &stream, &launch)?;
                let verdict = if said.is_empty() { "right" } else { "WRONG" };
                println!("{verdict} {} {extents:?} {data:?} {said}", case.name);
                if said.is_empty() { right += 1 } else { wrong += 1 }
            }
        }
    }
    for (is_right, said) in strided::run(&context, &stream)? {
        println!("{said}");
        if is_right { right += 1 } else { wrong += 1 }
    }
    println!("{right} passed, {wrong} failed");
    Ok(wrong == 0)
}

/// What is wrong, or nothing.
fn compare(
    case: &Case,
    problem: &Problem,
    data: Fill,
    stream: &CudaStream,
    launch: &crate::case::Launch,
) -> Result<String, Error> {
    let operands = operands(problem, data)?;
    let views: Vec<ArrayViewD<f32>> = operands.iter().map(|operand| operand.view()).collect();
    let reference = mage::oracle::evaluate(&problem.program, &views)?;
    let buffers = upload(stream, &operands)?;
    let mut outputs = Vec::new();
    for _ in 0..2 {
        let poison = vec![f32::NAN; problem.n_outputs];
        let mut out = DeviceBuffer::from_host(stream, &poison)?;
        launch(stream, &buffers, &mut out)?;
        outputs.push(out.to_host_vec(stream)?);
    }
    if outputs[0].iter().zip(&outputs[1]).any(|(one, other)| one.to_bits() != other.to_bits()) {
        return Ok(format!("{}: two runs differ", case.name));
    }
    Ok(verdict(&outputs[0], &reference, data))
}

/// What is wrong with an output, or nothing.
pub fn verdict(got: &[f32], reference: &Evaluation, data: Fill) -> String {
    if got.len() != reference.values.len() {
        return format!("{} elements for {}", got.len(), reference.values.len());
    }
    if data == Fill::Hash {
        let exact = reference.values.iter().map(|value| *value as f32);
        let wrong = got.iter().zip(exact).filter(|(got, exact)| *got != exact).count();
        return if wrong == 0 { String::new() } else { format!("{wrong} elements differ") };
    }
    let comparison = mage::tolerance::compare(got, reference);
    if comparison.passes() { String::new() } else { format!("{comparison:?}") }
}

/// The operands of a problem, operand k with seed k.
pub fn operands(problem: &Problem, data: Fill) -> Result<Vec<ArrayD<f32>>, Error> {
    let mut operands = Vec::new();
    for (seed, shape) in (0_u32..).zip(&problem.shapes) {
        let values = fill(data, seed, shape.iter().product());
        operands.push(ArrayD::from_shape_vec(IxDyn(shape), values)?);
    }
    Ok(operands)
}

/// The operands on the device.
pub fn upload(
    stream: &CudaStream,
    operands: &[ArrayD<f32>],
) -> Result<Vec<DeviceBuffer<f32>>, Error> {
    let mut buffers = Vec::new();
    for operand in operands {
        let values: Vec<f32> = operand.iter().copied().collect();
        buffers.push(DeviceBuffer::from_host(stream, &values)?);
    }
    Ok(buffers)
}
