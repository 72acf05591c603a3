//! The tensors of a program while it is evaluated: the operands first, then each temporary as its
//! statement has been evaluated, all in f64.

use ndarray::{ArrayD, ArrayViewD, CowArray, IxDyn};

use super::Evaluation;
use super::sum::Sums;
use crate::dtype::{Dtype, Element};
use crate::index::{Program, TensorId, TensorKind};
use crate::tolerance::bound;

/// The values of one tensor with what its bound needs.
pub(super) struct Held {
    pub(super) values: ArrayD<f64>,
    off: Off,
}

/// How far a kernel's values may be from those held.
enum Off {
    /// Not at all: an operand.
    Exact,
    /// By a sum of products of operands that each element is.
    Products {
        /// The sums of absolute products.
        magnitudes: ArrayD<f64>,
        /// Products of operands that each element is the sum of.
        n_terms: u64,
    },
    /// By so much.
    Errors {
        errors: ArrayD<f64>,
        /// For a mean whose deviations are corrected, what they have in common.
        of_deviations: Option<ArrayD<f64>>,
    },
}

impl Held {
    /// Every operand and index operand, and room for what the statements write.
    pub(super) fn operands<T: Element>(
        program: &Program,
        operands: &[ArrayViewD<'_, T>],
        indices: &[ArrayViewD<'_, u32>],
    ) -> Vec<Held> {
        let exact = |values: ArrayD<f64>| Held { values, off: Off::Exact };
        let given = operands.iter().map(|operand| exact(operand.mapv(T::to_f64)));
        let indices = indices.iter().map(|indices| exact(indices.mapv(f64::from)));
        let mut tensors: Vec<Held> = given.chain(indices).collect();
        tensors.resize_with(program.tensors.len(), || exact(ArrayD::zeros(IxDyn(&[0]))));
        tensors
    }

    /// What a sum of products of such tensors wrote.
    pub(super) fn products(Sums { values, magnitudes }: Sums, n_terms: u64) -> Held {
        Held { values, off: Off::Products { magnitudes, n_terms } }
    }

    /// What any other statement wrote.
    pub(super) fn with_errors(
        values: ArrayD<f64>,
        errors: ArrayD<f64>,
        of_deviations: Option<ArrayD<f64>>,
    ) -> Held {
        Held { values, off: Off::Errors { errors, of_deviations } }
    }

    /// Whether the sum of absolute products is other than the absolute value.
    pub(super) fn is_computed(&self) -> bool {
        matches!(self.off, Off::Products { .. })
    }

    /// Whether it is made of products and sums alone.
    pub(super) fn is_of_products(&self) -> bool {
        !matches!(self.off, Off::Errors { .. })
    }

    /// Products of operands that each element is the sum of.
    pub(super) fn n_terms(&self) -> u64 {
        match &self.off {
            Off::Products { n_terms, .. } => *n_terms,
            Off::Exact | Off::Errors { .. } => 1,
        }
    }

    /// For each element the sum of absolute products that it came from; for an operand, which came
    /// from nothing, the absolute values.
    pub(super) fn magnitudes(&self) -> CowArray<'_, f64, IxDyn> {
        match &self.off {
            Off::Products { magnitudes, .. } => CowArray::from(magnitudes.view()),
            Off::Exact | Off::Errors { .. } => CowArray::from(self.values.mapv(f64::abs)),
        }
    }

    /// How far a kernel's value may be from each; none where it is never off. The type is that of
    /// the temporary that holds it.
    pub(super) fn errors(&self, dtype: Dtype) -> Option<CowArray<'_, f64, IxDyn>> {
        match &self.off {
            Off::Exact => None,
            Off::Errors { errors, .. } => Some(CowArray::from(errors.view())),
            Off::Products { magnitudes, n_terms } => {
                let bounds = ndarray::Zip::from(&self.values).and(magnitudes);
                let bound =
                    |value: &f64, magnitude: &f64| bound(*value, *magnitude, *n_terms, dtype);
                Some(CowArray::from(bounds.map_collect(bound)))
            }
        }
    }

    /// For a mean whose deviations are corrected, what they may be off by together.
    pub(super) fn of_deviations(&self) -> Option<&ArrayD<f64>> {
        match &self.off {
            Off::Errors { of_deviations, .. } => of_deviations.as_ref(),
            Off::Exact | Off::Products { .. } => None,
        }
    }

    /// Adds what the output held before to what a statement wrote: one more term.
    pub(super) fn add(&mut self, before: &ArrayViewD<'_, impl Element>, dtype: Dtype) {
        let before = before.mapv(Element::to_f64);
        self.values += &before;
        match &mut self.off {
            Off::Exact => {}
            Off::Products { magnitudes, n_terms } => {
                *magnitudes += &before.mapv(f64::abs);
                *n_terms = n_terms.saturating_add(1);
            }
            Off::Errors { errors, .. } => {
                let unit = dtype.accumulator().half_ulp(1.0);
                *errors += &self.values.mapv(|value| unit * value.abs());
            }
        }
    }

    /// The evaluations of the program's outputs.
    pub(super) fn into_evaluations(tensors: Vec<Held>, program: &Program) -> Vec<Evaluation> {
        let written = tensors.into_iter().enumerate();
        let written = written.map(|(position, held)| (TensorId(position), held));
        let is_output = |tensor: TensorId| program.tensor(tensor).kind == TensorKind::Output;
        written
            .filter(|(tensor, _)| is_output(*tensor))
            .map(|(tensor, held)| held.into_evaluation(program, tensor))
            .collect()
    }

    fn into_evaluation(self, program: &Program, tensor: TensorId) -> Evaluation {
        let magnitudes = self.magnitudes().into_owned();
        let n_terms = self.n_terms();
        let errors = match self.off {
            Off::Errors { errors, .. } => Some(errors),
            Off::Exact | Off::Products { .. } => None,
        };
        Evaluation {
            values: self.values,
            magnitudes,
            n_terms,
            errors,
            dtype: program.tensor(tensor).dtype,
            precision: program.precision,
            n_factors: n_factors(program, tensor),
        }
    }
}

/// Factors of a product that a tensor is the sum of: those of the statements that lead to it, but
/// one a statement that is the result of an earlier one.
fn n_factors(program: &Program, tensor: TensorId) -> usize {
    let mut wanted = vec![tensor];
    let (mut n_factors, mut n_statements) = (0_usize, 0_usize);
    for statement in program.statements.iter().rev() {
        if wanted.contains(&statement.target.tensor) {
            let factors = statement.factors();
            n_factors += factors.len();
            n_statements += 1;
            wanted.extend(factors.into_iter().map(|factor| factor.tensor));
        }
    }
    (n_factors + 1).saturating_sub(n_statements)
}
