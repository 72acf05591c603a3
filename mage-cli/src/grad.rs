//! `mage grad`: the contractions that give the gradients of a contraction's operands.

use mage_einsum::index::{self, Gradient, gradients};

use crate::Answer;
use crate::args::GradArgs;
use crate::refusal::Refusal;
use crate::request::Request;
use crate::table::{columns, row};

/// Answers `mage grad`.
pub fn answer(asked: &GradArgs) -> Result<Answer, Refusal> {
    let request = Request::of(&asked.spec, &[])?;
    let program = index::lower(&request.spec.notation, &request.spec.options)
        .map_err(|mistakes| Refusal::mistakes(&mistakes, request.texts()))?;
    let gradients = gradients(&program);
    let rows = gradients.iter().filter_map(|gradient| {
        let notation = gradient.notation.as_ref().ok()?;
        Some(row([&gradient.of, notation, &gradient.operands.join(", ")]))
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    let mut text = format!("{}\n", index::print_statement(&program));
    if !rows.is_empty() {
        rows.insert(0, row(["gradient of", "notation", "operands"]));
        text = format!("{text}\n{}", columns(&rows));
    }
    for said in gradients.iter().filter_map(reason).chain(repeated(&gradients)) {
        text = format!("{text}\n{said}\n");
    }
    Ok(Answer { holds: gradients.iter().all(|gradient| gradient.notation.is_ok()), text })
}

fn reason(gradient: &Gradient) -> Option<String> {
    let why = gradient.notation.as_ref().err()?;
    Some(format!("No contraction gives the gradient of `{}`: {why}.", gradient.of))
}

/// Tensors that are several factors.
fn repeated(gradients: &[Gradient]) -> Option<String> {
    let again = |(at, gradient): (usize, &Gradient)| {
        gradients[..at].iter().any(|earlier| earlier.of == gradient.of).then(|| gradient.of.clone())
    };
    let mut names: Vec<String> = gradients.iter().enumerate().filter_map(again).collect();
    names.dedup();
    let [first, rest @ ..] = names.as_slice() else { return None };
    let names = rest.iter().fold(format!("`{first}`"), |names, name| format!("{names}, `{name}`"));
    Some(format!("The gradient of {names} is the sum of its lines."))
}
