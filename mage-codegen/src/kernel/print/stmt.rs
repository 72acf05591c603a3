//! Statements, registers, places and index expressions as text.

use super::Lines;
use crate::kernel::{BinOp, Expr, Kernel, Module, Place, Pred, Reg, RegId, Space, Stmt, Ty, Value};

pub(super) fn body(out: &mut Lines, depth: usize, module: &Module, kernel: &Kernel, body: &[Stmt]) {
    for stmt in body {
        out.line(depth, &head(module, kernel, stmt));
        match stmt {
            Stmt::For { body, .. } => self::body(out, depth + 1, module, kernel, body),
            Stmt::If { then, otherwise, .. } => {
                self::body(out, depth + 1, module, kernel, then);
                if !otherwise.is_empty() {
                    out.line(depth, "else");
                    self::body(out, depth + 1, module, kernel, otherwise);
                }
            }
            Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::Barrier
            | Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::ShuffleXor { .. }
            | Stmt::Copy { .. }
            | Stmt::CommitCopies
            | Stmt::AwaitCopies { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadIndex { .. }
            | Stmt::Mma { .. }
            | Stmt::Compute { .. } => {}
        }
    }
}

/// A statement without the statements inside it, on one line.
fn head(module: &Module, kernel: &Kernel, stmt: &Stmt) -> String {
    let show = |value| expr(kernel, value);
    match stmt {
        Stmt::Let { var, value } => {
            let var = kernel.var(*var);
            let mutable = if var.mutable { "mut " } else { "" };
            format!("let {mutable}{}: {} = {}", var.name, ty(var.ty), show(value))
        }
        Stmt::Assign { var, value } => format!("{} = {}", kernel.var(*var).name, show(value)),
        Stmt::Fill { reg, value } => format!("reg {}[..] = {value}", array(kernel, *reg)),
        Stmt::For { var, begin, end, step, unroll, .. } => {
            let step = if *step == 1 { String::new() } else { format!(" step {step}") };
            let unroll = if *unroll { " unrolled" } else { "" };
            let (name, begin, end) = (&kernel.var(*var).name, show(begin), show(end));
            format!("for {name} in {begin}..{end}{step}{unroll}")
        }
        Stmt::If { when, .. } => format!("if {}", pred(kernel, when)),
        Stmt::Barrier => "barrier".to_string(),
        Stmt::Load { to, from, width, when } => {
            let elems = width.elems();
            let (to, from) = (run(kernel, to, elems), place(module, kernel, from, elems));
            let when = guard(kernel, when.as_ref(), " else 0");
            format!("reg {to} = {from}{when}")
        }
        Stmt::Store { to, from, width, when } => {
            let to = place(module, kernel, to, width.elems());
            let from: Vec<String> = from.iter().map(|one| reg(kernel, one)).collect();
            let when = guard(kernel, when.as_ref(), "");
            format!("{to} = reg {}{when}", from.join(", "))
        }
        Stmt::ShuffleXor { to, from, lane_mask } => {
            let (to, from) = (reg(kernel, to), reg(kernel, from));
            format!("reg {to} = shuffle_xor({from}, {lane_mask})")
        }
        Stmt::Copy { to, from, elems, when } => {
            let [to, from] = [to, from].map(|end| place(module, kernel, end, *elems));
            let when = guard(kernel, when.as_ref(), " else 0");
            format!("copy {to} = {from}{when}")
        }
        Stmt::CommitCopies => "commit copies".to_string(),
        Stmt::AwaitCopies { pending } => format!("await copies, {pending} pending"),
        Stmt::LoadMatrices { to, from, transposed } => {
            let to = run(kernel, to, 4);
            let from = place(module, kernel, from, 1);
            let transposed = if *transposed { " transposed" } else { "" };
            format!("reg {to} = matrices{transposed} at {from}")
        }
        Stmt::LoadIndex { var, from } => {
            let var = kernel.var(*var);
            format!("let {}: {} = {}", var.name, ty(var.ty), place(module, kernel, from, 1))
        }
        Stmt::Mma { acc, row, col } => {
            let [acc, row, col] =
                [(acc, 4), (row, 4), (col, 2)].map(|(first, words)| run(kernel, first, words));
            format!("reg {acc} += mma({row}, {col})")
        }
        Stmt::Compute { to, value } => format!("{} = {}", reg(kernel, to), computed(kernel, value)),
    }
}

/// An index expression, with the parentheses it needs.
fn expr(kernel: &Kernel, value: &Expr) -> String {
    match value {
        Expr::Const { value, name, .. } => name.clone().unwrap_or_else(|| value.to_string()),
        Expr::Var(var) => kernel.var(*var).name.clone(),
        Expr::Thread => "threadIdx".to_string(),
        Expr::Block => "blockIdx".to_string(),
        Expr::Binary(op @ (BinOp::Min | BinOp::SaturatingSub), left, right) => {
            format!("{}({}, {})", sign(*op), expr(kernel, left), expr(kernel, right))
        }
        Expr::Binary(op, left, right) => {
            let left = side(kernel, left, needs(*op));
            // No part of a sum exceeds the whole, so sums of sums may lose their parentheses.
            let is_sum = |expr: &Expr| matches!(expr, Expr::Binary(BinOp::Add, ..));
            let tighter = u8::from(!(*op == BinOp::Add && is_sum(right)));
            let right = side(kernel, right, needs(*op) + tighter);
            format!("{left} {} {right}", sign(*op))
        }
        Expr::Widen(inner) => format!("u64({})", expr(kernel, inner)),
        Expr::Signed(inner) => format!("i64({})", expr(kernel, inner)),
        Expr::Narrow(inner) => format!("u32({})", expr(kernel, inner)),
    }
}

fn side(kernel: &Kernel, value: &Expr, at_least: u8) -> String {
    let shown = expr(kernel, value);
    if strength(value) < at_least { format!("({shown})") } else { shown }
}

/// How strongly an expression holds together.
fn strength(expr: &Expr) -> u8 {
    match expr {
        Expr::Binary(BinOp::Xor, ..) => 0,
        Expr::Binary(BinOp::Add | BinOp::Sub, ..) => 1,
        Expr::Binary(BinOp::Mul | BinOp::Div | BinOp::Rem, ..) => 2,
        Expr::Binary(BinOp::Min | BinOp::SaturatingSub, ..)
        | Expr::Const { .. }
        | Expr::Var(_)
        | Expr::Thread
        | Expr::Block
        | Expr::Widen(_)
        | Expr::Signed(_)
        | Expr::Narrow(_) => 3,
    }
}

/// What the left side of an operation must have; both sides of `^` stand alone.
fn needs(op: BinOp) -> u8 {
    match op {
        BinOp::Add | BinOp::Sub => 1,
        BinOp::Mul | BinOp::Div | BinOp::Rem => 2,
        BinOp::Xor | BinOp::Min | BinOp::SaturatingSub => 3,
    }
}

fn sign(op: BinOp) -> &'static str {
    match op {
        BinOp::Add => "+",
        BinOp::Sub => "-",
        BinOp::SaturatingSub => "saturating_sub",
        BinOp::Mul => "*",
        BinOp::Div => "/",
        BinOp::Rem => "%",
        BinOp::Min => "min",
        BinOp::Xor => "^",
    }
}

pub(super) fn ty(ty: Ty) -> &'static str {
    match ty {
        Ty::U32 => "u32",
        Ty::U64 => "u64",
        Ty::I64 => "i64",
    }
}

fn pred(kernel: &Kernel, when: &Pred) -> String {
    match when {
        Pred::Less(left, right) => {
            format!("{} < {}", expr(kernel, left), expr(kernel, right))
        }
        Pred::All(all) if all.is_empty() => "true".to_string(),
        Pred::All(all) => {
            let all: Vec<String> = all.iter().map(|one| pred(kernel, one)).collect();
            all.join(" && ")
        }
    }
}

fn guard(kernel: &Kernel, when: Option<&Pred>, otherwise: &str) -> String {
    when.map_or_else(String::new, |when| format!(" if {}{otherwise}", pred(kernel, when)))
}

fn array(kernel: &Kernel, array: RegId) -> &str {
    &kernel.registers[array.0].name
}

fn reg(kernel: &Kernel, reg: &Reg) -> String {
    format!("{}[{}]", array(kernel, reg.array), expr(kernel, &reg.at))
}

fn run(kernel: &Kernel, reg: &Reg, elems: u32) -> String {
    format!("{}[{}{}]", array(kernel, reg.array), expr(kernel, &reg.at), wide(elems))
}

fn place(module: &Module, kernel: &Kernel, place: &Place, elems: u32) -> String {
    let (space, name) = match place.space {
        Space::Global(buffer) => ("global", &module.buffers[buffer.0].ident),
        Space::Shared(array) => ("shared", &kernel.shared[array.0].name),
    };
    format!("{space} {name}[{}{}]", expr(kernel, &place.offset), wide(elems))
}

/// A run of several elements starts at the index; one of four is written `[index; 4]`.
fn wide(elems: u32) -> String {
    if elems == 1 { String::new() } else { format!("; {elems}") }
}

fn computed(kernel: &Kernel, value: &Value) -> String {
    let show = |one| reg(kernel, one);
    match value {
        Value::Copy(from) => show(from),
        Value::Number(value) => format!("{value:?}"),
        Value::Index(value) => format!("number({})", expr(kernel, value)),
        Value::Tf32(from) => format!("tf32({})", show(from)),
        Value::Add(left, right) => format!("{} + {}", show(left), show(right)),
        Value::Sub(left, right) => format!("{} - {}", show(left), show(right)),
        Value::Mul(left, right) => format!("{} * {}", show(left), show(right)),
        Value::Div(left, right) => format!("{} / {}", show(left), show(right)),
        Value::Max(left, right) => format!("max({}, {})", show(left), show(right)),
        Value::Min(left, right) => format!("min({}, {})", show(left), show(right)),
        Value::Call(function, from) => format!("{}({})", function.name(), show(from)),
        Value::Fma(first, second, third) => {
            format!("fma({}, {}, {})", show(first), show(second), show(third))
        }
    }
}
