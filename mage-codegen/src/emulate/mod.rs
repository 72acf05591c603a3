//! The emulator: what the kernel IR means, as a strict and deterministic interpreter on the CPU.
//! It takes a module of level 4, runs the host's steps, then every block of every launch with all
//! threads in step under a mask. What a correct kernel never does is a [`Trap`] that names kernel,
//! block, thread, statement and element. [`count`] measures what one block asks of the memories.
//!
//! Reading order: `host` decides the launches, `compile` turns a kernel into a `program`, `block`
//! runs it.

mod failure;
mod host;
mod program;
mod compile;
mod mask;
mod index;
mod lanes;
mod registers;
mod shared;
mod global;
mod count;
mod block;

use crate::kernel::{Buffer, BufferUse, Module};

use block::Block;
use compile::compile;
use global::{Contents, GlobalBuffer};
use host::{Facts, Planned, plan};

pub use count::{Counts, GlobalCounts, SharedCounts};
pub use failure::{Failure, HostFailure, Trap};

/// An operand of the call.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The elements, row-major.
    pub data: &'a [f32],
    /// Bytes that the emulated address is a multiple of: 16 normally, 4 for a view that starts
    /// anywhere.
    pub byte_alignment: u64,
}

/// What a module is run on.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    /// One extent a label of the module.
    pub extents: &'a [u64],
    /// The operands in order.
    pub inputs: &'a [Input<'a>],
    /// Elements of the output buffer.
    pub output_len: usize,
    /// Bytes that the output's emulated address is a multiple of.
    pub output_byte_alignment: u64,
}

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The output, every element of which some thread wrote.
    pub output: Vec<f32>,
    /// What was launched, in order.
    pub launches: Vec<Launched>,
}

/// A launch that the host decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launched {
    /// Position in `Module::kernels`.
    pub kernel: usize,
    /// Names of the arms of selects taken on the way, joined by `/`; empty where there is none.
    pub arm: String,
    /// Blocks of the grid.
    pub blocks: u64,
}

/// Runs the module.
pub fn run(module: &Module, arguments: &Arguments<'_>) -> Result<Run, Failure> {
    run_observed(module, arguments, &mut |_, _| ())
}

/// Runs the module; `progress` is told after each block how many of all blocks are done.
pub fn run_observed(
    module: &Module,
    arguments: &Arguments<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Run, Failure> {
    let mut lengths: Vec<u64> =
        arguments.inputs.iter().map(|input| input.data.len() as u64).collect();
    lengths.push(arguments.output_len as u64);
    let mut byte_alignments: Vec<u64> =
        arguments.inputs.iter().map(|input| input.byte_alignment).collect();
    byte_alignments.push(arguments.output_byte_alignment);
    let facts = Facts { module, extents: arguments.extents, lengths, byte_alignments };
    let planned = host_plan(&facts)?;

    let mut global = buffers(module, arguments);
    let n_blocks = planned.iter().map(|launch| launch.blocks).sum();
    let mut n_done = 0;
    for launch in &planned {
        run_launch(module, launch, &mut global, &mut || {
            n_done += 1;
            progress(n_done, n_blocks);
        })?;
    }
    Ok(Run {
        output: output(module, &planned, global)?,
        launches: planned
            .into_iter()
            .map(|Planned { kernel, arm, blocks, params: _ }| Launched { kernel, arm, blocks })
            .collect(),
    })
}

/// Which block [`count`] runs, and on what.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// One extent a label of the module.
    pub extents: &'a [u64],
    /// For each buffer, the output last, the bytes that its address is a multiple of.
    pub byte_alignments: &'a [u64],
    /// Which of the launches that the host decides on, from 0.
    pub launch: usize,
    /// The block in the grid of that launch.
    pub block: u64,
}

/// Runs one block on operands of ones, of any size because they are not kept, and counts what it
/// asks of the memories.
pub fn count(module: &Module, sample: &Sample<'_>) -> Result<Counts, Failure> {
    let lengths = module
        .buffers
        .iter()
        .map(|buffer| length(buffer, sample.extents))
        .collect::<Result<Vec<u64>, HostFailure>>()?;
    let facts = Facts {
        module,
        extents: sample.extents,
        lengths: lengths.clone(),
        byte_alignments: sample.byte_alignments.to_vec(),
    };
    let planned = host_plan(&facts)?;
    let launch = planned
        .get(sample.launch)
        .filter(|launch| sample.block < launch.blocks)
        .ok_or_else(|| HostFailure {
            message: format!("launch {} has no block {}", sample.launch, sample.block),
        })?;
    let mut global: Vec<GlobalBuffer<'_>> = module
        .buffers
        .iter()
        .zip(&lengths)
        .zip(sample.byte_alignments)
        .map(|((buffer, len), byte_alignment)| {
            let contents = match buffer.usage {
                BufferUse::Read => Contents::ReadNothing(*len),
                BufferUse::Write => Contents::WriteNothing(*len),
            };
            GlobalBuffer::new(buffer.ident.clone(), *byte_alignment, contents)
        })
        .collect();
    let program = compile(module, &module.kernels[launch.kernel]);
    let mut block = Block::new(&program, &mut global);
    let counted = block.count(sample.block, &launch.params);
    counted.map_err(|fault| trap(&program.name, sample.block, block.place(), *fault).into())
}

fn length(buffer: &Buffer, extents: &[u64]) -> Result<u64, HostFailure> {
    buffer
        .dims
        .iter()
        .try_fold(1_u64, |product, label| product.checked_mul(*extents.get(*label)?))
        .ok_or_else(|| HostFailure { message: format!("`{}` is too large", buffer.name) })
}

fn host_plan(facts: &Facts<'_>) -> Result<Vec<Planned>, Failure> {
    let asked = [
        ("extents", "labels", facts.extents.len(), facts.module.labels.len()),
        ("buffers given", "buffers", facts.lengths.len(), facts.module.buffers.len()),
        ("alignments", "buffers", facts.byte_alignments.len(), facts.module.buffers.len()),
    ];
    for (given, wanted, n_given, n_wanted) in asked {
        if n_given != n_wanted {
            let message = format!("{n_given} {given} for {n_wanted} {wanted}");
            return Err(Failure::Host(HostFailure { message }));
        }
    }
    Ok(plan(facts)?)
}

fn buffers<'a>(module: &Module, arguments: &Arguments<'a>) -> Vec<GlobalBuffer<'a>> {
    let mut inputs = arguments.inputs.iter();
    module
        .buffers
        .iter()
        .map(|buffer| {
            let (contents, byte_alignment) = match (buffer.usage, inputs.next()) {
                (BufferUse::Read, Some(input)) => {
                    (Contents::Read(input.data), input.byte_alignment)
                }
                (BufferUse::Read, None) => (Contents::Read(&[]), 4),
                (BufferUse::Write, _) => {
                    let (data, written) =
                        (vec![0.0; arguments.output_len], vec![false; arguments.output_len]);
                    (Contents::Write { data, written }, arguments.output_byte_alignment)
                }
            };
            GlobalBuffer::new(buffer.ident.clone(), byte_alignment, contents)
        })
        .collect()
}

fn run_launch(
    module: &Module,
    launch: &Planned,
    global: &mut [GlobalBuffer<'_>],
    block_done: &mut dyn FnMut(),
) -> Result<(), Trap> {
    let program = compile(module, &module.kernels[launch.kernel]);
    let mut block = Block::new(&program, global);
    for position in 0..launch.blocks {
        block
            .run(position, &launch.params)
            .map_err(|fault| trap(&program.name, position, block.place(), *fault))?;
        block_done();
    }
    Ok(())
}

fn trap(kernel: &str, block: u64, statement: &str, fault: failure::Fault) -> Trap {
    Trap {
        kernel: kernel.to_string(),
        block: Some(block),
        thread: fault.lane.and_then(|lane| u32::try_from(lane).ok()),
        statement: statement.to_string(),
        message: fault.message,
    }
}

/// The written output; a trap where an element has no value.
fn output(
    module: &Module,
    planned: &[Planned],
    global: Vec<GlobalBuffer<'_>>,
) -> Result<Vec<f32>, Trap> {
    let kernel = planned.last().and_then(|launch| module.kernels.get(launch.kernel));
    let never = |element: String| Trap {
        kernel: kernel.map_or_else(String::new, |kernel| kernel.name.clone()),
        block: None,
        thread: None,
        statement: String::new(),
        message: format!("output element {element} is never written"),
    };
    let written = global.into_iter().find_map(GlobalBuffer::into_output);
    written.unwrap_or(Ok(Vec::new())).map_err(never)
}
