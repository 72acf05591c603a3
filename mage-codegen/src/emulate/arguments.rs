//! What a module is run on, and the global memory that is made of it.

use std::borrow::Cow;
use std::rc::Rc;

use mage_einsum::diagnostic::Code;
use mage_einsum::index::Layout;
use mage_einsum::view::View;

use super::facts::{Facts, elems_of, row_major};
use super::global::{Contents, GlobalBuffer};
use super::host::value;
use super::workspace::{Part, Workspace};
use super::{HostFailure, indices, workspace_elems};
use crate::kernel::{
    Buffer, BufferId, BufferUse, ENTRY_ELEMS, IndexUse, Module, REGION_ELEMS, parts_of_long_rows,
};

/// What is listed is right by the way it is made, and any number of 32 bits.
const LISTED_BELOW: u64 = 1 << u32::BITS;

/// An operand of the call.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The elements of its buffer; each a value that the operand's type has.
    pub data: &'a [f64],
    /// Where the operand's elements are among them, for a module that takes strides at run time;
    /// row-major where this is none.
    pub view: Option<&'a View>,
    /// Bytes that the emulated address is a multiple of: 16 normally, 4 for a view that starts
    /// anywhere.
    pub byte_alignment: u64,
}

/// An output of the call.
#[derive(Debug, Clone, Copy)]
pub struct Output<'a> {
    /// Elements of its buffer.
    pub len: usize,
    /// What the buffer holds before: looked at only where the module adds to it.
    pub before: &'a [f64],
    /// Bytes that the emulated address is a multiple of.
    pub byte_alignment: u64,
}

/// What a module is run on.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    /// One extent a label of the module.
    pub extents: &'a [u64],
    /// The operands in order, without index operands.
    pub inputs: &'a [Input<'a>],
    /// The elements of the index operands, in their order.
    pub indices: &'a [&'a [u32]],
    /// The outputs, in their order.
    pub outputs: &'a [Output<'a>],
    /// Elements of the workspace; as many as make the launch fast where this is none.
    pub workspace_len: Option<usize>,
    /// Bytes that the workspace's emulated address is a multiple of.
    pub workspace_byte_alignment: u64,
}

/// What the host knows of a call.
pub(super) fn facts<'a>(
    module: &'a Module,
    arguments: &Arguments<'a>,
) -> Result<Facts<'a>, HostFailure> {
    let count = |usage| module.buffers.iter().filter(|buffer| buffer.usage == usage).count();
    for (what, given, wanted) in [
        ("", arguments.inputs.len(), count(BufferUse::Read)),
        ("index ", arguments.indices.len(), count(BufferUse::Index)),
    ] {
        if given != wanted {
            let message = format!("{given} {what}operands for {wanted} inputs");
            return Err(HostFailure { code: Code::OperandCount, message });
        }
    }
    let (given, wanted) = (arguments.outputs.len(), module.outputs().count());
    if given != wanted {
        let message = format!("{given} buffers for {wanted} outputs");
        return Err(HostFailure { code: Code::OperandCount, message });
    }
    let (extents, lists) = (arguments.extents, lists(module, arguments));
    let (mut inputs, mut indices) = (arguments.inputs.iter(), arguments.indices.iter());
    let mut outputs = arguments.outputs.iter();
    let mut of_buffer = |position: usize| -> (u64, u64) {
        match module.buffers[position].usage {
            BufferUse::Read => inputs
                .next()
                .map_or((0, 4), |input| (input.data.len() as u64, input.byte_alignment)),
            BufferUse::Index => (indices.next().map_or(0, |values| values.len() as u64), 4),
            BufferUse::Listed => (lists[position].as_flattened().len() as u64, 4),
            BufferUse::Write | BufferUse::WriteRead | BufferUse::Update => {
                outputs.next().map_or((0, 4), |output| (output.len as u64, output.byte_alignment))
            }
            BufferUse::Temp => (
                elems_of(module, BufferId(position), extents).unwrap_or(u64::MAX),
                arguments.workspace_byte_alignment,
            ),
            BufferUse::Register => (0, 4),
            BufferUse::Workspace => {
                let needed = || workspace_elems(module, extents).unwrap_or(u64::MAX);
                let len = arguments.workspace_len.map_or_else(needed, |len| len as u64);
                (len, arguments.workspace_byte_alignment)
            }
        }
    };
    // Memory of a type is at least as aligned as the type.
    let aligned = |position: usize| {
        let (length, byte_alignment) = of_buffer(position);
        (length, byte_alignment.max(module.buffers[position].dtype.size_bytes()))
    };
    let (lengths, byte_alignments) = (0..module.buffers.len()).map(aligned).unzip();
    let views = views(module, arguments)?;
    Ok(Facts { module, extents, lengths, byte_alignments, views, lists })
}

/// For each buffer of use `Listed` its entries. Of what are no row pointers nothing is listed, since
/// they are refused before anything is launched.
fn lists(module: &Module, arguments: &Arguments<'_>) -> Vec<Vec<[u32; ENTRY_ELEMS]>> {
    let buffers = || module.buffers.iter().enumerate();
    let given = buffers().filter(|(_, buffer)| buffer.usage == BufferUse::Index);
    let given: Vec<(usize, &[u32])> =
        given.zip(arguments.indices).map(|((position, _), values)| (position, *values)).collect();
    let list = |buffer: &Buffer| {
        let Some(IndexUse::Parts { pointers, part_elems }) = buffer.index else { return None };
        let (_, values) = given.iter().find(|(position, _)| *position == pointers.0)?;
        let Some(IndexUse::Pointers { into }) = module.buffers[pointers.0].index else {
            return None;
        };
        let end = value(arguments.extents, &module.extent(into))?;
        let are_pointers = indices::disorder(values, end, "").is_none();
        are_pointers.then(|| parts_of_long_rows(values, part_elems))
    };
    buffers().map(|(_, buffer)| list(buffer).unwrap_or_default()).collect()
}

/// For each buffer its view, where it is strided.
fn views(module: &Module, arguments: &Arguments<'_>) -> Result<Vec<Option<View>>, HostFailure> {
    let mut inputs = arguments.inputs.iter();
    let mut views = Vec::new();
    for (position, buffer) in module.buffers.iter().enumerate() {
        let given = match buffer.usage {
            BufferUse::Read => inputs.next().and_then(|input| input.view),
            BufferUse::Index
            | BufferUse::Listed
            | BufferUse::Write
            | BufferUse::WriteRead
            | BufferUse::Update
            | BufferUse::Temp
            | BufferUse::Register
            | BufferUse::Workspace => None,
        };
        let Some(given) = given else {
            views.push(row_major(module, BufferId(position), arguments.extents));
            continue;
        };
        let (name, n_strides, n_dims) = (&buffer.name, given.strides.len(), buffer.dims.len());
        let message = match buffer.layout {
            Layout::Strided if n_strides == n_dims => {
                views.push(Some(given.clone()));
                continue;
            }
            Layout::Strided => {
                format!("operand `{name}` has {n_strides} strides for {n_dims} labels")
            }
            Layout::RowMajor => {
                format!("operand `{name}` is given as a view but must be row-major")
            }
        };
        return Err(HostFailure { code: Code::UnsupportedStride, message });
    }
    Ok(views)
}

/// Whether every value is one that its buffer's type has: an f64 that is none would let a kernel
/// seem more exact than it is.
pub(super) fn hold_values(module: &Module, arguments: &Arguments<'_>) -> Result<(), HostFailure> {
    let inputs = arguments.inputs.iter().map(|input| input.data);
    let inputs = module.buffers.iter().filter(|buffer| buffer.usage == BufferUse::Read).zip(inputs);
    let before = arguments.outputs.iter().map(|output| output.before);
    let outputs = module.outputs().map(|(_, buffer)| buffer).zip(before);
    let updated = outputs.filter(|(buffer, _)| buffer.usage == BufferUse::Update);
    for (buffer, data) in inputs.chain(updated) {
        let is_held = |value: &f64| value.is_nan() || buffer.dtype.round(*value) == *value;
        if let Some(at) = data.iter().position(|value| !is_held(value)) {
            let (name, dtype, value) = (&buffer.name, buffer.dtype, data[at]);
            let message =
                format!("element {at} of operand `{name}` is {value:?}, which is no {dtype}");
            return Err(HostFailure { code: Code::DtypeUnsupported, message });
        }
    }
    Ok(())
}

/// The workspace of a call whose checks have passed.
pub(super) fn workspace(facts: &Facts<'_>) -> Rc<Workspace> {
    let len = facts.module.workspace.as_ref().map_or(0, |known| facts.lengths[known.buffer.0]);
    Rc::new(Workspace::new(usize::try_from(len).unwrap_or(usize::MAX)))
}

/// The memory of a call whose checks have passed.
pub(super) fn buffers<'a>(
    facts: &Facts<'_>,
    arguments: &Arguments<'a>,
    workspace: &Rc<Workspace>,
) -> Vec<GlobalBuffer<'a>> {
    let (mut inputs, mut indices) = (arguments.inputs.iter(), arguments.indices.iter());
    let mut outputs = arguments.outputs.iter();
    let mut output = || outputs.next().map_or((0, &[][..]), |output| (output.len, output.before));
    let buffer = |position: usize| {
        let buffer = &facts.module.buffers[position];
        let byte_alignment = facts.byte_alignments[position];
        let (contents, byte_alignment) = match buffer.usage {
            BufferUse::Read => {
                let data = inputs.next().map_or(&[][..], |input| input.data);
                (Contents::Read(data), byte_alignment)
            }
            BufferUse::Index => {
                let values = indices.next().map_or(&[][..], |values| *values);
                let end = facts.bound(BufferId(position)).unwrap_or(0);
                // A row pointer may be the end itself.
                let is_pointers = matches!(buffer.index, Some(IndexUse::Pointers { .. }));
                let below = if is_pointers { end.saturating_add(1) } else { end };
                (Contents::Indices { values: Cow::Borrowed(values), below }, byte_alignment)
            }
            BufferUse::Listed => {
                let values = Cow::Owned(facts.lists[position].as_flattened().to_vec());
                (Contents::Indices { values, below: LISTED_BELOW }, byte_alignment)
            }
            BufferUse::Write => {
                let (len, _) = output();
                let (data, written) = (vec![0.0; len], vec![false; len]);
                (Contents::Write { data, written }, byte_alignment)
            }
            BufferUse::WriteRead => {
                let (len, _) = output();
                let (data, written) = (vec![0.0; len], vec![false; len]);
                (Contents::WriteRead { data, written }, byte_alignment)
            }
            BufferUse::Update => {
                let (len, before) = output();
                let mut data = before.to_vec();
                data.resize(len, f64::NAN);
                let written = vec![false; data.len()];
                (Contents::Update { data, written }, byte_alignment)
            }
            BufferUse::Temp => {
                let first = facts.module.first_elem(BufferId(position));
                let first = first.and_then(|first| value(facts.extents, first));
                let first = first.and_then(|first| usize::try_from(first).ok());
                // What has no place lies beyond every workspace.
                let first = first.unwrap_or(usize::MAX);
                let part = Part { workspace: Rc::clone(workspace), temp: position, first };
                let elem_bytes = buffer.dtype.size_bytes();
                let whole = first.is_multiple_of(REGION_ELEMS as usize);
                let byte_alignment = if whole { byte_alignment } else { elem_bytes };
                (Contents::Temp { part, len: facts.lengths[position] }, byte_alignment)
            }
            BufferUse::Register | BufferUse::Workspace => (Contents::Read(&[]), byte_alignment),
        };
        let buffer = GlobalBuffer::new(buffer, byte_alignment, contents);
        match &facts.views[position] {
            Some(view) => buffer.seen_from(view.first),
            None => buffer,
        }
    };
    (0..facts.module.buffers.len()).map(buffer).collect()
}
