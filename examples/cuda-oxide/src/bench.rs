//! Times kernels: the span between two events around a batch of launches, divided by their
//! number, with the operands warm in the L2 cache where they fit. `bench.py` takes the peers by
//! the same method and joins the two.

use cuda_core::{CudaContext, CudaStream};
use mage::fill::Fill;

use crate::Error;
use crate::case::{CASES, Case, Launch, Problem};
use crate::check::{operands, upload};
use crate::memory::Memory;

/// A piece of work: a kernel and the extents it is timed at, in the order of its labels.
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
];

/// Launches of one sample: enough that a sample takes about 2 ms, so that the gap between the
/// events and the first launch does not count.
const SAMPLE_SECONDS: f64 = 2e-3;

/// Samples of one measurement.
const SAMPLES: usize = 15;

/// Times everything whose name contains `filter`; prints one JSON line a measurement.
pub fn run(filter: Option<&str>) -> Result<bool, Error> {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    for (name, extents) in WORK {
        if filter.is_some_and(|filter| !name.contains(filter)) {
            continue;
        }
        let Some(case) = CASES.iter().find(|case| case.name == *name) else {
            return Err(format!("no kernel is named {name}").into());
        };
        let launch = (case.bind)(&context, extents)?;
        println!("{}", measure(case, extents, &stream, &launch)?);
    }
    Ok(true)
}

fn measure(
    case: &Case,
    extents: &[usize],
    stream: &CudaStream,
    launch: &Launch,
) -> Result<String, Error> {
    let problem = case.problem(extents)?;
    let buffers = upload(stream, &problem, &operands(&problem, Fill::Normal)?)?;
    time(case, extents, stream, launch, (&problem, &buffers))
}

/// The same with operands that lie on the device.
pub fn time(
    case: &Case,
    extents: &[usize],
    stream: &CudaStream,
    launch: &Launch,
    (problem, buffers): (&Problem, &[Memory]),
) -> Result<String, Error> {
    let mut out = Memory::upload(stream, problem.out, &vec![0.0; problem.n_outputs])?;
    let mut batch = |launches: usize| -> Result<f64, Error> {
        let timed = Some(cuda_core::sys::CUevent_flags_enum_CU_EVENT_DEFAULT);
        let start = stream.record_event(timed)?;
        for _ in 0..launches {
            launch(stream, buffers, &mut out)?;
        }
        let end = stream.record_event(timed)?;
        Ok(f64::from(start.elapsed_ms(&end)?) / 1e3 / launches as f64)
    };
    batch(3)?;
    let launches = (SAMPLE_SECONDS / batch(3)?).ceil().clamp(1.0, 500.0) as usize;
    let mut samples_us = Vec::new();
    for _ in 0..SAMPLES {
        samples_us.push(format!("{:.3}", batch(launches)? * 1e6));
    }
    Ok(format!(
        "{{\"name\":\"{}\",\"notation\":\"{}\",\"options\":\"{}\",\"source_hash\":\"{}\",\
         \"extents\":{extents:?},\"flops\":{:.0},\"launches_a_sample\":{launches},\
         \"samples_us\":[{}]}}",
        case.name,
        case.notation,
        case.options,
        case.source_hash,
        problem.flops,
        samples_us.join(",")
    ))
}
