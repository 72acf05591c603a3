//! The definition of what a program means: at every point of the output, over every point of the
//! reduced modes, the value of the expression tree. It is slow and has nothing to get wrong.

use ndarray::{ArrayD, ArrayViewD, Dimension, indices};

use super::held::Held;
use super::number::{DoubleDouble, Number};
use super::sum::Sums;
use super::{Evaluation, accumulator, in_order};
use crate::binding::Extents;
use crate::diagnostic::Diagnostics;
use crate::dtype::{Dtype, Element};
use crate::index::{Expr, ModeId, Program, Statement};

/// Evaluates `program` by walking its expressions for every product.
///
/// # Errors
/// As for [`super::evaluate`].
pub fn evaluate_by_tree<T: Element>(
    program: &Program,
    operands: &[ArrayViewD<'_, T>],
) -> Result<Evaluation, Diagnostics> {
    in_order(program, operands, |statement, extents, tensors| {
        let values: Vec<_> = tensors.iter().map(|tensor| tensor.values.view()).collect();
        let magnitudes: Vec<_> = tensors.iter().map(Held::magnitudes).collect();
        let magnitudes: Vec<_> = magnitudes.iter().map(|array| array.view()).collect();
        let evaluation = Tree { program, statement, extents };
        Ok(Sums {
            values: match accumulator(program, statement) {
                Dtype::F16 | Dtype::BF16 | Dtype::F32 => evaluation.of::<f64>(&values),
                Dtype::F64 => evaluation.of::<DoubleDouble>(&values),
            },
            magnitudes: evaluation.of::<f64>(&magnitudes),
        })
    })
}

/// One statement at its extents.
struct Tree<'p> {
    program: &'p Program,
    statement: &'p Statement,
    extents: &'p Extents,
}

impl Tree<'_> {
    /// The statement's values where the tensors hold `elements`.
    fn of<N: Number>(&self, elements: &[ArrayViewD<'_, f64>]) -> ArrayD<f64> {
        let Tree { statement, .. } = self;
        let reduced = self.box_of(&statement.reduced);
        let mut values = ArrayD::zeros(self.box_of(&statement.target.modes));
        let mut at = vec![0; self.program.modes.len()];
        for (output, value) in values.indexed_iter_mut() {
            set(&mut at, &statement.target.modes, output.slice());
            let mut sum = N::of(0.0);
            for term in indices(reduced.as_slice()) {
                set(&mut at, &statement.reduced, term.slice());
                sum = sum.plus(product(&statement.value, elements, &at, N::of(1.0)));
            }
            *value = sum.rounded();
        }
        values
    }

    fn box_of(&self, modes: &[ModeId]) -> Vec<usize> {
        let extents = modes.iter().map(|mode| self.extents.of_mode(self.program.mode(*mode)));
        extents.map(|extent| usize::try_from(extent).unwrap_or(usize::MAX)).collect()
    }
}

fn set(at: &mut [usize], modes: &[ModeId], index: &[usize]) {
    for (mode, index) in modes.iter().zip(index) {
        at[mode.0] = *index;
    }
}

/// `so_far` times the value of `expr` where the modes are `at`.
fn product<N: Number>(expr: &Expr, elements: &[ArrayViewD<'_, f64>], at: &[usize], so_far: N) -> N {
    match expr {
        Expr::Access(access) => {
            let index: Vec<usize> = access.modes.iter().map(|mode| at[mode.0]).collect();
            so_far.times(elements[access.tensor.0][index.as_slice()])
        }
        Expr::Product(factors) => {
            factors.iter().fold(so_far, |so_far, factor| product(factor, elements, at, so_far))
        }
    }
}
