//! One trial: the module in the emulator on one fill, one arrangement of the operands and one
//! alignment, compared with the oracle.

use mage_codegen::emulate::{
    Arguments, Failure, HostFailure, Input, Launched, Output, run_observed,
};
use mage_codegen::kernel::Module;
use mage_einsum::index::Layout;
use mage_einsum::oracle::Evaluation;
use mage_einsum::view::Stored;

use super::operands::Operands;
use super::verdict::{self, Verdict};
use crate::progress::Progress;

/// What a trial is made under.
#[derive(Debug)]
pub struct Conditions<'a> {
    /// The module.
    pub module: &'a Module,
    /// One extent a label.
    pub extents: &'a [u64],
    /// The name of the fill.
    pub fill: &'static str,
    /// The name of the operands' arrangement.
    pub arrangement: &'static str,
    /// Of every buffer.
    pub byte_alignment: u64,
}

/// A finished trial.
#[derive(Debug)]
pub struct Trial {
    /// The name of the fill.
    pub fill: &'static str,
    /// The name of the operands' arrangement.
    pub arrangement: &'static str,
    /// Of every buffer.
    pub byte_alignment: u64,
    /// What the host launched; empty where nothing was, or where the emulator trapped.
    pub launches: Vec<Launched>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a trial ends.
#[derive(Debug)]
pub enum Outcome {
    /// Every element was compared: one verdict an output, in their order.
    Compared(Vec<Verdict>),
    /// The kernel broke a rule of the kernel IR: where and which.
    Trapped(String),
}

impl Trial {
    /// Whether every element is right.
    pub fn holds(&self) -> bool {
        match &self.outcome {
            Outcome::Compared(verdicts) => verdicts.iter().all(|verdict| verdict.n_wrong == 0),
            Outcome::Trapped(_) => false,
        }
    }
}

/// Runs a trial. The host's refusal is the caller's mistake; a trap is a verdict.
pub fn tried(
    conditions: &Conditions<'_>,
    operands: &Operands,
    evaluations: &[Evaluation],
) -> Result<Trial, HostFailure> {
    let Conditions { module, extents, fill, arrangement, byte_alignment } = *conditions;
    let layouts = module.buffers.iter().map(|buffer| buffer.layout);
    let stored = operands.stored.iter().zip(layouts);
    let inputs: Vec<Input<'_>> = stored
        .map(|(Stored { data, view }, layout)| {
            let view = (layout == Layout::Strided).then_some(view);
            Input { data, view, byte_alignment }
        })
        .collect();
    let before = operands.before.as_ref().and_then(|array| array.as_slice()).unwrap_or(&[]);
    let len = |evaluation: &Evaluation| evaluation.values.len();
    let outputs: Vec<Output<'_>> = evaluations
        .iter()
        .map(|evaluation| Output { len: len(evaluation), before, byte_alignment })
        .collect();
    let indices: Vec<&[u32]> =
        operands.indices.iter().map(|indices| indices.as_slice().unwrap_or(&[])).collect();
    let arguments = Arguments {
        extents,
        inputs: &inputs,
        indices: &indices,
        outputs: &outputs,
        workspace_len: None,
        workspace_byte_alignment: byte_alignment,
    };
    let mut progress = Progress::new(format!("fill {fill}"));
    let observed =
        run_observed(module, &arguments, &mut |done, blocks| progress.tell(done, blocks));
    let (launches, outcome) = match observed {
        Ok(run) => {
            let compared = run.outputs.iter().zip(evaluations);
            let verdicts = compared.map(|(got, evaluation)| verdict::of(got, evaluation));
            (run.launches, Outcome::Compared(verdicts.collect()))
        }
        Err(Failure::Trap(trap)) => (Vec::new(), Outcome::Trapped(trap.to_string())),
        Err(Failure::Host(refused)) => return Err(refused),
    };
    Ok(Trial { fill, arrangement, byte_alignment, launches, outcome })
}
