//! The tensors of a program while it is evaluated: the operands first, then each temporary as its
//! statement has been evaluated, all in f64.

use ndarray::{ArrayD, ArrayViewD, CowArray, IxDyn};

use super::Evaluation;
use super::sum::Sums;
use crate::dtype::Element;
use crate::index::{Program, TensorId};

/// The values of one tensor with what its bound needs.
pub(super) struct Held {
    pub(super) values: ArrayD<f64>,
    /// For each element the sum of absolute products that it came from; for an operand, which came
    /// from nothing, the absolute values.
    magnitudes: Option<ArrayD<f64>>,
    /// Products of operands that each element is the sum of.
    pub(super) n_terms: u64,
}

impl Held {
    /// Every operand, and room for what the statements write.
    pub(super) fn operands<T: Element>(
        program: &Program,
        operands: &[ArrayViewD<'_, T>],
    ) -> Vec<Held> {
        let empty = || Held { values: ArrayD::zeros(IxDyn(&[0])), magnitudes: None, n_terms: 1 };
        let given = operands.iter().map(|operand| Held {
            values: operand.mapv(T::to_f64),
            magnitudes: None,
            n_terms: 1,
        });
        let mut tensors: Vec<Held> = given.collect();
        tensors.resize_with(program.tensors.len(), empty);
        tensors
    }

    /// What a statement wrote.
    pub(super) fn result(Sums { values, magnitudes }: Sums, n_terms: u64) -> Held {
        Held { values, magnitudes: Some(magnitudes), n_terms }
    }

    /// Whether the sum of absolute products is other than the absolute value.
    pub(super) fn is_computed(&self) -> bool {
        self.magnitudes.is_some()
    }

    pub(super) fn magnitudes(&self) -> CowArray<'_, f64, IxDyn> {
        match &self.magnitudes {
            Some(magnitudes) => CowArray::from(magnitudes.view()),
            None => CowArray::from(self.values.mapv(f64::abs)),
        }
    }

    /// Adds what the output held before to what a statement wrote: one more term.
    pub(super) fn add(&mut self, before: &ArrayViewD<'_, impl Element>) {
        let before = before.mapv(Element::to_f64);
        if let Some(magnitudes) = &mut self.magnitudes {
            *magnitudes += &before.mapv(f64::abs);
        }
        self.values += &before;
        self.n_terms = self.n_terms.saturating_add(1);
    }

    /// The evaluation of the program's last statement.
    pub(super) fn into_evaluation(
        mut tensors: Vec<Held>,
        program: &Program,
        target: TensorId,
    ) -> Evaluation {
        let Held { values, magnitudes, n_terms } = tensors.swap_remove(target.0);
        let magnitudes = magnitudes.unwrap_or_else(|| values.mapv(f64::abs));
        let factors = program.statements.iter().map(|statement| statement.factors().len());
        // A statement's factors but one that is the result of an earlier one.
        let n_factors = factors.sum::<usize>() + 1 - program.statements.len();
        Evaluation {
            values,
            magnitudes,
            n_terms,
            dtype: program.tensor(target).dtype,
            precision: program.precision,
            n_factors,
        }
    }
}
