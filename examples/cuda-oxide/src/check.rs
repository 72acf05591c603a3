//! Compares every output element of every kernel with the oracle, by equality for sums of products
//! of integers and under the stated bound otherwise, with poisoned outputs, and twice for
//! determinism.

use cuda_core::{CudaContext, CudaStream};
use mage::fill::{Fill, fill_as};
use mage::ndarray::{ArrayD, ArrayViewD, IxDyn};
use mage::oracle::Evaluation;

use crate::case::{CASES, Case, Launch};
use crate::graph::Degrees;
use crate::memory::Memory;
use crate::names::Names;
use crate::problem::Problem;
use crate::{Error, strided};

/// Checks those that are named; prints a line a comparison.
pub fn run(names: Names<'_>) -> Result<bool, Error> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    println!("device {}", context.device_name()?);
    let (mut right, mut wrong) = (0, 0);
    let mut tell = |is_right: bool, said: &str| {
        println!("{said}");
        if is_right { right += 1 } else { wrong += 1 }
    };
    for case in CASES.iter().filter(|case| names.take(case.name)) {
        for extents in case.checks {
            for (problem, graph) in problems(case, extents)? {
                let launch = case.launch(&context, extents, &problem)?;
                for data in [Fill::Hash, Fill::Normal, Fill::Positive] {
                    let said = compare(case, &problem, data, &stream, &launch)?;
                    let verdict = if said.is_empty() { "right" } else { "WRONG" };
                    let line =
                        format!("{verdict} {} {extents:?} {graph}{data:?} {said}", case.name);
                    tell(said.is_empty(), &line);
                }
            }
        }
    }
    for (is_right, said) in strided::run(&context, &stream, names)? {
        tell(is_right, &said);
    }
    println!("{right} passed, {wrong} failed");
    Ok(wrong == 0)
}

/// The problem, or where it has a graph one for each way to spread the degrees, which is told.
fn problems(case: &Case, extents: &[usize]) -> Result<Vec<(Problem, String)>, Error> {
    if case.problem(extents)?.indices.is_empty() {
        return Ok(vec![(case.problem(extents)?, String::new())]);
    }
    let with = |degrees: Degrees| {
        Ok((case.problem(extents)?.with_degrees(degrees), format!("{} ", degrees.name())))
    };
    Degrees::ALL.into_iter().map(with).collect()
}

/// What is wrong, or nothing.
fn compare(
    case: &Case,
    problem: &Problem,
    data: Fill,
    stream: &CudaStream,
    launch: &Launch,
) -> Result<String, Error> {
    let operands = operands(problem, data)?;
    let views: Vec<ArrayViewD<f64>> = operands.iter().map(|operand| operand.view()).collect();
    let indices: Vec<ArrayViewD<u32>> = problem.indices.iter().map(|one| one.view()).collect();
    let references = mage::oracle::evaluate_indexed(&problem.program, &views, &indices)?;
    let (operands, before) = match operands.split_last() {
        Some((before, operands)) if problem.program.accumulates() => {
            (operands, vec![before.iter().copied().collect()])
        }
        _ => {
            let poisoned = problem.outputs.iter().map(|elems| vec![f64::NAN; *elems]);
            (operands.as_slice(), poisoned.collect::<Vec<Vec<f64>>>())
        }
    };
    let buffers = upload(stream, problem, operands)?;
    let mut runs: Vec<Vec<Vec<f64>>> = Vec::new();
    for _ in 0..2 {
        let held = before.iter().map(|before| Memory::upload(stream, problem.out, before));
        let mut outputs: Vec<Memory> = held.collect::<Result<_, _>>()?;
        launch(stream, &buffers, &mut outputs)?;
        let downloaded = outputs.iter().map(|output| output.download(stream));
        runs.push(downloaded.collect::<Result<_, _>>()?);
    }
    let bits = |run: &[Vec<f64>]| -> Vec<u64> {
        run.iter().flatten().map(|value| value.to_bits()).collect()
    };
    if bits(&runs[0]) != bits(&runs[1]) {
        return Ok(format!("{}: two runs differ", case.name));
    }
    let compared = runs[0].iter().zip(&references).enumerate();
    let said = compared.map(|(position, (got, reference))| {
        let wrong = verdict(got, reference, problem, data);
        if wrong.is_empty() { wrong } else { format!("output {position}: {wrong}") }
    });
    Ok(said.filter(|wrong| !wrong.is_empty()).collect::<Vec<_>>().join("; "))
}

/// What is wrong with an output, or nothing.
pub fn verdict(got: &[f64], reference: &Evaluation, problem: &Problem, data: Fill) -> String {
    if got.len() != reference.values.len() {
        return format!("{} elements for {}", got.len(), reference.values.len());
    }
    if data == Fill::Hash && problem.is_sum_of_products() {
        let exact = reference.rounded();
        let wrong = got.iter().zip(&exact).filter(|(got, exact)| got != exact).count();
        return if wrong == 0 { String::new() } else { format!("{wrong} elements differ") };
    }
    let comparison = mage::tolerance::compare(got, reference);
    if comparison.passes() { String::new() } else { format!("{comparison:?}") }
}

/// What a problem's kernel reads: operand k with seed k, then what an output that is added to
/// holds. The values are those that the element types have.
pub fn operands(problem: &Problem, data: Fill) -> Result<Vec<ArrayD<f64>>, Error> {
    let mut operands = Vec::new();
    for (seed, (dtype, shape)) in (0_u32..).zip(&problem.given) {
        let values = fill_as(*dtype, data, seed, shape.iter().product());
        operands.push(ArrayD::from_shape_vec(IxDyn(shape), values)?);
    }
    Ok(operands)
}

/// The operands on the device.
pub fn upload(
    stream: &CudaStream,
    problem: &Problem,
    operands: &[ArrayD<f64>],
) -> Result<Vec<Memory>, Error> {
    let mut buffers = Vec::new();
    for (operand, (dtype, _)) in operands.iter().zip(&problem.given) {
        let values: Vec<f64> = operand.iter().copied().collect();
        buffers.push(Memory::upload(stream, *dtype, &values)?);
    }
    Ok(buffers)
}
