//! The gradients of a contraction: that of a factor is a contraction of the output's gradient with
//! the other factors, because the output is linear in each of them.

use super::{Access, ModeId, Program, Statement, Tensor, TensorKind};

/// The gradient of one factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gradient {
    /// The factor's tensor.
    pub of: String,
    /// The operands of the notation, in order: the output's gradient and the other factors.
    pub operands: Vec<String>,
    /// The contraction that gives it, in the classic notation where every label is a letter and in
    /// the index form elsewhere; or why none does, in words.
    pub notation: Result<String, String>,
}

/// The gradients of the factors of a program's one statement, in order. Where a tensor is a factor
/// several times, its gradient is the sum of theirs. Those of a program that is more than a sum of
/// products are no contractions, which is said of each input.
pub fn gradients(program: &Program) -> Vec<Gradient> {
    match program.statements.as_slice() {
        [statement] if statement.is_sum_of_products() => of_statement(program, statement),
        _ => program
            .tensors_of(TensorKind::Input)
            .map(|(_, input)| of_no_contraction(input))
            .collect(),
    }
}

fn of_no_contraction(input: &Tensor) -> Gradient {
    let why = "the output is more than one sum of products, and what it depends on by other operations \
               has a gradient that is no contraction";
    Gradient { of: input.name.clone(), operands: Vec::new(), notation: Err(why.to_owned()) }
}

fn of_statement(program: &Program, statement: &Statement) -> Vec<Gradient> {
    let factors = statement.factors();
    let target = &statement.target;
    let gradient = |position: usize| {
        let factor = factors[position];
        let others = factors.iter().enumerate().filter(|(other, _)| *other != position);
        let others: Vec<&Access> = others.map(|(_, other)| *other).collect();
        let names = Names::new(program, target);
        let operands = others.iter().map(|other| program.tensor(other.tensor).name.clone());
        Gradient {
            of: program.tensor(factor.tensor).name.clone(),
            operands: [names.of_target.clone()].into_iter().chain(operands).collect(),
            notation: notation(program, factor, (target, &others), &names),
        }
    };
    (0..factors.len()).map(gradient).collect()
}

fn notation(
    program: &Program,
    factor: &Access,
    (target, others): (&Access, &[&Access]),
    names: &Names,
) -> Result<String, String> {
    let (name, label) =
        (&program.tensor(factor.tensor).name, |mode: ModeId| program.mode(mode).name.as_str());
    for (dim, mode) in factor.modes.iter().enumerate() {
        if factor.modes[..dim].contains(mode) {
            return Err(format!(
                "`{name}` is read on the diagonal of label `{}`: off it the gradient is zero, which \
                 no sum of products writes",
                label(*mode)
            ));
        }
    }
    for mode in &factor.modes {
        let inside = |access: &&Access| access.modes.contains(mode);
        if !inside(&target) && !others.iter().any(inside) {
            return Err(format!(
                "label `{}` is summed in `{name}` alone, so the gradient is the same along it, and \
                 nothing is broadcast",
                label(*mode)
            ));
        }
    }
    let joined = |modes: &[ModeId], between: &str| {
        modes.iter().map(|mode| label(*mode)).collect::<Vec<_>>().join(between)
    };
    let sources: Vec<&Access> = [target].into_iter().chain(others.iter().copied()).collect();
    let is_letter = |name: &str| name.len() == 1 && name.as_bytes()[0].is_ascii_alphabetic();
    if program.modes.iter().all(|mode| is_letter(&mode.name)) {
        let inputs: Vec<String> = sources.iter().map(|source| joined(&source.modes, "")).collect();
        return Ok(format!("{}->{}", inputs.join(","), joined(&factor.modes, "")));
    }
    let mut summed: Vec<ModeId> = Vec::new();
    for mode in sources.iter().flat_map(|source| &source.modes) {
        if !factor.modes.contains(mode) && !summed.contains(mode) {
            summed.push(*mode);
        }
    }
    let sum = match summed.as_slice() {
        [] => String::new(),
        summed => format!("sum({}) ", joined(summed, ",")),
    };
    let factors = others.iter().map(|other| {
        format!("{}[{}]", program.tensor(other.tensor).name, joined(&other.modes, ","))
    });
    let of_target = format!("{}[{}]", names.of_target, joined(&target.modes, ","));
    let factors: Vec<String> = [of_target].into_iter().chain(factors).collect();
    let of_factor = format!("{}[{}]", names.fresh(&format!("d{name}")), joined(&factor.modes, ","));
    Ok(format!("{of_factor} = {sum}{}", factors.join(" * ")))
}

/// Names of gradients, which no tensor has.
struct Names<'p> {
    program: &'p Program,
    of_target: String,
}

impl<'p> Names<'p> {
    fn new(program: &'p Program, target: &Access) -> Names<'p> {
        let mut names = Names { program, of_target: String::new() };
        names.of_target = names.fresh(&format!("d{}", program.tensor(target.tensor).name));
        names
    }

    fn fresh(&self, wish: &str) -> String {
        let is_taken = |name: &str| {
            name == self.of_target || self.program.tensors.iter().any(|tensor| tensor.name == name)
        };
        let mut name = wish.to_string();
        while is_taken(&name) {
            name.push('_');
        }
        name
    }
}
