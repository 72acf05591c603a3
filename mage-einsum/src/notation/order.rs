//! The rules that hold between statements: each tensor is written once, before it is read, and is
//! read unless it is an output; and what is used as indices holds nothing else.

use super::{Access, Expr, Index, Label, Reduction, Statement};
use crate::diagnostic::{Code, Diagnostic};

/// The mistakes of statements that are right by themselves.
pub(super) fn mistakes(statements: &[Statement]) -> Vec<Diagnostic> {
    let mut mistakes = Vec::new();
    for (position, statement) in statements.iter().enumerate() {
        let target = &statement.target.tensor;
        let place = format!("statement {position}");
        if let Some(earlier) = written(&statements[..position], &target.name) {
            let message = format!("tensor `{}` is written twice", target.name);
            let mistake = order(message, target, &place);
            mistakes.push(
                mistake.note(earlier.span, "written here first").help("give each result its name"),
            );
        }
        for read in names_read(&statement.value) {
            if let Some(later) = written(&statements[position + 1..], &read.name) {
                let message = format!("tensor `{}` is read before it is written", read.name);
                let mistake = order(message, read, &place).note(later.span, "written here");
                mistakes.push(mistake.help("write the statements in the order of their use"));
            }
        }
    }
    mistakes.extend(ranks(statements));
    mistakes.extend(index_operands(statements));
    mistakes
}

/// Results that no statement reads and that are no outputs.
pub(crate) fn unread<'s>(statements: &'s [Statement], outputs: &[String]) -> Vec<&'s Label> {
    let targets = statements.iter().map(|statement| &statement.target.tensor);
    let is_output = |target: &&Label| outputs.contains(&target.name);
    targets.filter(|target| !is_output(target) && !is_read(statements, &target.name)).collect()
}

/// Whether a statement reads a tensor.
pub(crate) fn is_read(statements: &[Statement], tensor: &str) -> bool {
    let mut reads = statements.iter().flat_map(|statement| names_read(&statement.value));
    reads.any(|read| read.name == tensor)
}

fn order(message: String, at: &Label, place: &str) -> Diagnostic {
    Diagnostic::new(Code::StatementOrder, message).at(at.span).place(place)
}

fn written<'s>(statements: &'s [Statement], name: &str) -> Option<&'s Label> {
    statements.iter().map(|statement| &statement.target.tensor).find(|target| target.name == name)
}

/// Every tensor that an expression reads, those of indices included.
fn names_read(value: &Expr) -> Vec<&Label> {
    let accesses = value.accesses();
    let values = accesses.iter().map(|access| &access.tensor);
    values.chain(indices_read(value)).collect()
}

/// The tensors that are read as indices or as row pointers.
fn indices_read(value: &Expr) -> Vec<&Label> {
    let mut found: Vec<&Label> = Vec::new();
    if let Expr::Access(access) = value {
        found.extend(access.indices.iter().filter_map(|index| match index {
            Index::Label(_) => None,
            Index::Through { tensor, .. } => Some(tensor),
        }));
    }
    if let Expr::Reduction(Reduction { range: Some(range), .. }, _) = value {
        found.push(&range.pointers);
    }
    found.extend(value.parts().into_iter().flat_map(indices_read));
    found
}

/// A tensor has one rank in all statements; within one statement that is checked before.
fn ranks(statements: &[Statement]) -> Vec<Diagnostic> {
    let mut known: Vec<&Access> = Vec::new();
    let mut mistakes = Vec::new();
    let accesses = statements.iter().flat_map(|statement| {
        statement.value.accesses().into_iter().chain([&statement.target]).collect::<Vec<_>>()
    });
    for access in accesses {
        let name = &access.tensor.name;
        match known.iter().find(|known| known.tensor.name == *name) {
            Some(first) if first.indices.len() != access.indices.len() => {
                let (here, there) = (access.indices.len(), first.indices.len());
                let message = format!("tensor `{name}` has {here} labels here but {there} before");
                let mistake = Diagnostic::new(Code::RankMismatch, message).at(access.tensor.span);
                let mistake = mistake.place(format!("tensor `{name}`"));
                let mistake = mistake.note(first.tensor.span, "the first access");
                mistakes.push(mistake.help("give both accesses one label a dimension"));
            }
            Some(_) => {}
            None => known.push(access),
        }
    }
    mistakes
}

/// Indices are given, not computed, and are read as nothing but indices; row pointers likewise.
fn index_operands(statements: &[Statement]) -> Vec<Diagnostic> {
    let mut mistakes: Vec<Diagnostic> = Vec::new();
    let values: Vec<&Label> = statements
        .iter()
        .flat_map(|statement| statement.value.accesses())
        .map(|access| &access.tensor)
        .chain(statements.iter().map(|statement| &statement.target.tensor))
        .collect();
    let indices = statements.iter().flat_map(|statement| indices_read(&statement.value));
    let mut told: Vec<&str> = Vec::new();
    for index in indices {
        let Some(value) = values.iter().find(|value| value.name == index.name) else { continue };
        if told.contains(&index.name.as_str()) {
            continue;
        }
        told.push(&index.name);
        let message = format!("tensor `{}` is both indices and values", index.name);
        let mistake = Diagnostic::new(Code::IndexOperand, message).at(index.span);
        let mistake = mistake.place(format!("tensor `{}`", index.name));
        mistakes.push(
            mistake
                .note(value.span, "values here")
                .help("give the indices a tensor of their own, of u32"),
        );
    }
    mistakes
}
