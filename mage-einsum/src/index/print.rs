//! The index IR as text: the statement, which the index form's parser reads back, a table of its
//! modes, and which tensors are strided.

use super::{
    Access, Expr, Extent, Layout, ModeId, Operator, Program, Role, Segment, Statement, TensorKind,
};
use crate::function::Function;

/// Prints each statement and below it, for each of its modes, the role, the extent and the
/// dimensions it stands in (`A.1` is dimension 1 of `A`); last, what else is said of tensors.
pub fn print(program: &Program) -> String {
    let has_merged = program.modes.iter().any(|mode| mode.parts.len() > 1);
    let mut header = vec!["mode", "role", "extent", "stands in"];
    if has_merged {
        header.push("parts");
    }
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let block = |statement: &Statement| {
        let mut rows = vec![header.clone()];
        for (mode, role) in &statement.roles {
            let mut row = mode_row(program, statement, *mode, *role);
            if has_merged {
                row.push(parts(program, *mode));
            }
            rows.push(row);
        }
        format!("{}\n\n{}", print_line(program, statement), table(&rows))
    };
    let mut blocks: Vec<String> = program.statements.iter().map(block).collect();
    blocks.extend(strided(program));
    blocks.extend(outputs(program));
    blocks.join("\n")
}

/// Names the outputs in the order of `launch`, where there are several.
fn outputs(program: &Program) -> Option<String> {
    let tensors = program.tensors_of(TensorKind::Output);
    let names: Vec<&str> = tensors.map(|(_, tensor)| tensor.name.as_str()).collect();
    (names.len() > 1).then(|| format!("outputs: {}\n", names.join(", ")))
}

/// Names the tensors whose strides are not known here.
fn strided(program: &Program) -> Option<String> {
    let tensors = program.tensors.iter().filter(|tensor| tensor.layout == Layout::Strided);
    let names: Vec<&str> = tensors.map(|tensor| tensor.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("strides given at the launch: {}\n", names.join(", ")))
}

/// Prints only the statements, `out[i,j] = sum(k) A[i,k] * B[k,j]`.
pub fn print_statement(program: &Program) -> String {
    let lines = program.statements.iter().map(|statement| print_line(program, statement));
    lines.collect::<Vec<_>>().join("; ")
}

/// Prints one statement of `program`.
pub fn print_line(program: &Program, statement: &Statement) -> String {
    let value = expr(program, &statement.value);
    let reduction = match (statement.reduced.as_slice(), statement.segment) {
        ([], _) => String::new(),
        (reduced, None) => format!("{}({}) ", statement.reducer.name(), names(program, reduced)),
        (reduced, Some(Segment { pointers, row })) => {
            let (pointers, row) = (&program.tensor(pointers).name, &program.mode(row).name);
            let (reducer, reduced) = (statement.reducer.name(), names(program, reduced));
            format!("{reducer}({reduced} in {pointers}[{row}]..{pointers}[{row}+1]) ")
        }
    };
    let value = match &statement.value {
        // A reduction takes the product after it and no more.
        Expr::Binary(Operator::Add | Operator::Subtract, ..) if !reduction.is_empty() => {
            format!("({value})")
        }
        Expr::Access(_)
        | Expr::Number(_)
        | Expr::Product(_)
        | Expr::Binary(..)
        | Expr::Power(..)
        | Expr::Call(..) => value,
    };
    let sign = if statement.accumulates { "+=" } else { "=" };
    format!("{} {sign} {reduction}{value}", access(program, &statement.target))
}

/// How strongly the parts of an expression hold together, weakest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Sum,
    Product,
    Sign,
    Atom,
}

/// Prints an expression of `program`, as the index form's parser reads it.
pub fn expr(program: &Program, value: &Expr) -> String {
    let strong = |value: &Expr, needed: Strength| {
        let (text, strength) = (expr(program, value), strength(value));
        if strength < needed { format!("({text})") } else { text }
    };
    match value {
        Expr::Access(read) => access(program, read),
        Expr::Number(number) => number.to_string(),
        Expr::Product(factors) => {
            let factors = factors.iter().enumerate().map(|(position, factor)| {
                strong(factor, if position == 0 { Strength::Product } else { Strength::Sign })
            });
            factors.collect::<Vec<_>>().join(" * ")
        }
        Expr::Binary(operator, left, right) => {
            let (sign, of_left, of_right) = match operator {
                Operator::Add => ("+", Strength::Sum, Strength::Product),
                Operator::Subtract => ("-", Strength::Sum, Strength::Product),
                Operator::Divide => ("/", Strength::Product, Strength::Sign),
                Operator::Max | Operator::Min => {
                    let name = if *operator == Operator::Max { "max" } else { "min" };
                    return format!("{name}({}, {})", expr(program, left), expr(program, right));
                }
            };
            format!("{} {sign} {}", strong(left, of_left), strong(right, of_right))
        }
        Expr::Power(base, exponent) => format!("{}^{exponent}", strong(base, Strength::Atom)),
        Expr::Call(Function::Negate, inner) => format!("-{}", strong(inner, Strength::Sign)),
        Expr::Call(function, inner) => format!("{}({})", function.name(), expr(program, inner)),
    }
}

fn strength(value: &Expr) -> Strength {
    match value {
        Expr::Access(_) | Expr::Binary(Operator::Max | Operator::Min, ..) => Strength::Atom,
        Expr::Number(number) if number.value() < 0.0 => Strength::Sign,
        Expr::Number(_) => Strength::Atom,
        Expr::Product(_) | Expr::Binary(Operator::Divide, ..) => Strength::Product,
        Expr::Binary(Operator::Add | Operator::Subtract, ..) => Strength::Sum,
        Expr::Power(..) | Expr::Call(Function::Negate, _) => Strength::Sign,
        Expr::Call(..) => Strength::Atom,
    }
}

fn access(program: &Program, access: &Access) -> String {
    let of_dim = |(dim, mode): (usize, &ModeId)| {
        let gather = access.gathers.iter().find(|gather| gather.dim == dim);
        gather.map_or_else(
            || program.mode(*mode).name.clone(),
            |gather| {
                let indices = &program.tensor(gather.indices).name;
                format!("{indices}[{}]", names(program, &gather.modes))
            },
        )
    };
    let dims: Vec<String> = access.modes.iter().enumerate().map(of_dim).collect();
    format!("{}[{}]", program.tensor(access.tensor).name, dims.join(","))
}

fn names(program: &Program, modes: &[ModeId]) -> String {
    let names: Vec<&str> = modes.iter().map(|mode| program.mode(*mode).name.as_str()).collect();
    names.join(",")
}

fn mode_row(program: &Program, statement: &Statement, id: ModeId, role: Role) -> Vec<String> {
    let mode = program.mode(id);
    let mut accesses = statement.factors();
    accesses.push(&statement.target);
    let mut places = Vec::new();
    for access in accesses {
        let name = &program.tensor(access.tensor).name;
        let dims = access.modes.iter().enumerate().filter(|(_, found)| **found == id);
        places.extend(dims.map(|(dim, _)| format!("{name}.{dim}")));
        for gather in access.gathers.iter().filter(|gather| gather.modes.contains(&id)) {
            let name = &program.tensor(gather.indices).name;
            let dims = gather.modes.iter().enumerate().filter(|(_, found)| **found == id);
            places.extend(dims.map(|(dim, _)| format!("{name}.{dim}")));
        }
    }
    let rows = statement.segment.iter().filter(|segment| segment.row == id);
    places.extend(rows.map(|segment| format!("{}.0", program.tensor(segment.pointers).name)));
    vec![mode.name.clone(), role.to_string(), mode.extent.to_string(), places.join(" ")]
}

fn parts(program: &Program, id: ModeId) -> String {
    let part = |part: &super::Part| match part.extent {
        Extent::Runtime => part.label.clone(),
        Extent::Fixed(extent) => format!("{}={extent}", part.label),
    };
    program.mode(id).parts.iter().map(part).collect::<Vec<_>>().join(" * ")
}

/// Left-aligned columns, two spaces apart, without trailing spaces.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(String::len).max();
    let widths: Vec<usize> = (0..n_columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Role::Batch => "batch",
            Role::FreeLeft => "free left",
            Role::FreeRight => "free right",
            Role::Contracted => "contracted",
            Role::Reduced => "reduced",
        })
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Extent::Fixed(extent) => write!(f, "{extent}"),
            Extent::Runtime => f.write_str("runtime"),
        }
    }
}
