//! What the host says when a requirement does not hold: one wording for the emulator, which fills
//! in the numbers, and for `emit`, which prints them as a `format!`. It comes after the host's
//! types and decides nothing.

use mage_einsum::diagnostic::Code;

use super::{Buffer, BufferId, BufferUse, HostError, HostExpr, IndexUse, Module};

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Said as it stands.
    Text(String),
    /// The value of a host expression at the launch.
    Value(HostExpr),
    /// The number of elements of a buffer at the launch.
    Length(BufferId),
    /// The lowest element that the view of a strided buffer reaches; may be below zero.
    Lowest(BufferId),
    /// The highest one.
    Highest(BufferId),
    /// The element where the view of a strided buffer begins.
    First(BufferId),
    /// The stride of a dimension of a strided buffer.
    Stride(BufferId, usize),
    /// What the elements of an index buffer were found to be below, or where they end.
    Bound(BufferId),
}

/// The message of `error` in pieces: lower case, no full stop, both sides named.
pub fn wording(module: &Module, error: &HostError) -> Vec<Piece> {
    match error {
        HostError::ExtentLimit { label, limit } => vec![
            text(format!("label {} is ", label_name(module, *label))),
            Piece::Value(HostExpr::Extent(*label)),
            text(format!(", limit {limit}")),
        ],
        HostError::FixedExtent { label, fixed } => vec![
            text(format!("label {} is ", label_name(module, *label))),
            Piece::Value(HostExpr::Extent(*label)),
            text(format!(" but the option `extents` fixed it to {fixed}")),
        ],
        HostError::ExtentMismatch { first, other, buffer } => vec![
            text(format!("label {} is ", label_name(module, *first))),
            Piece::Value(HostExpr::Extent(*first)),
            text(format!(" but label {} is ", label_name(module, *other))),
            Piece::Value(HostExpr::Extent(*other)),
            text(format!(" and both index one dimension of {}", buffer_name(module, *buffer))),
        ],
        HostError::SizeOverflow { buffer } => size_overflow(module, *buffer),
        HostError::LengthMismatch { buffer } => length_mismatch(module, *buffer),
        HostError::OutOfBuffer { buffer } => out_of_buffer(module, *buffer),
        HostError::IndexOutOfRange { buffer } => index_out_of_range(module, *buffer),
        HostError::WorkspaceTooShort { buffer, need } => workspace_too_short(module, *buffer, need),
        HostError::LaunchLimit { what, need, limit } => launch_limit(module, what, need, *limit),
    }
}

/// The code under which `error` is documented.
pub fn code(error: &HostError) -> Code {
    match error {
        HostError::ExtentLimit { .. } | HostError::SizeOverflow { .. } => Code::SizeOverflow,
        HostError::FixedExtent { .. } | HostError::ExtentMismatch { .. } => Code::ExtentMismatch,
        HostError::LengthMismatch { .. } | HostError::WorkspaceTooShort { .. } => {
            Code::LengthMismatch
        }
        HostError::OutOfBuffer { .. } => Code::UnsupportedStride,
        HostError::IndexOutOfRange { .. } => Code::IndexOutOfRange,
        HostError::LaunchLimit { .. } => Code::LaunchLimit,
    }
}

fn workspace_too_short(module: &Module, buffer: BufferId, need: &HostExpr) -> Vec<Piece> {
    let elem_bytes = HostExpr::Const(elem_bytes(module, buffer));
    vec![
        text("the workspace has ".to_string()),
        Piece::Length(buffer),
        text(" elements but needs ".to_string()),
        Piece::Value(need.clone()),
        text(" (".to_string()),
        Piece::Value(HostExpr::product([need.clone(), elem_bytes])),
        text(" bytes)".to_string()),
    ]
}

fn size_overflow(module: &Module, buffer: BufferId) -> Vec<Piece> {
    let mut pieces = vec![text(format!("{} is too large: ", buffer_name(module, buffer)))];
    pieces.extend(extents_of(module, buffer));
    let elem_bytes = elem_bytes(module, buffer);
    pieces.push(text(format!(" elements of {elem_bytes} bytes, limit 9223372036854775807 bytes")));
    pieces
}

fn length_mismatch(module: &Module, buffer: BufferId) -> Vec<Piece> {
    let dims = dims_of(module, buffer);
    let mut pieces = vec![
        text(format!("{} has ", buffer_name(module, buffer))),
        Piece::Length(buffer),
        text(" elements but ".to_string()),
    ];
    let index = module.buffers.get(buffer.0).and_then(|buffer| buffer.index);
    let is_pointers = matches!(index, Some(IndexUse::Pointers { .. }));
    match dims.len() {
        0 => pieces.push(text("a scalar has 1".to_string())),
        1 => {
            let many = if is_pointers { "one more" } else { "as many" };
            pieces.push(text("its extent ".to_string()));
            pieces.extend(extents_of(module, buffer));
            pieces.push(text(format!(" asks for {many}")));
        }
        2.. => {
            pieces.push(text("its extents ".to_string()));
            pieces.extend(extents_of(module, buffer));
            pieces.push(text(" ask for ".to_string()));
            pieces.push(Piece::Value(HostExpr::Product(
                dims.iter().map(|label| HostExpr::Extent(*label)).collect(),
            )));
            pieces.extend(is_pointers.then(|| text(" and one more".to_string())));
        }
    }
    pieces
}

/// The bound that was found, and the label's extent: what the elements are is known to whoever
/// checked them.
fn index_out_of_range(module: &Module, buffer: BufferId) -> Vec<Piece> {
    let (what, label) = match module.buffers.get(buffer.0).and_then(|buffer| buffer.index) {
        Some(IndexUse::Pointers { into }) => ("ends at", into),
        Some(IndexUse::Below(label)) => ("has indices below", label),
        Some(IndexUse::Parts { .. }) | None => ("has indices below", usize::MAX),
    };
    vec![
        text(format!("{} {what} ", buffer_name(module, buffer))),
        Piece::Bound(buffer),
        text(format!(", but label {} is ", label_name(module, label))),
        Piece::Value(module.extent(label)),
    ]
}

/// Both ends that are reached, and all that they follow from: operand `A` reaches elements -5 to 9
/// but its buffer has 20: the view begins at 3 and has stride -4 along `i` = 3, ...
fn out_of_buffer(module: &Module, buffer: BufferId) -> Vec<Piece> {
    let mut pieces = vec![
        text(format!("{} reaches elements ", buffer_name(module, buffer))),
        Piece::Lowest(buffer),
        text(" to ".to_string()),
        Piece::Highest(buffer),
        text(" but its buffer has ".to_string()),
        Piece::Length(buffer),
        text(": the view begins at ".to_string()),
        Piece::First(buffer),
    ];
    for (dim, label) in dims_of(module, buffer).iter().enumerate() {
        let opening = if dim == 0 { " and has" } else { "," };
        pieces.push(text(format!("{opening} stride ")));
        pieces.push(Piece::Stride(buffer, dim));
        pieces.push(text(format!(" along {} = ", label_name(module, *label))));
        pieces.push(Piece::Value(HostExpr::Extent(*label)));
    }
    pieces
}

fn launch_limit(module: &Module, what: &str, need: &HostExpr, limit: u64) -> Vec<Piece> {
    let mut pieces = vec![
        text(format!("{what} is ")),
        Piece::Value(need.clone()),
        text(format!(", limit {limit}")),
    ];
    let labels = need.labels();
    for (position, label) in labels.iter().enumerate() {
        let opening = if position == 0 { " (" } else { ", " };
        pieces.push(text(format!("{opening}label {} is ", label_name(module, *label))));
        pieces.push(Piece::Value(HostExpr::Extent(*label)));
    }
    if !labels.is_empty() {
        pieces.push(text(")".to_string()));
    }
    pieces
}

/// `i*k = 8*16`, with the numbers as pieces.
fn extents_of(module: &Module, buffer: BufferId) -> Vec<Piece> {
    let dims = dims_of(module, buffer);
    let names: Vec<&str> = dims
        .iter()
        .map(|label| module.labels.get(*label).map_or("?", |label| label.name.as_str()))
        .collect();
    let mut pieces = vec![text(format!("{} = ", names.join("*")))];
    for (position, label) in dims.iter().enumerate() {
        if position > 0 {
            pieces.push(text("*".to_string()));
        }
        pieces.push(Piece::Value(HostExpr::Extent(*label)));
    }
    pieces
}

fn text(words: String) -> Piece {
    Piece::Text(words)
}

fn label_name(module: &Module, label: usize) -> String {
    let name = module.labels.get(label).map_or("?", |label| label.name.as_str());
    format!("`{name}`")
}

fn buffer_name(module: &Module, buffer: BufferId) -> String {
    module.buffers.get(buffer.0).map_or_else(|| "buffer `?`".to_string(), named)
}

fn named(buffer: &Buffer) -> String {
    match buffer.usage {
        BufferUse::Index => format!("index operand `{}`", buffer.name),
        BufferUse::Listed => format!("list `{}`", buffer.name),
        BufferUse::Read => format!("operand `{}`", buffer.name),
        BufferUse::Write | BufferUse::WriteRead | BufferUse::Update => {
            format!("output `{}`", buffer.name)
        }
        BufferUse::Temp | BufferUse::Register => format!("temporary `{}`", buffer.name),
        BufferUse::Workspace => "the workspace".to_string(),
    }
}

/// Bytes of an element of a buffer.
fn elem_bytes(module: &Module, buffer: BufferId) -> u64 {
    module.buffers.get(buffer.0).map_or(4, |buffer| buffer.dtype.size_bytes())
}

fn dims_of(module: &Module, buffer: BufferId) -> &[usize] {
    module.buffers.get(buffer.0).map_or(&[], |buffer| &buffer.dims)
}
