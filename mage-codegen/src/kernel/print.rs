//! The kernel IR as text: what a person reads at level 4, and what the snapshots hold. One line a
//! statement, indented by nesting; `global`, `shared` and `reg` say which memory a statement
//! touches, and a computation, which touches registers alone, leaves `reg` out.

mod host;
mod stmt;

use mage_einsum::index::{Extent, Layout};

use super::walk::{self, Constant};
use super::{Buffer, BufferId, BufferUse, HostExpr, IndexUse, Kernel, Module, Workspace};

/// The whole module.
pub fn print(module: &Module) -> String {
    let mut out = Lines::default();
    out.line(0, &format!("module {}", module.name));
    for label in &module.labels {
        let extent = match label.extent {
            Extent::Runtime => "given at the launch".to_string(),
            Extent::Fixed(extent) => extent.to_string(),
        };
        out.line(1, &format!("extent {}: {extent}", label.name));
    }
    for position in 0..module.buffers.len() {
        out.line(1, &buffer(module, BufferId(position)));
    }
    out.line(0, "");
    out.line(0, "host");
    host::steps(&mut out, 1, module, &module.host);
    for kernel in &module.kernels {
        out.line(0, "");
        print_kernel(&mut out, module, kernel);
    }
    out.text
}

/// A host value, as in `round_up(i * k, 4)`.
pub fn host_expr(module: &Module, value: &HostExpr) -> String {
    host::in_full(module, value)
}

/// How many elements a workspace has, in words. The length of partial sums is told by the number of
/// parts, which the host's steps name, because that number spelled out would hide what it is.
pub fn workspace_extent(module: &Module, workspace: &Workspace) -> String {
    let in_parts = workspace.regions.iter().filter_map(|region| {
        let buffer = &module.buffers[region.temp.0];
        buffer.parts.as_ref()?;
        let labels = buffer.dims.iter().map(|label| module.labels[*label].name.as_str());
        let factors: Vec<&str> = ["n_parts"].into_iter().chain(labels).collect();
        Some(format!("`{}`", factors.join(" * ")))
    });
    let in_parts: Vec<String> = in_parts.collect();
    let least = host_expr(module, &workspace.least_elems);
    match (workspace.is_required(), in_parts.is_empty()) {
        (_, true) => format!("`{least}` elements"),
        (false, false) => format!("{} elements where a sum is in parts", in_parts.join(" and ")),
        (true, false) => format!(
            "`{least}` elements, and {} more where a sum is in parts",
            in_parts.join(" and ")
        ),
    }
}

fn buffer(module: &Module, id: BufferId) -> String {
    let buffer = &module.buffers[id.0];
    let labels = buffer.dims.iter().map(|label| module.labels[*label].name.clone());
    let parts = buffer.parts.iter().map(|parts| host::expr(module, parts));
    let dims: Vec<String> = parts.chain(labels).collect();
    let (name, dims, dtype) = (&buffer.ident, dims.join(", "), buffer.dtype);
    let strides = match buffer.layout {
        Layout::RowMajor => "",
        Layout::Strided => ", strides given at the launch",
    };
    let shown = |expr: Option<&HostExpr>| {
        expr.map_or_else(|| "?".to_string(), |expr| host::in_full(module, expr))
    };
    match buffer.usage {
        BufferUse::Read => format!("reads {name}: {dtype}[{dims}]{strides}"),
        BufferUse::Index => match buffer.index {
            Some(IndexUse::Pointers { into }) => {
                let into = label(module, into);
                format!("reads {name}: u32[{dims} + 1], row pointers into {into}")
            }
            Some(IndexUse::Below(below)) => {
                format!("reads {name}: u32[{dims}], each below {}", label(module, below))
            }
            Some(IndexUse::Parts { .. }) | None => format!("reads {name}: u32[{dims}]"),
        },
        BufferUse::Listed => format!("lists {name}: u32[{dims}]{}", listed(module, buffer)),
        BufferUse::Write => format!("writes {name}: {dtype}[{dims}]"),
        BufferUse::WriteRead => format!("writes {name}: {dtype}[{dims}], then reads it"),
        BufferUse::Update => format!("adds to {name}: {dtype}[{dims}]"),
        BufferUse::Temp => {
            let first = shown(module.first_elem(id));
            format!("keeps {name}: {dtype}[{dims}] in the workspace from {first}")
        }
        BufferUse::Register => format!("keeps {name}: {dtype}[{dims}] in registers"),
        BufferUse::Workspace => {
            let elems = shown(module.workspace.as_ref().map(|workspace| &workspace.elems));
            format!("has {name}: {dtype}[{elems}]")
        }
    }
}

/// What the entries of a list are.
fn listed(module: &Module, buffer: &Buffer) -> String {
    match buffer.index {
        Some(IndexUse::Parts { pointers, part_elems }) => {
            let pointers = &module.buffers[pointers.0].ident;
            format!(
                ", row, first and beyond of each part of {part_elems} or more of a row of {pointers}"
            )
        }
        Some(IndexUse::Below(_) | IndexUse::Pointers { .. }) | None => String::new(),
    }
}

fn label(module: &Module, label: usize) -> &str {
    module.labels.get(label).map_or("?", |label| &label.name)
}

fn print_kernel(out: &mut Lines, module: &Module, kernel: &Kernel) {
    let Kernel { name, block_threads, min_blocks, summary, .. } = kernel;
    out.line(0, &format!("kernel {name}"));
    out.line(1, &format!("// {summary}"));
    out.line(1, &format!("{block_threads} threads a block"));
    out.line(1, &format!("{min_blocks} or more blocks a multiprocessor"));
    for param in &kernel.params {
        let var = kernel.var(param.var);
        let value = host::param(module, &param.value);
        out.line(1, &format!("param {}: {} = {value}", var.name, stmt::ty(var.ty)));
    }
    for Constant { name, ty, value } in walk::constants(kernel) {
        out.line(1, &format!("const {name}: {} = {value}", stmt::ty(ty)));
    }
    for array in &kernel.shared {
        out.line(1, &format!("shared {}: {}[{}]", array.name, array.dtype, array.elems));
    }
    for array in &kernel.registers {
        out.line(1, &format!("reg {}: {}[{}]", array.name, array.dtype, array.elems));
    }
    out.line(0, "");
    stmt::body(out, 1, module, kernel, &kernel.body);
}

/// Text under construction.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn line(&mut self, depth: usize, line: &str) {
        let line = format!("{}{line}", "  ".repeat(depth));
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}
