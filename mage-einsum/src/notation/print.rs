//! The canonical text of a notation: no spaces in the classic form, one space around `=` and `*`
//! in the index form. Reading it back gives the same notation up to places.

use super::{Access, Form, Item, Label, Notation, Statement, Term};

/// Prints `notation` in canonical form.
pub fn print(notation: &Notation) -> String {
    match &notation.form {
        Form::Classic(classic) => {
            let operands: Vec<String> = classic.operands.iter().map(term).collect();
            let output = classic.output.as_ref().map(|output| format!("->{}", term(output)));
            operands.join(",") + &output.unwrap_or_default()
        }
        Form::Index(statements) => {
            let statements: Vec<String> = statements.iter().map(statement).collect();
            statements.join("; ")
        }
    }
}

fn term(term: &Term) -> String {
    let item = |item: &Item| match item {
        Item::Label(label) => label.name.clone(),
        Item::Ellipsis(_) => "...".to_owned(),
    };
    term.items.iter().map(item).collect()
}

fn statement(statement: &Statement) -> String {
    let factors: Vec<String> = statement.factors.iter().map(access).collect();
    let sum = match statement.reduced.as_slice() {
        [] => String::new(),
        reduced => format!("sum({}) ", names(reduced)),
    };
    format!("{} = {sum}{}", access(&statement.target), factors.join(" * "))
}

fn access(access: &Access) -> String {
    format!("{}[{}]", access.tensor.name, names(&access.labels))
}

fn names(labels: &[Label]) -> String {
    let names: Vec<&str> = labels.iter().map(|label| label.name.as_str()).collect();
    names.join(",")
}
