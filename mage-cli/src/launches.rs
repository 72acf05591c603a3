//! What the host would launch, without launching it: the arms it selects and the blocks of each
//! grid. `check` asks which alignments differ, `explain` shows the answer.

use mage_codegen::emulate::Launched;
use mage_codegen::kernel::{Arm, HostExpr, HostPred, HostStep, Module};

/// Bytes that every buffer's address is a multiple of.
pub const ALIGNED: u64 = 16;

/// The same for a view that starts at any element.
pub const UNALIGNED: u64 = 4;

/// What the host knows at a launch; every buffer has the length it must have.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The module.
    pub module: &'a Module,
    /// One extent a label.
    pub extents: &'a [u64],
    /// Of every buffer.
    pub byte_alignment: u64,
}

/// The launches in order; none where the host refuses, which the emulator says better.
pub fn launches(situation: Situation<'_>) -> Option<Vec<Launched>> {
    let mut found = Vec::new();
    steps(situation, &situation.module.host, "", &mut found)?;
    Some(found)
}

/// The names of all arms that a host may select, in order.
pub fn arms(module: &Module) -> Vec<&str> {
    let selects = module.host.iter().filter_map(|step| match step {
        HostStep::Select(arms) => Some(arms),
        HostStep::Require { .. } | HostStep::ReturnIf(_) | HostStep::Launch { .. } => None,
    });
    selects.flatten().map(|arm| arm.name.as_str()).collect()
}

/// Whether the host goes on after a list of steps.
#[derive(PartialEq, Eq)]
enum Flow {
    Next,
    Return,
}

fn steps(
    situation: Situation<'_>,
    list: &[HostStep],
    arm: &str,
    found: &mut Vec<Launched>,
) -> Option<Flow> {
    for step in list {
        match step {
            HostStep::Require { that, error: _ } => {
                holds(situation, that)?.then_some(())?;
            }
            HostStep::ReturnIf(condition) => {
                if holds(situation, condition)? {
                    return Some(Flow::Return);
                }
            }
            HostStep::Select(arms) => {
                let Arm { name, steps: chosen, eligible: _ } =
                    arms.iter().find(|arm| holds(situation, &arm.eligible) == Some(true))?;
                if steps(situation, chosen, name, found)? == Flow::Return {
                    return Some(Flow::Return);
                }
            }
            HostStep::Launch { kernel, blocks } => found.push(Launched {
                kernel: *kernel,
                arm: arm.to_string(),
                blocks: value(situation, blocks)?,
            }),
        }
    }
    Some(Flow::Next)
}

fn holds(situation: Situation<'_>, condition: &HostPred) -> Option<bool> {
    match condition {
        HostPred::AtMost(expr, limit) => Some(value(situation, expr)? <= *limit),
        HostPred::MultipleOf(expr, divisor) => {
            Some(value(situation, expr)?.checked_rem(*divisor)? == 0)
        }
        HostPred::IsZero(expr) => Some(value(situation, expr)? == 0),
        HostPred::Equal(left, right) => Some(value(situation, left)? == value(situation, right)?),
        HostPred::LengthIs(..) => Some(true),
        HostPred::AlignedTo(_, bytes) => Some(situation.byte_alignment.checked_rem(*bytes)? == 0),
        HostPred::All(parts) => {
            for part in parts {
                if !holds(situation, part)? {
                    return Some(false);
                }
            }
            Some(true)
        }
    }
}

fn value(situation: Situation<'_>, expr: &HostExpr) -> Option<u64> {
    match expr {
        HostExpr::Const(number) => Some(*number),
        HostExpr::Extent(label) => situation.extents.get(*label).copied(),
        HostExpr::Product(factors) => factors
            .iter()
            .try_fold(1_u64, |product, factor| product.checked_mul(value(situation, factor)?)),
        HostExpr::CeilDiv(dividend, divisor) => {
            let (dividend, divisor) = (value(situation, dividend)?, *divisor);
            (divisor > 0).then(|| dividend.div_ceil(divisor))
        }
    }
}
