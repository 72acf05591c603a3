//! The option `path`: pairs of positions in the list of factors that is left, as opt_einsum and
//! numpy write them. A step takes its two factors out and puts its result at the end.

use crate::diagnostic::{Code, Diagnostic};
use crate::options::Options;

/// Checks that `path` contracts `n_factors` factors to one.
pub(super) fn checked(
    path: &[(usize, usize)],
    n_factors: usize,
    options: &Options,
) -> Result<Vec<(usize, usize)>, Diagnostic> {
    let n_steps = n_factors.saturating_sub(1);
    if path.len() != n_steps {
        let steps = |n: usize| format!("{n} {}", if n == 1 { "step" } else { "steps" });
        let operands = if n_factors == 1 { "operand takes" } else { "operands take" };
        let (given, needed) = (steps(path.len()), steps(n_steps));
        let message = format!("the path has {given} but {n_factors} {operands} {needed}");
        let help = format!("write {needed}, or leave `path` out");
        return Err(at_path(message, options).help(help));
    }
    for (step, &(left, right)) in path.iter().enumerate() {
        let n_left = n_factors - step;
        if left == right || left.max(right) >= n_left {
            let message = format!(
                "step {step} of the path is ({left}, {right}), but {n_left} operands are left then"
            );
            let help = format!("write two different positions from 0 to {}", n_left - 1);
            return Err(at_path(message, options).help(help));
        }
    }
    Ok(path.iter().map(|&(left, right)| (left.min(right), left.max(right))).collect())
}

fn at_path(message: String, options: &Options) -> Diagnostic {
    let mistake = Diagnostic::option(Code::BadOption, message).place("option `path`");
    Diagnostic { span: options.span_of("path"), ..mistake }
}
