//! Says why a module is not well formed. A failure is a mistake of the lowering, never of the
//! user; the emulator traps on the mistakes that depend on values.

mod body;
mod expr;

use std::collections::BTreeSet;

use super::walk;
use super::{
    Buffer, BufferId, BufferUse, HostError, HostExpr, HostPred, HostStep, IndexUse, Kernel, Module,
    ParamValue, Space, Ty, Workspace,
};
use mage_einsum::index::Layout;

/// Whether the module is well formed; otherwise the first mistake and its place.
pub fn verify(module: &Module) -> Result<(), String> {
    unique("label", module.labels.iter().map(|label| &label.ident))?;
    unique("buffer", module.buffers.iter().map(|buffer| &buffer.ident))?;
    unique("kernel", module.kernels.iter().map(|kernel| &kernel.name))?;
    for buffer in &module.buffers {
        if buffer.layout == Layout::Strided && buffer.usage != BufferUse::Read {
            return Err(format!("buffer `{}` is strided but no input", buffer.name));
        }
        for label in &buffer.dims {
            label_exists(module, *label)
                .map_err(|why| format!("buffer `{}`: {why}", buffer.name))?;
        }
        buffer.parts.iter().try_for_each(|parts| host_expr(module, parts))?;
    }
    (0..module.buffers.len()).try_for_each(|position| index(module, BufferId(position)))?;
    workspace(module).map_err(|why| format!("workspace: {why}"))?;
    steps(module, &module.host).map_err(|why| format!("host: {why}"))?;
    for kernel in &module.kernels {
        verify_kernel(module, kernel).map_err(|why| format!("kernel `{}`: {why}", kernel.name))?;
    }
    Ok(())
}

/// An index buffer says what its elements are, and the host requires it, whatever it launches:
/// kernels go where the elements lead.
fn index(module: &Module, id: BufferId) -> Result<(), String> {
    let Buffer { name, usage, index, .. } = &module.buffers[id.0];
    match (index, usage) {
        (Some(IndexUse::Below(label) | IndexUse::Pointers { into: label }), BufferUse::Index) => {
            label_exists(module, *label).map_err(|why| format!("buffer `{name}`: {why}"))?;
        }
        (Some(IndexUse::Parts { pointers, part_elems: 1.. }), BufferUse::Listed)
            if holds_pointers(module, *pointers) => {}
        (None, usage) if !usage.is_index() => return Ok(()),
        (_, _) => return Err(format!("buffer `{name}` and its indices disagree")),
    }
    let wanted = module.index_requirement(id);
    let is_it = |step: &HostStep| match step {
        HostStep::Require { that, error: _ } => Some(that) == wanted.as_ref(),
        HostStep::ReturnIf(_)
        | HostStep::Let { .. }
        | HostStep::Unless(..)
        | HostStep::Select(_)
        | HostStep::Launch { .. } => false,
    };
    if module.host.iter().any(is_it) {
        return Ok(());
    }
    Err(format!("the host does not require what the elements of `{name}` must be"))
}

fn holds_pointers(module: &Module, id: BufferId) -> bool {
    let buffer = module.buffers.get(id.0);
    buffer.is_some_and(|buffer| matches!(buffer.index, Some(IndexUse::Pointers { .. })))
}

/// Every temporary has its region, and there is a workspace exactly for them.
fn workspace(module: &Module) -> Result<(), String> {
    let of = |wanted: BufferUse| -> Vec<BufferId> {
        let buffers = (0..module.buffers.len()).map(BufferId);
        buffers.filter(|id| module.buffers[id.0].usage == wanted).collect()
    };
    let (temps, workspaces) = (of(BufferUse::Temp), of(BufferUse::Workspace));
    let Some(Workspace { buffer, elems, least_elems, regions }) = &module.workspace else {
        let none = temps.is_empty() && workspaces.is_empty();
        return if none { Ok(()) } else { Err("a temporary has no place".to_string()) };
    };
    if workspaces != [*buffer] {
        return Err(format!("{buffer:?} is not the one workspace"));
    }
    if temps != regions.iter().map(|region| region.temp).collect::<Vec<_>>() {
        return Err("the regions are not those of the temporaries".to_string());
    }
    regions.iter().try_for_each(|region| host_expr(module, &region.first))?;
    host_expr(module, least_elems)?;
    host_expr(module, elems)
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("two of kind {what} are named `{name}`"));
        }
    }
    Ok(())
}

fn verify_kernel(module: &Module, kernel: &Kernel) -> Result<(), String> {
    // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": at most 1024
    // threads a block.
    if !(1..=1024).contains(&kernel.block_threads) {
        return Err(format!("{} threads a block, limit 1 to 1024", kernel.block_threads));
    }
    if kernel.min_blocks == 0 {
        return Err("0 blocks a multiprocessor, at least 1".to_string());
    }
    // One namespace: in the source all of them are local names of one function.
    let names = module
        .buffers
        .iter()
        .map(|buffer| &buffer.ident)
        .chain(kernel.shared.iter().map(|array| &array.name))
        .chain(kernel.registers.iter().map(|array| &array.name))
        .chain(kernel.vars.iter().map(|var| &var.name));
    unique("name", names)?;
    // `constants` lists a name once for each value it has.
    let constants = walk::constants(kernel);
    unique("constant", constants.iter().map(|constant| &constant.name))?;
    for param in &kernel.params {
        match (&param.value, kernel.vars.get(param.var.0).map(|var| var.ty)) {
            (ParamValue::Unsigned(value), Some(Ty::U32 | Ty::U64)) => host_expr(module, value)?,
            (ParamValue::Stride { buffer, dims }, Some(Ty::I64)) => {
                dims.iter().try_for_each(|dim| strided_dim(module, *buffer, *dim))?;
            }
            (value, ty) => return Err(format!("{value:?} is passed as {ty:?}")),
        }
    }
    let directions = walk::buffers(kernel);
    for access in walk::accesses(kernel) {
        let Space::Global(id) = access.space else { continue };
        let is_updated = module.buffers.get(id.0).is_some_and(|b| b.usage == BufferUse::Update);
        if directions.get(&id) != Some(&access.direction) && !is_updated {
            return Err(format!("{id:?} is both read and written"));
        }
    }
    body::verify(module, kernel)
}

fn steps(module: &Module, list: &[HostStep]) -> Result<(), String> {
    for step in list {
        match step {
            HostStep::Require { that, error } => {
                host_pred(module, that)?;
                host_error(module, error)?;
            }
            HostStep::ReturnIf(condition) => host_pred(module, condition)?,
            HostStep::Let { name: _, value } => host_expr(module, value)?,
            HostStep::Unless(condition, inner) => {
                host_pred(module, condition)?;
                steps(module, inner)?;
            }
            HostStep::Select(arms) => {
                for arm in arms {
                    host_pred(module, &arm.eligible)?;
                    steps(module, &arm.steps)
                        .map_err(|why| format!("arm `{}`: {why}", arm.name))?;
                }
                match arms.last().map(|arm| &arm.eligible) {
                    Some(HostPred::All(parts)) if parts.is_empty() => {}
                    Some(_) => return Err("the last arm of a select has a condition".to_string()),
                    None => return Err("a select has no arms".to_string()),
                }
            }
            HostStep::Launch { kernel, blocks } => {
                if *kernel >= module.kernels.len() {
                    return Err(format!("a launch names kernel {kernel}, which does not exist"));
                }
                host_expr(module, blocks)?;
            }
        }
    }
    Ok(())
}

fn host_pred(module: &Module, condition: &HostPred) -> Result<(), String> {
    match condition {
        HostPred::AtMost(expr, _) | HostPred::AtLeast(expr, _) | HostPred::IsZero(expr) => {
            host_expr(module, expr)
        }
        HostPred::MultipleOf(expr, divisor) => {
            divides(*divisor)?;
            host_expr(module, expr)
        }
        HostPred::Equal(left, right) | HostPred::NotAbove(left, right) => {
            host_expr(module, left)?;
            host_expr(module, right)
        }
        HostPred::LengthIs(buffer, expr)
        | HostPred::LengthAtLeast(buffer, expr)
        | HostPred::IndicesBelow(buffer, expr)
        | HostPred::PointersInto(buffer, expr) => {
            buffer_exists(module, *buffer)?;
            host_expr(module, expr)
        }
        HostPred::AlignedTo(buffer, bytes) => {
            divides(*bytes)?;
            buffer_exists(module, *buffer)
        }
        HostPred::InBuffer(buffer) => strided(module, *buffer).map(|_| ()),
        HostPred::UnitStride(buffer, dim) => strided_dim(module, *buffer, *dim),
        HostPred::StrideMultipleOf(buffer, dim, divisor) => {
            divides(*divisor)?;
            strided_dim(module, *buffer, *dim)
        }
        HostPred::All(parts) => parts.iter().try_for_each(|part| host_pred(module, part)),
    }
}

fn host_error(module: &Module, error: &HostError) -> Result<(), String> {
    match error {
        HostError::ExtentLimit { label, .. } | HostError::FixedExtent { label, .. } => {
            label_exists(module, *label)
        }
        HostError::ExtentMismatch { first, other, buffer } => {
            label_exists(module, *first)?;
            label_exists(module, *other)?;
            buffer_exists(module, *buffer)
        }
        HostError::SizeOverflow { buffer }
        | HostError::LengthMismatch { buffer }
        | HostError::IndexOutOfRange { buffer } => buffer_exists(module, *buffer),
        HostError::OutOfBuffer { buffer } => strided(module, *buffer).map(|_| ()),
        HostError::WorkspaceTooShort { buffer, need } => {
            buffer_exists(module, *buffer)?;
            host_expr(module, need)
        }
        HostError::LaunchLimit { need, .. } => host_expr(module, need),
    }
}

fn host_expr(module: &Module, expr: &HostExpr) -> Result<(), String> {
    match expr {
        HostExpr::Const(_) => Ok(()),
        HostExpr::Extent(label) => label_exists(module, *label),
        HostExpr::Listed(list) => match module.buffers.get(list.0).map(|buffer| buffer.index) {
            Some(Some(IndexUse::Parts { .. })) => Ok(()),
            Some(_) | None => Err(format!("{list:?} lists nothing")),
        },
        HostExpr::Product(parts) | HostExpr::Sum(parts) | HostExpr::Min(parts) => {
            parts.iter().try_for_each(|part| host_expr(module, part))
        }
        HostExpr::CeilDiv(value, divisor) => {
            divisor.as_const().map_or(Ok(()), divides)?;
            host_expr(module, value)?;
            host_expr(module, divisor)
        }
        HostExpr::RoundUp(value, multiple) => {
            divides(*multiple)?;
            host_expr(module, value)
        }
        HostExpr::Max(value, _) => host_expr(module, value),
        HostExpr::Where(condition, value) => {
            host_pred(module, condition)?;
            host_expr(module, value)
        }
    }
}

fn divides(divisor: u64) -> Result<(), String> {
    if divisor == 0 { Err("a division by zero".to_string()) } else { Ok(()) }
}

fn label_exists(module: &Module, label: usize) -> Result<(), String> {
    if label < module.labels.len() { Ok(()) } else { Err(format!("label {label} does not exist")) }
}

fn buffer_exists(module: &Module, buffer: BufferId) -> Result<(), String> {
    buffer_use(module, buffer).map(|_| ())
}

/// A buffer that has strides.
fn strided(module: &Module, id: BufferId) -> Result<&Buffer, String> {
    let buffer = module.buffers.get(id.0).filter(|buffer| buffer.layout == Layout::Strided);
    buffer.ok_or_else(|| format!("{id:?} is not strided"))
}

fn strided_dim(module: &Module, buffer: BufferId, dim: usize) -> Result<(), String> {
    let n_dims = strided(module, buffer)?.dims.len();
    if dim < n_dims { Ok(()) } else { Err(format!("dimension {dim} of {buffer:?} does not exist")) }
}

fn buffer_use(module: &Module, buffer: BufferId) -> Result<BufferUse, String> {
    module
        .buffers
        .get(buffer.0)
        .map(|buffer| buffer.usage)
        .ok_or_else(|| format!("buffer {} does not exist", buffer.0))
}
