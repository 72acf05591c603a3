//! What a check found, before it is text or JSON.

use mage_einsum::oracle::Evaluation;

use super::trial::Trial;

/// A whole check.
#[derive(Debug)]
pub struct Report {
    /// The notation as written.
    pub notation: String,
    /// The options in canonical form.
    pub options: String,
    /// The index IR's statement.
    pub statement: String,
    /// The name of the kernel's module.
    pub module: String,
    /// The names of its kernels; launches index them.
    pub kernels: Vec<String>,
    /// The product that the kernel was planned for.
    pub device: &'static str,
    /// One a set of extents.
    pub runs: Vec<Run>,
}

/// One set of extents.
#[derive(Debug)]
pub struct Run {
    /// The extent of each label, in order of first appearance.
    pub extents: Vec<(String, u64)>,
    /// The outputs, in their order.
    pub outputs: Vec<Output>,
    /// Each fill with each arrangement of the operands, and with each alignment that leads to
    /// another launch.
    pub trials: Vec<Trial>,
    /// Elements of the workspace; 0 where there are no temporaries.
    pub workspace_elems: u64,
    /// Their bytes.
    pub workspace_bytes: u128,
    /// Variants of the kernels that were not selected.
    pub idle_variants: Vec<String>,
}

/// What an output is at the extents of a run.
#[derive(Debug)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Its extents.
    pub shape: Vec<usize>,
    /// Terms of each element's sum; 1 where nothing is summed.
    pub n_terms: u64,
}

impl Output {
    /// The output that was evaluated.
    pub fn of(name: &str, evaluation: &Evaluation) -> Output {
        let (shape, n_terms) = (evaluation.values.shape().to_vec(), evaluation.n_terms);
        Output { name: name.to_string(), shape, n_terms }
    }

    /// Its elements.
    pub fn n_elements(&self) -> usize {
        self.shape.iter().product()
    }
}

impl Report {
    /// Whether every element of every trial is right.
    pub fn holds(&self) -> bool {
        self.trials().all(Trial::holds)
    }

    /// The trials of all runs.
    pub fn trials(&self) -> impl Iterator<Item = &Trial> {
        self.runs.iter().flat_map(|run| &run.trials)
    }
}

impl Run {
    /// Whether operands lay in more than one way.
    pub fn is_rearranged(&self) -> bool {
        self.trials.windows(2).any(|pair| pair[0].arrangement != pair[1].arrangement)
    }

    /// Elements of all outputs.
    pub fn n_elements(&self) -> usize {
        self.outputs.iter().map(Output::n_elements).sum()
    }
}
