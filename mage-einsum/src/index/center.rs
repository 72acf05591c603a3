//! Program to program: where a mean of squared deviations is written, the deviations are corrected
//! for the rounding of their mean. With `m` rounded to f32, `x - m` has a common error that a large
//! mean makes larger than the deviations themselves; the mean of `x - m` is that error, and it is
//! small enough to be known exactly (Chan, Golub, LeVeque, Algorithms for Computing the Sample
//! Variance, 1983, "corrected two-pass algorithm").

use super::roles::roles;
use super::{Access, Expr, Operator, Program, Statement, Tensor, TensorId, TensorKind};
use crate::reducer::Reducer;

/// A mean whose deviations are squared and reduced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Centered {
    /// The mean.
    pub mean: TensorId,
    /// The statement that writes it.
    pub statement: usize,
    /// What it is the mean of.
    pub of: Access,
    /// The mean as the deviations read it.
    pub at: Access,
}

impl Centered {
    /// Whether `expr` is a deviation from this mean.
    pub fn is_deviation(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Binary(Operator::Subtract, of, at) => {
                **of == Expr::Access(self.of.clone()) && **at == Expr::Access(self.at.clone())
            }
            Expr::Access(_)
            | Expr::Number(_)
            | Expr::Product(_)
            | Expr::Binary(..)
            | Expr::Power(..)
            | Expr::Call(..) => false,
        }
    }
}

/// The means of a program whose deviations are squared and reduced over the same modes.
pub fn centered(program: &Program) -> Vec<Centered> {
    let means = program.statements.iter().enumerate().filter_map(|(position, statement)| {
        let Expr::Access(of) = &statement.value else { return None };
        let is_mean = statement.reducer == Reducer::Mean && !statement.reduced.is_empty();
        let is_plain = statement.segment.is_none() && of.gathers.is_empty();
        (is_mean && is_plain).then(|| Centered {
            mean: statement.target.tensor,
            statement: position,
            of: of.clone(),
            at: statement.target.clone(),
        })
    });
    means
        .filter(|mean| program.statements.iter().any(|other| squares(other, mean, program)))
        .collect()
}

/// Whether a statement adds up the squares of the deviations over the modes of the mean.
fn squares(statement: &Statement, mean: &Centered, program: &Program) -> bool {
    let reduced = &program.statements[mean.statement].reduced;
    let is_square = match &statement.value {
        Expr::Power(base, 2) => mean.is_deviation(base),
        Expr::Product(factors) => {
            factors.len() == 2 && factors.iter().all(|factor| mean.is_deviation(factor))
        }
        Expr::Access(_) | Expr::Number(_) | Expr::Binary(..) | Expr::Power(..) | Expr::Call(..) => {
            false
        }
    };
    is_square && statement.reducer.adds() && statement.reduced == *reduced
}

/// The same program with corrected deviations.
pub fn center(program: &Program) -> Program {
    let mut centered_program = program.clone();
    // Deviations that are corrected are none from the mean alone, so each step leaves fewer; they
    // are found anew because a step moves the numbers of the outputs.
    while let Some(mean) = centered(&centered_program).last() {
        correct(&mut centered_program, mean);
    }
    centered_program
}

fn correct(program: &mut Program, mean: &Centered) {
    // Temporaries stand before the outputs: the new one is the last of them.
    let is_before = |tensor: &&Tensor| tensor.kind != TensorKind::Output;
    let low = TensorId(program.tensors.iter().filter(is_before).count());
    let renumber = |tensor: TensorId| if tensor >= low { TensorId(tensor.0 + 1) } else { tensor };
    for statement in &mut program.statements {
        statement.target.tensor = renumber(statement.target.tensor);
    }
    let Tensor { name, dtype, layout, dims, .. } = program.tensor(mean.mean).clone();
    let mut name = format!("{name}_low");
    while program.tensors.iter().any(|tensor| tensor.name == name) {
        name.push('_');
    }
    let tensor = Tensor { name, kind: TensorKind::Temp, dtype, layout, dims };
    program.tensors.insert(low.0, tensor);
    for same in &mut program.same_extents {
        same.tensor = renumber(same.tensor);
    }
    // An output that is a mean, or that it is the mean of, has moved by one.
    let moved = |access: &Access| Access { tensor: renumber(access.tensor), ..access.clone() };
    let mean = Centered {
        mean: renumber(mean.mean),
        of: moved(&mean.of),
        at: moved(&mean.at),
        statement: mean.statement,
    };
    let correction = Access { tensor: low, ..mean.at.clone() };
    for statement in &mut program.statements {
        for access in statement.value.accesses_mut() {
            access.tensor = renumber(access.tensor);
        }
        replace(&mut statement.value, &mean, &correction);
        statement.roles = roles(&statement.target, &statement.value.accesses(), statement.segment);
    }
    let value = Expr::Binary(
        Operator::Subtract,
        Box::new(Expr::Access(mean.of.clone())),
        Box::new(Expr::Access(mean.at.clone())),
    );
    let roles = roles(&correction, &value.accesses(), None);
    let original = &program.statements[mean.statement];
    let statement =
        Statement { target: correction, accumulates: false, value, roles, ..original.clone() };
    program.statements.insert(mean.statement + 1, statement);
}

/// `x - m` becomes `(x - m) - low`.
fn replace(expr: &mut Expr, mean: &Centered, correction: &Access) {
    if mean.is_deviation(expr) {
        let deviation = Box::new(expr.clone());
        let low = Box::new(Expr::Access(correction.clone()));
        *expr = Expr::Binary(Operator::Subtract, deviation, low);
        return;
    }
    expr.parts_mut().into_iter().for_each(|part| replace(part, mean, correction));
}
