//! A classic einsum is sugar for one statement of the index form: operands get the names `A`,
//! `B`, ..., the output is made explicit, and every label that is not in it is summed (rule R11).

use std::collections::BTreeMap;

use super::{Access, Classic, Expr, Index, Label, Number, Reduction, Sign, Statement, Term};
use crate::diagnostic::Span;
use crate::reducer::Reducer;

/// The statement that `classic`, without an ellipsis, stands for. Spans still point into the
/// classic text.
pub(crate) fn desugar(classic: &Classic) -> Statement {
    let output: Vec<Label> = match &classic.output {
        Some(term) => term.labels().cloned().collect(),
        None => labels_that_stand_once(classic),
    };
    let mut reduced: Vec<Label> = Vec::new();
    for label in classic.operands.iter().flat_map(Term::labels) {
        let is_known = output.iter().chain(&reduced).any(|known| known.name == label.name);
        if !is_known {
            reduced.push(label.clone());
        }
    }
    let operands = classic.operands.iter().enumerate();
    let factors = operands.map(|(operand_idx, term)| access(operand_name(operand_idx), term));
    let product =
        factors.reduce(|left, right| Expr::Binary(Sign::Times, Box::new(left), Box::new(right)));
    let last_term = classic.output.as_ref().or(classic.operands.last());
    let span = last_term.map_or(Span::new(0, 0), |term| term.span);
    let tensor = Label { name: "out".to_owned(), span };
    let indices = output.into_iter().map(Index::Label).collect();
    // A classic text has one operand or more.
    let product = product.unwrap_or(Expr::Number(Number::new(1.0)));
    let value = match reduced.as_slice() {
        [] => product,
        [..] => {
            let sum = Reduction { reducer: Reducer::Sum, labels: reduced, range: None };
            Expr::Reduction(sum, Box::new(product))
        }
    };
    Statement { target: Access { tensor, indices }, value }
}

fn access(name: String, term: &Term) -> Expr {
    let tensor = Label { name, span: term.span };
    Expr::Access(Access { tensor, indices: term.labels().cloned().map(Index::Label).collect() })
}

/// `A` to `Z`, then `A1` to `Z1`, and so on.
fn operand_name(operand_idx: usize) -> String {
    let letter = ('A'..='Z').nth(operand_idx % 26).unwrap_or('A');
    match operand_idx / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// Labels that stand exactly once over all inputs, in ASCII order (rule R5). The ordered map
/// gives the order.
pub(super) fn labels_that_stand_once(classic: &Classic) -> Vec<Label> {
    let mut counts: BTreeMap<&str, (usize, &Label)> = BTreeMap::new();
    for label in classic.operands.iter().flat_map(Term::labels) {
        counts.entry(&label.name).or_insert((0, label)).0 += 1;
    }
    counts.into_values().filter(|(n, _)| *n == 1).map(|(_, label)| label.clone()).collect()
}
