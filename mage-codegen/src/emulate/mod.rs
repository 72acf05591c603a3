//! The emulator: what the kernel IR means, as a strict and deterministic interpreter on the CPU.
//! It takes a module of level 4, runs the host's steps, then every block of every launch with all
//! threads in step under a mask. What a correct kernel never does is a [`Trap`] that names kernel,
//! block, thread, statement and element. [`count`] measures what one block asks of the memories.
//!
//! Reading order: `host` decides the launches, `compile` turns a kernel into a `program`, `block`
//! runs it.

mod failure;
mod arguments;
mod indices;
mod facts;
mod host;
mod program;
mod compile;
mod mask;
mod copies;
mod index;
mod lanes;
mod registers;
mod shared;
mod global;
mod workspace;
mod count;
mod block;

use mage_einsum::diagnostic::Code;

use crate::kernel::{BufferId, BufferUse, IndexUse, Module};

use block::Block;
use compile::compile;
use facts::Facts;
use global::{Contents, GlobalBuffer};
use host::Planned;

pub use arguments::{Arguments, Input, Output};
pub use count::{Counts, GlobalCounts, SharedCounts};
pub use failure::{Failure, HostFailure, Trap};

/// A finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The outputs in their order, every element of which some thread wrote, rounded to the output's
    /// type.
    pub outputs: Vec<Vec<f64>>,
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
    let facts = arguments::facts(module, arguments)?;
    let planned = host::plan(&facts)?;
    arguments::hold_values(module, arguments)?;
    indices::check(&facts, arguments)?;
    let workspace = arguments::workspace(&facts);
    let mut global = arguments::buffers(&facts, arguments, &workspace);
    let n_blocks = planned.iter().map(|planned| planned.launched.blocks).sum();
    let mut n_done = 0;
    for (position, planned) in planned.iter().enumerate() {
        workspace.starts(position);
        run_launch(module, planned, &mut global, &mut || {
            n_done += 1;
            progress(n_done, n_blocks);
        })?;
    }
    Ok(Run {
        outputs: outputs(module, &planned, global)?,
        launches: planned.into_iter().map(|planned| planned.launched).collect(),
    })
}

/// The launches that the host decides on where every buffer is as long as it must be, without
/// running them. `byte_alignments` has one number a buffer of the module.
pub fn plan(
    module: &Module,
    extents: &[u64],
    byte_alignments: &[u64],
) -> Result<Vec<Launched>, Failure> {
    let facts = Facts::as_required(module, extents, byte_alignments);
    Ok(host::plan(&facts)?.into_iter().map(|planned| planned.launched).collect())
}

/// Elements of the workspace with which a launch is as fast as it can be at these extents; none
/// where they are more than 64 bits can say, and 0 where the module has no workspace.
pub fn workspace_elems(module: &Module, extents: &[u64]) -> Option<u64> {
    match &module.workspace {
        Some(workspace) => host::value(extents, &workspace.elems),
        None => Some(0),
    }
}

/// Elements of the workspace without which a launch is refused: those of the temporaries.
pub fn least_workspace_elems(module: &Module, extents: &[u64]) -> Option<u64> {
    match &module.workspace {
        Some(workspace) => host::value(extents, &workspace.least_elems),
        None => Some(0),
    }
}

/// Which block [`count`] runs, and on what.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    /// One extent a label of the module.
    pub extents: &'a [u64],
    /// For each buffer of the module the bytes that its address is a multiple of.
    pub byte_alignments: &'a [u64],
    /// Which of the launches that the host decides on, from 0.
    pub launch: usize,
    /// The block in the grid of that launch.
    pub block: u64,
}

/// Runs one block on operands of ones, of any size because they are not kept, and counts what it
/// asks of the memories.
pub fn count(module: &Module, sample: &Sample<'_>) -> Result<Counts, Failure> {
    let facts = Facts::as_required(module, sample.extents, sample.byte_alignments);
    let planned = host::plan(&facts)?;
    let is_there = |planned: &&Planned| sample.block < planned.launched.blocks;
    let Some(planned) = planned.get(sample.launch).filter(is_there) else {
        let message = format!("launch {} has no block {}", sample.launch, sample.block);
        return Err(HostFailure { code: Code::LaunchLimit, message }.into());
    };
    let lengths = facts.lengths.iter().zip(&facts.byte_alignments);
    let mut global: Vec<GlobalBuffer<'_>> = module
        .buffers
        .iter()
        .enumerate()
        .zip(lengths)
        .map(|((position, buffer), (len, byte_alignment))| {
            let contents = match buffer.usage {
                BufferUse::Read => Contents::ReadNothing(*len),
                BufferUse::Index | BufferUse::Listed => {
                    some_indices(&facts, BufferId(position), *len)
                }
                BufferUse::Write => Contents::WriteNothing(*len),
                BufferUse::WriteRead
                | BufferUse::Update
                | BufferUse::Temp
                | BufferUse::Register
                | BufferUse::Workspace => Contents::KeepNothing(*len),
            };
            GlobalBuffer::new(buffer, *byte_alignment, contents)
        })
        .collect();
    let program = compile(module, &module.kernels[planned.launched.kernel]);
    let mut block = Block::new(&program, &mut global);
    let counted = block.count(sample.block, &planned.params);
    counted.map_err(|fault| trap(&program.name, sample.block, block.place(), *fault).into())
}

/// Contents of an index buffer that only have to be possible.
fn some_indices<'a>(facts: &Facts<'_>, buffer: BufferId, len: u64) -> Contents<'a> {
    let bound = facts.bound(buffer).unwrap_or(0);
    match facts.module.buffers[buffer.0].index {
        Some(IndexUse::Pointers { .. }) => Contents::SomePointers { len, end: bound },
        Some(IndexUse::Below(_) | IndexUse::Parts { .. }) | None => {
            Contents::SomeIndices { len, below: bound }
        }
    }
}

fn run_launch(
    module: &Module,
    planned: &Planned,
    global: &mut [GlobalBuffer<'_>],
    block_done: &mut dyn FnMut(),
) -> Result<(), Trap> {
    let Planned { launched, params } = planned;
    let program = compile(module, &module.kernels[launched.kernel]);
    let mut block = Block::new(&program, global);
    for position in 0..launched.blocks {
        block
            .run(position, params)
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

/// The written outputs; a trap where an element has no value.
fn outputs(
    module: &Module,
    planned: &[Planned],
    global: Vec<GlobalBuffer<'_>>,
) -> Result<Vec<Vec<f64>>, Trap> {
    let kernel = planned.last().and_then(|last| module.kernels.get(last.launched.kernel));
    let never = |element: String| Trap {
        kernel: kernel.map_or_else(String::new, |kernel| kernel.name.clone()),
        block: None,
        thread: None,
        statement: String::new(),
        message: format!("output element {element} is never written"),
    };
    let written = global.into_iter().filter_map(GlobalBuffer::into_output);
    written.collect::<Result<_, _>>().map_err(never)
}
