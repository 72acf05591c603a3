//! Times kernels: batches of launches that are replayed one after another, with the operands warm in
//! the L2 cache where they fit. `bench.py` takes the peers by the same method and joins the two.

use std::sync::Arc;

use cuda_core::{CudaContext, CudaStream};
use mage::fill::{Fill, fill};

use crate::Error;
use crate::case::CASES;
use crate::graph::Degrees;
use crate::memory::Memory;
use crate::names::Names;
use crate::problem::Problem;
use crate::replay::Replay;

/// A piece of work: a kernel and what it is timed at.
pub struct Work<'a> {
    /// The kernel's name.
    pub name: &'a str,
    /// The extents in the order of its labels.
    pub extents: &'a [usize],
    /// How its graph's degrees are spread, where it has one.
    pub degrees: Option<Degrees>,
}

/// Kernels, and the extents they are timed at in the order of their labels.
const WORK: &[(&str, &[usize])] = &[
    ("matmul_128x64", &[1024, 1024, 1024]),
    ("matmul_128", &[1024, 1024, 1024]),
    ("matmul_64x128", &[1024, 1024, 1024]),
    ("matmul_64", &[1024, 1024, 1024]),
    ("matmul_128x32", &[1024, 1024, 1024]),
    ("matmul_16x128", &[1024, 1024, 1024]),
    ("matmul_128", &[1021, 1023, 1021]),
    ("matmul_128x64", &[1021, 1023, 1021]),
    ("matmul_64", &[1021, 1023, 1021]),
    ("matmul_128x32", &[1021, 1023, 1021]),
    ("matmul_16x128", &[1021, 1023, 1021]),
    ("matmul_128", &[2047, 1023, 2047]),
    ("matmul_128x64", &[2047, 1023, 2047]),
    ("matmul_64", &[2047, 1023, 2047]),
    ("matmul_128x32", &[2047, 1023, 2047]),
    ("matmul_16x128", &[2047, 1023, 2047]),
    ("matmul_64", &[509, 1023, 509]),
    ("matmul_128x32", &[509, 1023, 509]),
    ("matmul_16x128", &[253, 1023, 509]),
    ("matmul_128", &[2048, 2048, 2048]),
    ("matmul_128", &[4096, 4096, 4096]),
    ("matmul_128", &[8192, 8192, 8192]),
    ("matmul_128", &[1023, 1027, 1025]),
    ("matmul_64", &[1023, 1027, 1025]),
    ("matmul_128", &[4095, 4095, 4095]),
    ("matmul_128", &[4097, 4101, 4099]),
    ("matmul_64", &[2048, 2048, 2048]),
    ("matmul_128x64", &[2048, 2048, 2048]),
    ("matmul", &[512, 512, 512]),
    ("matmul", &[1024, 1024, 1024]),
    ("matmul", &[1023, 1027, 1025]),
    ("matmul", &[1152, 1152, 1152]),
    ("matmul", &[1536, 1536, 1536]),
    ("matmul", &[2048, 2048, 2048]),
    ("matmul", &[2052, 2052, 2052]),
    ("matmul", &[4096, 4096, 4096]),
    ("matmul", &[4100, 4100, 4100]),
    ("matmul", &[64, 4096, 4096]),
    ("matmul", &[64, 65536, 64]),
    ("matmul", &[4096, 4096, 16]),
    ("matmul", &[16, 4096, 4096]),
    ("matmul", &[4095, 4095, 15]),
    ("matmul", &[15, 4095, 4095]),
    ("matmul", &[4096, 4096, 32]),
    ("matmul", &[32, 4096, 4096]),
    ("matmul", &[16384, 4096, 16]),
    ("matmul", &[65536, 64, 16]),
    ("matmul", &[16, 64, 65536]),
    ("matmul_nt", &[4096, 4096, 4096]),
    ("matmul_tn", &[4096, 4096, 4096]),
    ("matmul_tt", &[4096, 4096, 4096]),
    ("batched", &[64, 512, 512, 512]),
    ("batched", &[512, 128, 128, 128]),
    ("batched_family", &[64, 512, 512, 512]),
    ("batched_family", &[512, 128, 128, 128]),
    ("attention_scores_family", &[8, 16, 2048, 64, 2048]),
    ("four_modes", &[64, 64, 32, 64, 64, 64]),
    ("triangle", &[128, 128, 32, 128]),
    ("triangle", &[256, 256, 128, 256]),
    ("triangle", &[512, 512, 128, 512]),
    ("triangle_outgoing", &[128, 128, 32, 128]),
    ("triangle_outgoing", &[256, 256, 128, 256]),
    ("triangle_outgoing_64", &[256, 256, 128, 256]),
    ("triangle_outgoing_64", &[512, 512, 128, 512]),
    ("triangle_incoming", &[256, 256, 128, 256]),
    ("matrix_vector", &[16384, 16384]),
    ("vector_matrix", &[16384, 16384]),
    ("row_sums", &[16384, 16384]),
    ("column_sums", &[16384, 16384]),
    ("transpose", &[16384, 16384]),
    ("dot", &[67108864]),
    ("chain", &[2048, 2048, 2048, 2048]),
    ("matmul_bf16", &[2048, 2048, 2048]),
    ("matmul_bf16", &[4096, 4096, 4096]),
    ("matmul_bf16", &[8192, 8192, 8192]),
    ("matmul_bf16_nt", &[4096, 4096, 4096]),
    ("matmul_bf16_tn", &[4096, 4096, 4096]),
    ("matmul_bf16_tt", &[4096, 4096, 4096]),
    ("matmul_bf16_to_f32", &[4096, 4096, 4096]),
    ("matmul_bf16_to_f32_128", &[4096, 4096, 4096]),
    ("matmul_bf16_family", &[512, 512, 512]),
    ("matmul_bf16_family", &[1024, 1024, 1024]),
    ("matmul_bf16_family", &[1023, 1027, 1025]),
    ("matmul_bf16_family", &[4096, 4096, 4096]),
    ("matmul_f16", &[1024, 1024, 1024]),
    ("matmul_f16", &[4096, 4096, 4096]),
    ("matmul_f16_128", &[1024, 1024, 1024]),
    ("matmul_f16_128", &[4096, 4096, 4096]),
    ("matmul_tf32", &[2048, 2048, 2048]),
    ("matmul_tf32", &[4096, 4096, 4096]),
    ("matmul_tf32", &[8192, 8192, 8192]),
    ("matmul_tf32_nt", &[4096, 4096, 4096]),
    ("matmul_tf32_tn", &[4096, 4096, 4096]),
    ("matmul_tf32_tt", &[4096, 4096, 4096]),
    ("matmul_tf32_64", &[1024, 1024, 1024]),
    ("attention_scores_bf16", &[8, 16, 2048, 64, 2048]),
    ("bias_gelu", &[16384, 4096]),
    ("bias_gelu", &[4096, 768]),
    ("layer_norm", &[16384, 4096]),
    ("layer_norm", &[4096, 768]),
    ("layer_norm", &[4096, 4096]),
    ("layer_norm", &[4096, 257]),
    ("layer_norm", &[2048, 65536]),
    ("softmax", &[16384, 4096]),
    ("softmax", &[16384, 8192]),
    ("rms_norm", &[16384, 4096]),
    ("mlp", &[4096, 4096, 4096]),
    ("mlp_128", &[4096, 4096, 4096]),
];

/// Those that have a graph: rows, edges, features and nodes.
const GRAPHS: &[(&str, &[usize], Degrees)] = &[
    ("neighbours", &[100_000, 1_600_000, 128, 100_000], Degrees::Even),
    ("neighbours", &[100_000, 1_600_000, 128, 100_000], Degrees::Power),
    ("neighbours", &[4096, 65536, 64, 4096], Degrees::Even),
    ("neighbours", &[4096, 65536, 64, 4096], Degrees::Giant),
];

/// A sample takes about so long, so that the start of a batch does not count.
const SAMPLE_SECONDS: f64 = 2e-3;

/// Samples of one measurement.
const SAMPLES: usize = 15;

/// Different values of an operand, which are repeated: what they are does not change the time.
const VALUES: usize = 1 << 20;

/// Times everything that is named; prints one JSON line a measurement.
pub fn run(names: Names<'_>) -> Result<bool, Error> {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let plain = WORK.iter().map(|(name, extents)| Work { name, extents, degrees: None });
    let graphs = GRAPHS.iter().map(|(name, extents, degrees)| {
        let degrees = Some(*degrees);
        Work { name, extents, degrees }
    });
    for work in plain.chain(graphs).filter(|work| names.take(work.name)) {
        println!("{}", measure(&work, &context, &stream)?);
    }
    Ok(true)
}

/// Times a piece of work: a line of JSON.
pub fn measure(
    work: &Work<'_>,
    context: &Arc<CudaContext>,
    stream: &CudaStream,
) -> Result<String, Error> {
    let Some(case) = CASES.iter().find(|case| case.name == work.name) else {
        return Err(format!("no kernel is named {}", work.name).into());
    };
    let problem = case.problem(work.extents)?;
    let problem = match work.degrees {
        Some(degrees) => problem.with_degrees(degrees),
        None => problem,
    };
    let launch = case.launch(context, work.extents, &problem)?;
    let operands = operands(stream, &problem)?;
    let output = |elems: &usize| Memory::upload(stream, problem.out, &vec![0.0; *elems]);
    let mut outputs: Vec<Memory> = problem.outputs.iter().map(output).collect::<Result<_, _>>()?;
    let (launches, samples_us) = time(stream, || launch(stream, &operands, &mut outputs))?;
    let degrees = work.degrees.map_or("", Degrees::name);
    let samples_us: Vec<String> = samples_us.iter().map(|us| format!("{us:.3}")).collect();
    Ok(format!(
        "{{\"name\":\"{}\",\"notation\":\"{}\",\"options\":\"{}\",\"source_hash\":\"{}\",\
         \"extents\":{:?},\"degrees\":\"{degrees}\",\"flops\":{:.0},\"bytes\":{},\
         \"launches_a_sample\":{launches},\"samples_us\":[{}]}}",
        case.name,
        case.notation,
        case.options,
        case.source_hash,
        work.extents,
        problem.flops,
        problem.bytes,
        samples_us.join(",")
    ))
}

/// Launches of a sample, and for each sample the microseconds a launch.
fn time(
    stream: &CudaStream,
    mut launch: impl FnMut() -> Result<(), Error>,
) -> Result<(usize, Vec<f64>), Error> {
    // The first launch is not captured: what the driver loads late it loads here.
    launch()?;
    let trial = Replay::new(stream, 3, &mut launch)?.seconds()?;
    let launches = (SAMPLE_SECONDS / trial).ceil().clamp(1.0, 500.0) as usize;
    let replay = Replay::new(stream, launches, &mut launch)?;
    let samples = (0..SAMPLES).map(|_| Ok(replay.seconds()? * 1e6));
    Ok((launches, samples.collect::<Result<_, Error>>()?))
}

/// Operands on the device.
fn operands(stream: &CudaStream, problem: &Problem) -> Result<Vec<Memory>, Error> {
    let values: Vec<f64> = fill(Fill::Normal, 0, VALUES);
    let mut buffers = Vec::new();
    for (dtype, shape) in &problem.given {
        let values = values.iter().copied().cycle().take(shape.iter().product());
        buffers.push(Memory::upload(stream, *dtype, &values.collect::<Vec<f64>>())?);
    }
    Ok(buffers)
}
