//! Program to program: where a mean of squared deviations is written, the deviations are corrected
//! for the rounding of their mean. With `m` rounded to f32, `x - m` has a common error that a large
//! mean makes larger than the deviations themselves; the mean of `x - m` is that error, and it is
//! small enough to be known exactly. The mean of the squares less the square of that mean is the
//! variance (Chan, Golub, LeVeque, Algorithms for Computing the Sample Variance, 1983, "corrected
//! two-pass algorithm"), so that neither of both means waits for the other.

use super::roles::roles;
use super::{Access, Expr, Operator, Program, Statement, Tensor, TensorId, TensorKind};
use crate::notation::Number;
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

    /// Whether a statement is the mean of the squares of the deviations. A sum of squares is not:
    /// the square of the correction would have to be taken off once a term.
    pub fn is_mean_square(&self, program: &Program, statement: &Statement) -> bool {
        statement.reducer == Reducer::Mean && squares(statement, self, program)
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
    // From the last, so that the positions of earlier statements stay; tensors may move.
    for position in (0..centered(program).len()).rev() {
        let mean = centered(&centered_program).swap_remove(position);
        correct(&mut centered_program, mean);
    }
    centered_program
}

fn correct(program: &mut Program, mean: Centered) {
    let is_mean_square = |statement: &Statement| mean.is_mean_square(program, statement);
    let mean_squares: Vec<usize> = (0..program.statements.len())
        .filter(|position| is_mean_square(&program.statements[*position]))
        .collect();
    let (low, renumbered) = temporary(program, mean.mean, "_low");
    // A mean that is an output itself has moved by one.
    let at = Access { tensor: renumbered(mean.mean), ..mean.at.clone() };
    let mean = Centered { mean: at.tensor, at, ..mean };
    let correction = Access { tensor: low, ..mean.at.clone() };
    for (position, statement) in program.statements.iter_mut().enumerate() {
        if mean_squares.contains(&position) {
            continue;
        }
        replace(&mut statement.value, &mean, &correction);
        statement.roles = roles(&statement.target, &statement.value.accesses(), statement.segment);
    }
    let of_mean = Expr::Binary(
        Operator::Subtract,
        Box::new(Expr::Access(mean.of.clone())),
        Box::new(Expr::Access(mean.at.clone())),
    );
    let roles = roles(&correction, &of_mean.accesses(), None);
    let original = program.statements[mean.statement].clone();
    let target = correction.clone();
    let statement = Statement { target, accumulates: false, value: of_mean, roles, ..original };
    program.statements.insert(mean.statement + 1, statement);
    // From the last, so that the positions of earlier ones stay; all have moved by one.
    for position in mean_squares.into_iter().rev() {
        take_off(program, position + 1, &correction);
    }
}

/// The mean of squares goes to a temporary, and the statement after it takes off the square of the
/// correction. What rounding leaves of equal ones is no less than nothing.
fn take_off(program: &mut Program, position: usize, correction: &Access) {
    let (raw, _) = temporary(program, program.statements[position].target.tensor, "_raw");
    let mean_square = &mut program.statements[position];
    let target = mean_square.target.clone();
    mean_square.target.tensor = raw;
    let raw = Box::new(Expr::Access(mean_square.target.clone()));
    let square = Box::new(Expr::Power(Box::new(Expr::Access(correction.clone())), 2));
    let difference = Box::new(Expr::Binary(Operator::Subtract, raw, square));
    let zero = Box::new(Expr::Number(Number::new(0.0)));
    let value = Expr::Binary(Operator::Max, difference, zero);
    let roles = roles(&target, &value.accesses(), None);
    let accumulates = std::mem::take(&mut mean_square.accumulates);
    let (reducer, reduced, segment) = (Reducer::Sum, Vec::new(), None);
    let statement = Statement { target, accumulates, reducer, reduced, segment, value, roles };
    program.statements.insert(position + 1, statement);
}

/// A temporary like a tensor, and how the tensors are numbered with it: it is the last before the
/// outputs.
fn temporary(
    program: &mut Program,
    like: TensorId,
    suffix: &str,
) -> (TensorId, impl Fn(TensorId) -> TensorId + use<>) {
    let is_before = |tensor: &&Tensor| tensor.kind != TensorKind::Output;
    let added = TensorId(program.tensors.iter().filter(is_before).count());
    let renumbered =
        move |tensor: TensorId| if tensor >= added { TensorId(tensor.0 + 1) } else { tensor };
    for statement in &mut program.statements {
        statement.target.tensor = renumbered(statement.target.tensor);
        for access in statement.value.accesses_mut() {
            access.tensor = renumbered(access.tensor);
        }
    }
    let Tensor { name, dtype, layout, dims, .. } = program.tensor(like).clone();
    let mut name = format!("{name}{suffix}");
    while program.tensors.iter().any(|tensor| tensor.name == name) {
        name.push('_');
    }
    let tensor = Tensor { name, kind: TensorKind::Temp, dtype, layout, dims };
    program.tensors.insert(added.0, tensor);
    (added, renumbered)
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
