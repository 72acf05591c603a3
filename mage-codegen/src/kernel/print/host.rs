//! The host's steps as text.

use super::Lines;
use crate::kernel::{BufferId, HostError, HostExpr, HostPred, HostStep, Module, ParamValue};

pub(super) fn steps(out: &mut Lines, depth: usize, module: &Module, steps: &[HostStep]) {
    for step in steps {
        match step {
            HostStep::Require { that, error } => {
                let (that, error) = (pred(module, that, expr), self::error(module, error));
                out.line(depth, &format!("require {that}, else {error}"));
            }
            HostStep::ReturnIf(when) => {
                out.line(depth, &format!("return if {}", pred(module, when, expr)));
            }
            HostStep::Let { name, value } => {
                out.line(depth, &format!("let {name} = {}", parts(module, value, expr)));
            }
            HostStep::Unless(when, steps) => {
                out.line(depth, &format!("unless {}", pred(module, when, expr)));
                self::steps(out, depth + 1, module, steps);
            }
            HostStep::Select(arms) => {
                out.line(depth, "select the first");
                for arm in arms {
                    let when = match &arm.eligible {
                        HostPred::All(all) if all.is_empty() => "otherwise".to_string(),
                        eligible => format!("if {}", pred(module, eligible, expr)),
                    };
                    out.line(depth + 1, &format!("{} {when}", arm.name));
                    self::steps(out, depth + 2, module, &arm.steps);
                }
            }
            HostStep::Launch { kernel, blocks } => {
                let kernel = &module.kernels[*kernel].name;
                out.line(depth, &format!("launch {kernel} in {} blocks", expr(module, blocks)));
            }
        }
    }
}

/// What is passed for a parameter.
pub(super) fn param(module: &Module, value: &ParamValue) -> String {
    match value {
        ParamValue::Unsigned(value) => expr(module, value),
        ParamValue::Stride { buffer, dims } => {
            let strides: Vec<String> =
                dims.iter().map(|dim| stride(module, *buffer, *dim)).collect();
            strides.join(" + ")
        }
    }
}

/// `stride(a, k)`; the label says which dimension, and of a diagonal its number.
fn stride(module: &Module, buffer: BufferId, dim: usize) -> String {
    let buffer = &module.buffers[buffer.0];
    let label = &module.labels[buffer.dims[dim]].name;
    let again = buffer.dims.iter().filter(|other| **other == buffer.dims[dim]).count() > 1;
    let dim = if again { format!(" {dim}") } else { String::new() };
    format!("stride({}, {label}{dim})", buffer.ident)
}

/// A host value among the steps: under its name where a step gives it one.
pub(super) fn expr(module: &Module, value: &HostExpr) -> String {
    match name_of(&module.host, value) {
        Some(name) => name.to_string(),
        None => parts(module, value, expr),
    }
}

/// A host value as it stands for itself.
pub(super) fn in_full(module: &Module, value: &HostExpr) -> String {
    parts(module, value, in_full)
}

/// The name that a step gives to the value.
fn name_of<'m>(steps: &'m [HostStep], value: &HostExpr) -> Option<&'m str> {
    steps.iter().find_map(|step| match step {
        HostStep::Let { name, value: named } => (named == value).then_some(name.as_str()),
        HostStep::Unless(_, steps) => name_of(steps, value),
        HostStep::Select(arms) => arms.iter().find_map(|arm| name_of(&arm.steps, value)),
        HostStep::Require { .. } | HostStep::ReturnIf(_) | HostStep::Launch { .. } => None,
    })
}

/// A host value whose parts are shown by `show`.
fn parts(module: &Module, value: &HostExpr, show: fn(&Module, &HostExpr) -> String) -> String {
    let joined = |values: &[HostExpr], by: &str| {
        let shown: Vec<String> = values.iter().map(|value| show(module, value)).collect();
        shown.join(by)
    };
    match value {
        HostExpr::Const(value) => number(*value),
        HostExpr::Extent(label) => module.labels[*label].name.clone(),
        HostExpr::Listed(list) => format!("listed({})", module.buffers[list.0].ident),
        HostExpr::Product(factors) if factors.is_empty() => "1".to_string(),
        HostExpr::Product(factors) => joined(factors, " * "),
        HostExpr::CeilDiv(inner, divisor) => {
            let (divisor, is_product) =
                (show(module, divisor), matches!(**divisor, HostExpr::Product(_)));
            let divisor = if is_product { format!("({divisor})") } else { divisor };
            format!("ceil({} / {divisor})", show(module, inner))
        }
        HostExpr::Sum(terms) => joined(terms, " + "),
        HostExpr::RoundUp(inner, multiple) => {
            format!("round_up({}, {multiple})", show(module, inner))
        }
        HostExpr::Max(inner, least) => format!("max({}, {least})", show(module, inner)),
        HostExpr::Min(values) => format!("min({})", joined(values, ", ")),
        HostExpr::Where(when, inner) => {
            format!("({} if {} else 0)", show(module, inner), pred(module, when, show))
        }
    }
}

fn pred(module: &Module, pred: &HostPred, show: fn(&Module, &HostExpr) -> String) -> String {
    let show_with = show;
    let show = |value| show_with(module, value);
    let name = |buffer: usize| &module.buffers[buffer].ident;
    match pred {
        HostPred::AtMost(value, limit) => format!("{} <= {}", show(value), number(*limit)),
        HostPred::AtLeast(value, limit) => format!("{} >= {}", show(value), number(*limit)),
        HostPred::MultipleOf(value, divisor) => format!("{} % {divisor} == 0", show(value)),
        HostPred::IsZero(value) => format!("{} == 0", show(value)),
        HostPred::Equal(left, right) => format!("{} == {}", show(left), show(right)),
        HostPred::NotAbove(left, right) => format!("{} <= {}", show(left), show(right)),
        HostPred::LengthIs(buffer, value) => format!("len({}) == {}", name(buffer.0), show(value)),
        HostPred::LengthAtLeast(buffer, value) => {
            let whole = module.workspace.as_ref().filter(|known| known.has_parts());
            let is_whole = whole.is_some_and(|known| known.elems == *value);
            let need = if is_whole { "workspace_elems".to_string() } else { show(value) };
            format!("len({}) >= {need}", name(buffer.0))
        }
        HostPred::AlignedTo(buffer, bytes) => {
            format!("address({}) % {bytes} == 0", name(buffer.0))
        }
        HostPred::InBuffer(buffer) => format!("view({}) in bounds", name(buffer.0)),
        HostPred::UnitStride(buffer, dim) => format!("{} == 1", stride(module, *buffer, *dim)),
        HostPred::StrideMultipleOf(buffer, dim, divisor) => {
            format!("{} % {divisor} == 0", stride(module, *buffer, *dim))
        }
        HostPred::IndicesBelow(buffer, value) => {
            format!("below({}) <= {}", name(buffer.0), show(value))
        }
        HostPred::PointersInto(buffer, value) => {
            format!("end({}) == {}", name(buffer.0), show(value))
        }
        HostPred::All(all) if all.is_empty() => "true".to_string(),
        HostPred::All(all) => {
            let all: Vec<String> =
                all.iter().map(|one| self::pred(module, one, show_with)).collect();
            all.join(" && ")
        }
    }
}

/// What `launch` says is in `kernel::wording`; here stands only which error it is.
fn error(module: &Module, error: &HostError) -> String {
    let label = |position: usize| &module.labels[position].name;
    let buffer = |position: usize| &module.buffers[position].name;
    match error {
        HostError::ExtentLimit { label: position, limit: _ } => {
            format!("extent limit of {}", label(*position))
        }
        HostError::FixedExtent { label: position, fixed: _ } => {
            format!("fixed extent of {}", label(*position))
        }
        HostError::ExtentMismatch { first, other, buffer: id } => {
            format!("extent mismatch of {}, {} in {}", label(*first), label(*other), buffer(id.0))
        }
        HostError::SizeOverflow { buffer: id } => format!("size overflow of {}", buffer(id.0)),
        HostError::LengthMismatch { buffer: id } => format!("length mismatch of {}", buffer(id.0)),
        HostError::OutOfBuffer { buffer: id } => format!("{} out of its buffer", buffer(id.0)),
        HostError::IndexOutOfRange { buffer: id } => {
            format!("index out of range of {}", buffer(id.0))
        }
        HostError::WorkspaceTooShort { buffer: _, need: _ } => "workspace too short".to_string(),
        HostError::LaunchLimit { what, need: _, limit: _ } => format!("launch limit of {what}"),
    }
}

/// Limits are near powers of two, which read better than their digits.
fn number(number: u64) -> String {
    let is_large = number > u64::from(u16::MAX);
    match number.checked_add(1) {
        _ if is_large && number.is_power_of_two() => format!("2^{}", number.trailing_zeros()),
        Some(above) if is_large && above.is_power_of_two() => {
            format!("2^{} - 1", above.trailing_zeros())
        }
        Some(_) | None => number.to_string(),
    }
}
