//! `mage grad`: the contractions that give the gradients of a contraction's operands.

use mage_einsum::index::{self, Gradient, gradients};

use crate::Answer;
use crate::args::GradArgs;
use crate::refusal::Refusal;
use crate::request::Request;
use crate::table::{columns, row, wrapped};

/// Answers `mage grad`.
pub fn answer(asked: &GradArgs) -> Result<Answer, Refusal> {
    let request = Request::of(&asked.spec, &[])?;
    let program = index::lower(&request.spec.notation, &request.spec.options)
        .map_err(|mistakes| Refusal::mistakes(&mistakes, request.texts()))?;
    let gradients = gradients(&program);
    let text = format!("{}\n\n{}", index::print_statement(&program), told(&gradients));
    Ok(Answer { holds: gradients.iter().all(|gradient| gradient.notation.is_ok()), text })
}

/// The contractions in a table, and below it what there is to say of the others.
pub fn told(gradients: &[Gradient]) -> String {
    let rows = gradients.iter().filter_map(|gradient| {
        let notation = gradient.notation.as_ref().ok()?;
        Some(row([&gradient.of, notation, &gradient.operands.join(", ")]))
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    if !rows.is_empty() {
        rows.insert(0, row(["gradient of", "notation", "operands"]));
    }
    let sentences = gradients.iter().filter_map(reason).chain(repeated(gradients));
    let sentences = sentences.map(|sentence| wrapped(&sentence, 2));
    let table = (!rows.is_empty()).then(|| columns(&rows));
    table.into_iter().chain(sentences).collect::<Vec<_>>().join("\n")
}

fn reason(gradient: &Gradient) -> Option<String> {
    let why = gradient.notation.as_ref().err()?;
    Some(format!("No contraction gives the gradient of `{}`: {why}.", gradient.of))
}

/// Tensors that are several factors.
fn repeated(gradients: &[Gradient]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for (position, gradient) in gradients.iter().enumerate() {
        let is_earlier = gradients[..position].iter().any(|earlier| earlier.of == gradient.of);
        if is_earlier && !names.contains(&gradient.of.as_str()) {
            names.push(&gradient.of);
        }
    }
    let [first, rest @ ..] = names.as_slice() else { return None };
    let names = rest.iter().fold(format!("`{first}`"), |names, name| format!("{names}, `{name}`"));
    Some(format!("The gradient of {names} is the sum of its lines."))
}
