//! Runs the host's steps as data and answers with the launches they end in. It comes before the
//! kernels, which no step depends on.

use crate::kernel::{
    Arm, HostError, HostExpr, HostPred, HostStep, Kernel, ParamValue, Piece, code, wording,
};

use super::facts::{Facts, Known};
use super::{Failure, HostFailure, Launched, Trap};

/// A launch that the host decided on.
pub(super) struct Planned {
    /// What is launched.
    pub launched: Launched,
    /// One value a parameter of the kernel.
    pub params: Vec<u64>,
}

/// The launches of the module's host steps, in order.
pub(super) fn plan(facts: &Facts<'_>) -> Result<Vec<Planned>, Failure> {
    facts.counts()?;
    let mut planned = Vec::new();
    steps(facts, &facts.module.host, &mut Vec::new(), &mut planned)?;
    Ok(planned)
}

/// The message of `error` with its numbers: the wording that `emit` prints as well.
pub(super) fn host_message(facts: &Facts<'_>, error: &HostError) -> String {
    wording(facts.module, error)
        .iter()
        .map(|piece| match piece {
            Piece::Text(words) => words.clone(),
            Piece::Value(expr) => value(facts.known(), expr)
                .map_or_else(|| format!("more than {}", u64::MAX), |value| value.to_string()),
            Piece::Length(buffer) => {
                facts.lengths.get(buffer.0).map_or_else(|| "?".to_string(), u64::to_string)
            }
            Piece::Lowest(buffer) => shown(facts.reach(*buffer).map(|(lowest, _)| lowest)),
            Piece::Highest(buffer) => shown(facts.reach(*buffer).map(|(_, highest)| highest)),
            Piece::First(buffer) => shown(facts.view(*buffer).map(|(view, _)| view.first)),
            Piece::Stride(buffer, dim) => shown(facts.stride(*buffer, *dim)),
            Piece::Bound(buffer) => shown(facts.bound(*buffer)),
        })
        .collect()
}

fn shown(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "?".to_string(), |number| number.to_string())
}

/// Whether the host goes on after a list of steps.
#[derive(PartialEq, Eq)]
enum Flow {
    Next,
    Return,
}

fn steps(
    facts: &Facts<'_>,
    list: &[HostStep],
    arms: &mut Vec<String>,
    planned: &mut Vec<Planned>,
) -> Result<Flow, Failure> {
    for step in list {
        match step {
            HostStep::Require { that, error } => {
                if holds(facts, that) != Some(true) {
                    let message = host_message(facts, error);
                    return Err(HostFailure { code: code(error), message }.into());
                }
            }
            HostStep::ReturnIf(condition) => {
                if decided(facts, condition)? {
                    return Ok(Flow::Return);
                }
            }
            HostStep::Let { name: _, value } => {
                required(facts, value)?;
            }
            HostStep::Unless(condition, inner) => {
                if !decided(facts, condition)?
                    && steps(facts, inner, arms, planned)? == Flow::Return
                {
                    return Ok(Flow::Return);
                }
            }
            HostStep::Select(choices) => {
                let arm = chosen(facts, choices)?;
                arms.push(arm.name.clone());
                let flow = steps(facts, &arm.steps, arms, planned)?;
                arms.pop();
                if flow == Flow::Return {
                    return Ok(Flow::Return);
                }
            }
            HostStep::Launch { kernel, blocks } => {
                planned.push(launch(facts, *kernel, blocks, arms.join("/"))?);
            }
        }
    }
    Ok(Flow::Next)
}

fn chosen<'a>(facts: &Facts<'_>, arms: &'a [Arm]) -> Result<&'a Arm, Failure> {
    for arm in arms {
        if decided(facts, &arm.eligible)? {
            return Ok(arm);
        }
    }
    Err(bug("no arm of a select is eligible"))
}

fn launch(
    facts: &Facts<'_>,
    kernel: usize,
    blocks: &HostExpr,
    arm: String,
) -> Result<Planned, Failure> {
    let launched: &Kernel =
        facts.module.kernels.get(kernel).ok_or_else(|| bug("a launch names no kernel"))?;
    let mut params = Vec::new();
    for param in &launched.params {
        params.push(match &param.value {
            ParamValue::Unsigned(value) => required(facts, value)?,
            ParamValue::Stride { buffer, dims } => {
                let mut strides = dims.iter().map(|dim| facts.stride(*buffer, *dim));
                let sum = strides.try_fold(0_i64, |sum, stride| Some(sum.wrapping_add(stride?)));
                sum.ok_or_else(|| bug("a parameter is the stride of no dimension"))?.cast_unsigned()
            }
        });
    }
    let blocks = required(facts, blocks)?;
    if blocks == 0 || blocks > MAX_BLOCKS {
        return Err(bug(&format!("{blocks} blocks in the grid, limit 1 to {MAX_BLOCKS}")));
    }
    Ok(Planned { launched: Launched { kernel, arm, blocks }, params })
}

/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": the largest x
/// dimension of a grid is 2^31-1 blocks.
const MAX_BLOCKS: u64 = (1 << 31) - 1;

fn required(facts: &Facts<'_>, expr: &HostExpr) -> Result<u64, Failure> {
    value(facts.known(), expr)
        .ok_or_else(|| bug("a host value overflows and nothing required it not to"))
}

fn decided(facts: &Facts<'_>, condition: &HostPred) -> Result<bool, Failure> {
    holds(facts, condition)
        .ok_or_else(|| bug("a host condition overflows and nothing required it not to"))
}

fn bug(what: &str) -> Failure {
    Failure::Trap(Trap {
        kernel: String::new(),
        block: None,
        thread: None,
        statement: String::new(),
        message: format!("{what} (a mistake in the module, not in the call)"),
    })
}

/// Whether the condition holds; none where an operation leaves 64 bits. What stands later in an
/// `All` is not looked at after a part that does not hold.
fn holds(facts: &Facts<'_>, condition: &HostPred) -> Option<bool> {
    match condition {
        HostPred::LengthIs(buffer, expr) => {
            Some(*facts.lengths.get(buffer.0)? == value(facts.known(), expr)?)
        }
        HostPred::LengthAtLeast(buffer, expr) => {
            let length = *facts.lengths.get(buffer.0)?;
            Some(value(facts.known(), expr).is_some_and(|need| length >= need))
        }
        HostPred::AlignedTo(buffer, bytes) => {
            let base = facts.byte_alignments.get(buffer.0)?.checked_rem(*bytes)?;
            let elem_bytes = facts.module.buffers.get(buffer.0)?.dtype.size_bytes();
            let first = facts.views.get(buffer.0)?.as_ref().map_or(0, |view| view.first);
            Some(is_zero(base) && is_zero(first.wrapping_mul(elem_bytes).checked_rem(*bytes)?))
        }
        HostPred::IndicesBelow(buffer, expr) => {
            Some(facts.bound(*buffer)? <= value(facts.known(), expr)?)
        }
        HostPred::PointersInto(buffer, expr) => {
            Some(facts.bound(*buffer)? == value(facts.known(), expr)?)
        }
        HostPred::InBuffer(buffer) => {
            let (view, extents) = facts.view(*buffer)?;
            let len = i128::from(*facts.lengths.get(buffer.0)?);
            Some(view.reach(&extents).is_none_or(|(lowest, highest)| lowest >= 0 && highest < len))
        }
        HostPred::UnitStride(buffer, dim) => Some(facts.stride(*buffer, *dim)? == 1),
        HostPred::StrideMultipleOf(buffer, dim, divisor) => {
            let (view, extents) = facts.view(*buffer)?;
            let stride = view.strides.get(*dim)?.unsigned_abs();
            Some(*extents.get(*dim)? <= 1 || stride.checked_rem(*divisor)? == 0)
        }
        HostPred::All(parts) => every(parts, |part| holds(facts, part)),
        HostPred::AtMost(..)
        | HostPred::AtLeast(..)
        | HostPred::MultipleOf(..)
        | HostPred::IsZero(_)
        | HostPred::Equal(..)
        | HostPred::NotAbove(..) => holds_of(facts.known(), condition),
    }
}

/// The same for a condition on values alone; none for one that asks for more.
fn holds_of(known: Known<'_>, condition: &HostPred) -> Option<bool> {
    match condition {
        HostPred::AtMost(expr, limit) => Some(value(known, expr)? <= *limit),
        HostPred::AtLeast(expr, limit) => Some(value(known, expr)? >= *limit),
        HostPred::MultipleOf(expr, divisor) => {
            value(known, expr)?.checked_rem(*divisor).map(is_zero)
        }
        HostPred::IsZero(expr) => value(known, expr).map(is_zero),
        HostPred::Equal(left, right) => Some(value(known, left)? == value(known, right)?),
        HostPred::NotAbove(left, right) => Some(value(known, left)? <= value(known, right)?),
        HostPred::All(parts) => every(parts, |part| holds_of(known, part)),
        HostPred::LengthIs(..)
        | HostPred::LengthAtLeast(..)
        | HostPred::AlignedTo(..)
        | HostPred::InBuffer(_)
        | HostPred::IndicesBelow(..)
        | HostPred::PointersInto(..)
        | HostPred::UnitStride(..)
        | HostPred::StrideMultipleOf(..) => None,
    }
}

fn every(parts: &[HostPred], holds: impl Fn(&HostPred) -> Option<bool>) -> Option<bool> {
    for part in parts {
        if !holds(part)? {
            return Some(false);
        }
    }
    Some(true)
}

fn is_zero(value: u64) -> bool {
    value == 0
}

/// The value; none where an operation leaves 64 bits. Products go from left to right, as the
/// emitted `checked_mul` chain does.
pub(super) fn value<'a>(known: impl Into<Known<'a>>, expr: &HostExpr) -> Option<u64> {
    let known = known.into();
    match expr {
        HostExpr::Const(number) => Some(*number),
        HostExpr::Extent(label) => known.extents.get(*label).copied(),
        HostExpr::Listed(list) => Some(known.lists.get(list.0)?.len() as u64),
        HostExpr::Product(factors) => factors
            .iter()
            .try_fold(1_u64, |product, factor| product.checked_mul(value(known, factor)?)),
        HostExpr::CeilDiv(dividend, divisor) => {
            let (dividend, divisor) = (value(known, dividend)?, value(known, divisor)?);
            let rest = u64::from(dividend.checked_rem(divisor)? != 0);
            dividend.checked_div(divisor)?.checked_add(rest)
        }
        HostExpr::Sum(terms) => {
            terms.iter().try_fold(0_u64, |sum, term| sum.checked_add(value(known, term)?))
        }
        HostExpr::RoundUp(inner, multiple) => {
            value(known, inner)?.checked_next_multiple_of(*multiple)
        }
        HostExpr::Max(inner, least) => Some(value(known, inner)?.max(*least)),
        HostExpr::Min(values) => {
            let values: Option<Vec<u64>> = values.iter().map(|part| value(known, part)).collect();
            values?.into_iter().min()
        }
        HostExpr::Where(condition, inner) => {
            if holds_of(known, condition)? {
                value(known, inner)
            } else {
                Some(0)
            }
        }
    }
}
