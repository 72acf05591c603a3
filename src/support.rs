//! What the expansion of `einsum_kernel!` calls. Not for people: its names may change with any
//! version of the macro.

use mage_codegen::emit;
use mage_codegen::emulate::{self, Arguments, Input};
use mage_codegen::kernel::{BufferUse, Module};
use mage_codegen::pipeline::{self, Levels};
use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::Diagnostics;
use mage_einsum::oracle::Evaluation;
use mage_einsum::spec::Spec;
use mage_einsum::view::Stored;
use mage_einsum::{index, oracle, spec};
use ndarray::ArrayViewD;

use crate::EmulateError;

/// The alignment of a buffer from the driver, so that the emulator takes the variant that a GPU
/// would (CUDA C++ Programming Guide, Device Memory Accesses: at least 256 bytes).
const BYTE_ALIGNMENT: u64 = 256;

/// What a macro embedded to be recompiled.
#[derive(Debug, Clone, Copy)]
pub struct Embedded<'a> {
    /// The notation, as written.
    pub notation: &'a str,
    /// The canonical options.
    pub options: &'a str,
    /// Hash of the source that the macro emitted.
    pub source_hash: &'a str,
}

/// Evaluates a specification on operands.
///
/// # Errors
///
/// When the operands' shapes do not fit the notation.
pub fn reference(
    notation: &str,
    options: &str,
    operands: &[ArrayViewD<'_, f32>],
) -> Result<Evaluation, Diagnostics> {
    let spec = read(notation, options)?;
    let program = index::lower(&spec.notation, &spec.options)?;
    oracle::evaluate(&program, operands)
}

/// Recompiles a specification, compares the source, and runs the kernel in the emulator.
///
/// # Errors
///
/// As [`EmulateError`] says.
pub fn emulate(
    embedded: &Embedded<'_>,
    extents: &[usize],
    operands: &[&[f32]],
) -> Result<Vec<f32>, EmulateError> {
    let levels = recompiled(embedded)?;
    let extents: Vec<u64> = extents.iter().map(|extent| *extent as u64).collect();
    let input = |data| Input { data, view: None, byte_alignment: BYTE_ALIGNMENT };
    let inputs: Vec<Input<'_>> = operands.iter().copied().map(input).collect();
    run(&levels.module, &extents, &inputs)
}

/// The same for a specification with `strides = runtime`: operands lie as their views say.
///
/// # Errors
///
/// As [`EmulateError`] says.
pub fn emulate_views(
    embedded: &Embedded<'_>,
    operands: &[ArrayViewD<'_, f32>],
) -> Result<Vec<f32>, EmulateError> {
    let levels = recompiled(embedded)?;
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.shape()).collect();
    let bound = Extents::from_shapes(&levels.program, &shapes).map_err(EmulateError::Operands)?;
    let labels = levels.module.labels.iter();
    let extents: Vec<u64> = labels.map(|label| bound.get(&label.name).unwrap_or(0)).collect();
    let stored: Vec<Stored<f32>> =
        operands.iter().map(|operand| Stored::of(operand, f32::NAN)).collect();
    let inputs: Vec<Input<'_>> = stored
        .iter()
        .map(|Stored { data, view }| Input {
            data,
            view: Some(view),
            byte_alignment: BYTE_ALIGNMENT,
        })
        .collect();
    run(&levels.module, &extents, &inputs)
}

fn recompiled(embedded: &Embedded<'_>) -> Result<Levels, EmulateError> {
    let levels = read(embedded.notation, embedded.options)
        .map_err(pipeline::Error::Mistakes)
        .and_then(|spec| pipeline::compile(&spec))
        .map_err(EmulateError::Compile)?;
    let compiled = emit::hash(&levels.source);
    if compiled == embedded.source_hash {
        return Ok(levels);
    }
    let embedded = embedded.source_hash.to_owned();
    Err(EmulateError::OtherSource { embedded, compiled })
}

fn run(module: &Module, extents: &[u64], inputs: &[Input<'_>]) -> Result<Vec<f32>, EmulateError> {
    let arguments = Arguments {
        extents,
        inputs,
        output_len: output_len(module, extents),
        output_byte_alignment: BYTE_ALIGNMENT,
        workspace_len: None,
        workspace_byte_alignment: BYTE_ALIGNMENT,
    };
    let run = emulate::run(module, &arguments).map_err(EmulateError::Failure)?;
    Ok(run.output)
}

fn read(notation: &str, options: &str) -> Result<Spec, Diagnostics> {
    // A notation that was parsed has no character that the literal would have to escape.
    spec::parse_invocation(&format!("\"{notation}\", {options}"))
}

/// Elements of the output. Where the product leaves 64 bits the host's own check refuses it.
fn output_len(module: &Module, extents: &[u64]) -> usize {
    let output = module.buffers.iter().find(|buffer| buffer.usage == BufferUse::Write);
    let dims = output.map_or(&[][..], |buffer| &buffer.dims);
    let product = dims.iter().fold(1_u64, |product, label| product.saturating_mul(extents[*label]));
    usize::try_from(product).unwrap_or(usize::MAX)
}
