//! The canonical text of a notation: no spaces in the classic form, one space around signs
//! in the index form. Reading it back gives the same notation up to places.

use super::{
    Access, Expr, Form, Index, Item, Label, Notation, Range, Reduction, Sign, Statement, Term,
};

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
    format!("{} = {}", access(&statement.target), expr(&statement.value, Strength::Sum))
}

/// An expression whose accesses are shown without their labels.
pub(crate) fn print_bare(value: &Expr) -> String {
    let (mut bare, mut depth) = (String::new(), 0_usize);
    for character in expr(value, Strength::Sum).chars() {
        depth += usize::from(character == '[');
        if depth == 0 {
            bare.push(character);
        }
        depth -= usize::from(character == ']');
    }
    bare
}

/// How strongly the parts of an expression hold together, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Sum,
    Product,
    Sign,
    Atom,
}

/// `value` where a part of at least `needed` must stand.
fn expr(value: &Expr, needed: Strength) -> String {
    let (text, strength) = match value {
        Expr::Access(read) => (access(read), Strength::Atom),
        Expr::Number(number) => (number.to_string(), Strength::Atom),
        Expr::Negative(inner) => (format!("-{}", expr(inner, Strength::Sign)), Strength::Sign),
        Expr::Binary(sign, left, right) => binary(*sign, left, right),
        Expr::Power(base, exponent) => {
            (format!("{}^{exponent}", expr(base, Strength::Atom)), Strength::Sign)
        }
        Expr::Call(function, inner) => {
            (format!("{}({})", function.name(), expr(inner, Strength::Sum)), Strength::Atom)
        }
        Expr::Extreme(extreme, left, right) => {
            let (left, right) = (expr(left, Strength::Sum), expr(right, Strength::Sum));
            (format!("{}({left}, {right})", extreme.name()), Strength::Atom)
        }
        // It takes the whole product after it, so nothing may follow but a sum.
        Expr::Reduction(over, inner) => {
            (format!("{} {}", reduction(over), expr(inner, Strength::Product)), Strength::Product)
        }
    };
    if strength < needed { format!("({text})") } else { text }
}

fn binary(sign: Sign, left: &Expr, right: &Expr) -> (String, Strength) {
    let (mark, strength, of_right) = match sign {
        Sign::Plus => ("+", Strength::Sum, Strength::Product),
        Sign::Minus => ("-", Strength::Sum, Strength::Product),
        Sign::Times => ("*", Strength::Product, Strength::Sign),
        Sign::Over => ("/", Strength::Product, Strength::Sign),
    };
    // A reduction takes the rest of its product: it stands last there, or in parentheses.
    let takes_the_rest = strength == Strength::Product && ends_in_reduction(left);
    let of_left = if takes_the_rest { Strength::Atom } else { strength };
    let of_right = if matches!(right, Expr::Reduction(..)) { Strength::Product } else { of_right };
    (format!("{} {mark} {}", expr(left, of_left), expr(right, of_right)), strength)
}

fn ends_in_reduction(value: &Expr) -> bool {
    match value {
        Expr::Reduction(..) => true,
        Expr::Binary(Sign::Times | Sign::Over, _, right) => ends_in_reduction(right),
        Expr::Access(_)
        | Expr::Number(_)
        | Expr::Negative(_)
        | Expr::Power(..)
        | Expr::Call(..)
        | Expr::Extreme(..)
        | Expr::Binary(Sign::Plus | Sign::Minus, ..) => false,
    }
}

fn reduction(Reduction { reducer, labels, range }: &Reduction) -> String {
    match range {
        None => format!("{}({})", reducer.name(), names(labels)),
        Some(Range { pointers, row }) => {
            let (pointers, row) = (&pointers.name, &row.name);
            let labels = names(labels);
            format!("{}({labels} in {pointers}[{row}]..{pointers}[{row}+1])", reducer.name())
        }
    }
}

fn access(access: &Access) -> String {
    let index = |index: &Index| match index {
        Index::Label(label) => label.name.clone(),
        Index::Through { tensor, labels } => format!("{}[{}]", tensor.name, names(labels)),
    };
    let indices: Vec<String> = access.indices.iter().map(index).collect();
    format!("{}[{}]", access.tensor.name, indices.join(","))
}

fn names(labels: &[Label]) -> String {
    let names: Vec<&str> = labels.iter().map(|label| label.name.as_str()).collect();
    names.join(",")
}
