//! Whether the host's steps use a value again, so that it deserves a name.

use crate::kernel::walk;
use crate::kernel::{HostExpr, HostPred, HostStep, Module, ParamValue};

/// Whether a step of `steps`, or a kernel that one launches, uses `value`.
pub fn is_mentioned(module: &Module, steps: &[HostStep], value: &HostExpr) -> bool {
    steps.iter().any(|step| match step {
        HostStep::Require { that, error: _ } => in_pred(that, value),
        HostStep::ReturnIf(when) => in_pred(when, value),
        HostStep::Let { name: _, value: named } => in_expr(named, value),
        HostStep::Unless(when, steps) => in_pred(when, value) || is_mentioned(module, steps, value),
        HostStep::Select(arms) => arms
            .iter()
            .any(|arm| in_pred(&arm.eligible, value) || is_mentioned(module, &arm.steps, value)),
        HostStep::Launch { kernel, blocks } => {
            let kernel = &module.kernels[*kernel];
            let temps = walk::buffers(kernel).into_keys().filter_map(|id| module.first_elem(id));
            let params = kernel.params.iter().filter_map(|param| match &param.value {
                ParamValue::Unsigned(value) => Some(value),
                ParamValue::Stride { .. } => None,
            });
            temps.chain(params).chain([blocks]).any(|expr| in_expr(expr, value))
        }
    })
}

fn in_pred(pred: &HostPred, value: &HostExpr) -> bool {
    match pred {
        HostPred::AtMost(expr, _)
        | HostPred::AtLeast(expr, _)
        | HostPred::MultipleOf(expr, _)
        | HostPred::IsZero(expr)
        | HostPred::LengthIs(_, expr)
        | HostPred::IndicesBelow(_, expr)
        | HostPred::PointersInto(_, expr) => in_expr(expr, value),
        HostPred::Equal(left, right) | HostPred::NotAbove(left, right) => {
            in_expr(left, value) || in_expr(right, value)
        }
        // The need of a workspace has a function of its own.
        HostPred::LengthAtLeast(..)
        | HostPred::AlignedTo(..)
        | HostPred::InBuffer(_)
        | HostPred::UnitStride(..)
        | HostPred::StrideMultipleOf(..) => false,
        HostPred::All(all) => all.iter().any(|one| in_pred(one, value)),
    }
}

/// Whether `expr` uses `value`.
pub fn in_expr(expr: &HostExpr, value: &HostExpr) -> bool {
    let inside = match expr {
        HostExpr::Const(_) | HostExpr::Extent(_) | HostExpr::Listed(_) => false,
        HostExpr::Product(parts) | HostExpr::Sum(parts) | HostExpr::Min(parts) => {
            parts.iter().any(|part| in_expr(part, value))
        }
        HostExpr::CeilDiv(inner, divisor) => in_expr(inner, value) || in_expr(divisor, value),
        HostExpr::RoundUp(inner, _) | HostExpr::Max(inner, _) => in_expr(inner, value),
        HostExpr::Where(when, inner) => in_pred(when, value) || in_expr(inner, value),
    };
    inside || expr == value
}
