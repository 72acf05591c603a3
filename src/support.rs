//! What the expansion of `einsum_kernel!` calls. Not for people: its names may change with any
//! version of the macro.

use mage_codegen::emit;
use mage_codegen::emulate::{self, Arguments, Input, Output};
use mage_codegen::kernel::{Buffer, BufferId};
use mage_codegen::pipeline::{self, Levels};
use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics};
use mage_einsum::dtype::Element;
use mage_einsum::oracle::Evaluation;
use mage_einsum::spec::Spec;
use mage_einsum::view::{Stored, View};
use mage_einsum::{index, oracle, spec};
use ndarray::{ArrayD, ArrayViewD};

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

/// Evaluates a specification of `N` outputs on operands and index operands, added to what the output
/// held where there is that.
///
/// # Errors
///
/// When the operands' shapes do not fit the notation.
pub fn reference<T: Element, O: Element, const N: usize>(
    notation: &str,
    options: &str,
    (operands, indices): (&[ArrayViewD<'_, T>], &[ArrayViewD<'_, u32>]),
    before: Option<ArrayViewD<'_, O>>,
) -> Result<[Evaluation; N], Diagnostics> {
    let spec = read(notation, options)?;
    let program = index::lower(&spec.notation, &spec.options)?;
    let Some(before) = before else {
        return all(oracle::evaluate_indexed(&program, operands, indices)?);
    };
    // One array type for both: every value is exact in f64.
    let mut arrays: Vec<ArrayD<f64>> =
        operands.iter().map(|operand| operand.mapv(T::to_f64)).collect();
    arrays.push(before.mapv(O::to_f64));
    let views: Vec<ArrayViewD<'_, f64>> = arrays.iter().map(|array| array.view()).collect();
    all(oracle::evaluate_indexed(&program, &views, indices)?)
}

/// As many outputs as the macro found, which has read the same specification.
fn all<O, const N: usize>(outputs: Vec<O>) -> Result<[O; N], Diagnostics> {
    outputs.try_into().map_err(|outputs: Vec<O>| {
        let message = format!("{} outputs where the macro found {N}", outputs.len());
        Diagnostic::new(Code::OperandCount, message).into()
    })
}

/// Recompiles a specification of `N` outputs, compares the source, and runs the kernel in the
/// emulator; `before` is what the output held, looked at only where the specification adds to it.
///
/// # Errors
///
/// As [`EmulateError`] says.
pub fn emulate<T: Element, O: Element, const N: usize>(
    embedded: &Embedded<'_>,
    extents: &[usize],
    (operands, indices): (&[&[T]], &[&[u32]]),
    before: &[O],
) -> Result<[Vec<O>; N], EmulateError> {
    let levels = recompiled(embedded)?;
    let extents: Vec<u64> = extents.iter().map(|extent| *extent as u64).collect();
    let operands: Vec<Vec<f64>> = operands.iter().map(|data| carried(data)).collect();
    let inputs: Vec<Input<'_>> = operands
        .iter()
        .map(|data| Input { data, view: None, byte_alignment: BYTE_ALIGNMENT })
        .collect();
    run(&levels, &extents, (&inputs, indices), before)
}

/// The same for a specification with `strides = runtime`: operands lie as their views say.
///
/// # Errors
///
/// As [`EmulateError`] says.
pub fn emulate_views<T: Element, O: Element, const N: usize>(
    embedded: &Embedded<'_>,
    (operands, indices): (&[ArrayViewD<'_, T>], &[&[u32]]),
    before: &[O],
) -> Result<[Vec<O>; N], EmulateError> {
    let levels = recompiled(embedded)?;
    let of_operands = operands.iter().map(|operand| operand.shape());
    let of_indices: Vec<[usize; 1]> = indices.iter().map(|indices| [indices.len()]).collect();
    let shapes: Vec<&[usize]> = of_operands.chain(of_indices.iter().map(|len| &len[..])).collect();
    let bound = Extents::from_shapes(&levels.program, &shapes).map_err(EmulateError::Operands)?;
    let labels = levels.module.labels.iter();
    let extents: Vec<u64> = labels.map(|label| bound.get(&label.name).unwrap_or(0)).collect();
    let gap = T::from_f64(f64::NAN);
    let stored: Vec<(Vec<f64>, View)> = operands
        .iter()
        .map(|operand| Stored::of(operand, gap))
        .map(|Stored { data, view }| (carried(&data), view))
        .collect();
    let inputs: Vec<Input<'_>> = stored
        .iter()
        .map(|(data, view)| Input { data, view: Some(view), byte_alignment: BYTE_ALIGNMENT })
        .collect();
    run(&levels, &extents, (&inputs, indices), before)
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

fn run<O: Element, const N: usize>(
    levels: &Levels,
    extents: &[u64],
    (inputs, indices): (&[Input<'_>], &[&[u32]]),
    before: &[O],
) -> Result<[Vec<O>; N], EmulateError> {
    let accumulates = levels.program.accumulates();
    let before = carried(before);
    let output = |(_, buffer): (BufferId, &Buffer)| Output {
        len: if accumulates { before.len() } else { output_len(buffer, extents) },
        before: &before,
        byte_alignment: BYTE_ALIGNMENT,
    };
    let outputs: Vec<Output<'_>> = levels.module.outputs().map(output).collect();
    let arguments = Arguments {
        extents,
        inputs,
        indices,
        outputs: &outputs,
        workspace_len: None,
        workspace_byte_alignment: BYTE_ALIGNMENT,
    };
    let run = emulate::run(&levels.module, &arguments).map_err(EmulateError::Failure)?;
    let typed = |output: Vec<f64>| output.into_iter().map(O::from_f64).collect();
    all(run.outputs.into_iter().map(typed).collect()).map_err(EmulateError::Operands)
}

/// The elements as the emulator carries them.
fn carried<T: Element>(elements: &[T]) -> Vec<f64> {
    elements.iter().map(|element| element.to_f64()).collect()
}

fn read(notation: &str, options: &str) -> Result<Spec, Diagnostics> {
    // A notation that was parsed has no character that the literal would have to escape.
    spec::parse_invocation(&format!("\"{notation}\", {options}"))
}

/// Elements of an output. Where the product leaves 64 bits the host's own check refuses it.
fn output_len(output: &Buffer, extents: &[u64]) -> usize {
    let dims = output.dims.iter();
    let product = dims.fold(1_u64, |product, label| product.saturating_mul(extents[*label]));
    usize::try_from(product).unwrap_or(usize::MAX)
}
