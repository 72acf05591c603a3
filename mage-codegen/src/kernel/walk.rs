//! Walks over kernels: what the text form and the source must know of a kernel as a whole before
//! they print the first line, such as the constants it names.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    BufferId, Expr, Kernel, Place, Pred, Reg, RegId, Space, Stmt, Ty, Value, VarId, Width,
};

/// A named number of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// An upper-case Rust identifier.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// Its value; fits the type.
    pub value: u64,
}

/// Which way an access moves elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From memory to registers.
    Load,
    /// From registers to memory.
    Store,
}

/// What a statement does to a memory, apart from where in its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The memory and the array in it.
    pub space: Space,
    /// Which way.
    pub direction: Direction,
    /// How many elements at once, each to or from a register; none where they go to shared memory
    /// without one, or as words of several.
    pub width: Option<Width>,
}

/// The buffers that a kernel touches, each in the one direction that `verify` allows it; one that
/// is added to is stored to.
pub fn buffers(kernel: &Kernel) -> BTreeMap<BufferId, Direction> {
    let mut found = BTreeMap::new();
    for Access { space, direction, .. } in accesses(kernel) {
        if let Space::Global(buffer) = space {
            let known = found.entry(buffer).or_insert(direction);
            *known = direction.max(*known);
        }
    }
    found
}

/// Every access of a kernel to memory.
pub fn accesses(kernel: &Kernel) -> Vec<Access> {
    let loads =
        |place: &Place, width| Access { space: place.space, direction: Direction::Load, width };
    let stores =
        |place: &Place, width| Access { space: place.space, direction: Direction::Store, width };
    let accesses = |stmt: &Stmt| match stmt {
        Stmt::Load { from, width, .. } => vec![loads(from, Some(*width))],
        Stmt::Store { to, width, .. } => vec![stores(to, Some(*width))],
        Stmt::Copy { to, from, .. } => vec![loads(from, None), stores(to, None)],
        Stmt::LoadMatrices { from, .. } => vec![loads(from, None)],
        Stmt::LoadIndex { var: _, from } => vec![loads(from, Some(Width::One))],
        Stmt::Let { .. }
        | Stmt::Assign { .. }
        | Stmt::Fill { .. }
        | Stmt::For { .. }
        | Stmt::If { .. }
        | Stmt::Barrier
        | Stmt::CommitCopies
        | Stmt::AwaitCopies { .. }
        | Stmt::Mma { .. }
        | Stmt::Compute { .. }
        | Stmt::ShuffleXor { .. } => Vec::new(),
    };
    statements(&kernel.body).into_iter().flat_map(accesses).collect()
}

/// The named constants of a kernel in order of first appearance.
pub fn constants(kernel: &Kernel) -> Vec<Constant> {
    let mut found: Vec<Constant> = Vec::new();
    for part in expressions(kernel).into_iter().flat_map(parts) {
        if let Expr::Const { name: Some(name), value, ty } = part {
            let constant = Constant { name: name.clone(), ty: *ty, value: *value };
            if !found.contains(&constant) {
                found.push(constant);
            }
        }
    }
    found
}

/// The variables that some expression of a kernel uses.
pub fn variables(kernel: &Kernel) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    for part in expressions(kernel).into_iter().flat_map(parts) {
        if let Expr::Var(id) = part {
            found.insert(*id);
        }
    }
    found
}

/// Every index expression of a kernel, those that pick registers included.
pub fn expressions(kernel: &Kernel) -> Vec<&Expr> {
    let mut found = Vec::new();
    for stmt in statements(&kernel.body) {
        found.extend(indices(stmt));
        found.extend(registers(stmt).into_iter().map(|reg| &reg.at));
    }
    found
}

/// Every statement of `body`, nested ones included, in the order of the text.
pub fn statements(body: &[Stmt]) -> Vec<&Stmt> {
    let mut found = Vec::new();
    for stmt in body {
        found.push(stmt);
        for nested in bodies(stmt) {
            found.extend(statements(nested));
        }
    }
    found
}

/// The statement lists inside `stmt`.
pub fn bodies(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::For { body, .. } => vec![body],
        Stmt::If { then, otherwise, .. } => vec![then, otherwise],
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
        | Stmt::Compute { .. } => Vec::new(),
    }
}

/// The index expressions of the statement itself, apart from those that pick registers.
pub fn indices(stmt: &Stmt) -> Vec<&Expr> {
    match stmt {
        Stmt::Let { value, .. } | Stmt::Assign { value, .. } => vec![value],
        Stmt::For { begin, end, .. } => vec![begin, end],
        Stmt::If { when, .. } => sides(when),
        Stmt::Load { from: Place { offset, .. }, when, .. }
        | Stmt::Store { to: Place { offset, .. }, when, .. } => {
            let mut found = vec![offset];
            found.extend(when.iter().flat_map(sides));
            found
        }
        Stmt::Copy { to, from, when, .. } => {
            let mut found = vec![&to.offset, &from.offset];
            found.extend(when.iter().flat_map(sides));
            found
        }
        Stmt::LoadMatrices { from, .. } | Stmt::LoadIndex { var: _, from } => vec![&from.offset],
        Stmt::Compute { value: Value::Index(value), to: _ } => vec![value],
        Stmt::Fill { .. }
        | Stmt::Barrier
        | Stmt::ShuffleXor { .. }
        | Stmt::CommitCopies
        | Stmt::AwaitCopies { .. }
        | Stmt::Mma { .. }
        | Stmt::Compute { .. } => Vec::new(),
    }
}

/// The registers that the statement itself reads or writes.
pub fn registers(stmt: &Stmt) -> Vec<&Reg> {
    match stmt {
        Stmt::Load { to, .. } => vec![to],
        Stmt::Store { from, .. } => from.iter().collect(),
        Stmt::ShuffleXor { to, from, lane_mask: _ } => vec![to, from],
        Stmt::Compute { to, value } => match value {
            Value::Number(_) | Value::Index(_) => vec![to],
            Value::Copy(from) | Value::Tf32(from) | Value::Call(_, from) => vec![to, from],
            Value::Add(left, right)
            | Value::Sub(left, right)
            | Value::Mul(left, right)
            | Value::Div(left, right)
            | Value::Max(left, right)
            | Value::Min(left, right) => vec![to, left, right],
            Value::Fma(first, second, third) => vec![to, first, second, third],
        },
        Stmt::LoadMatrices { to, .. } => vec![to],
        Stmt::Mma { acc, row, col } => vec![acc, row, col],
        Stmt::Let { .. }
        | Stmt::Assign { .. }
        | Stmt::Fill { .. }
        | Stmt::For { .. }
        | Stmt::If { .. }
        | Stmt::Barrier
        | Stmt::Copy { .. }
        | Stmt::LoadIndex { .. }
        | Stmt::CommitCopies
        | Stmt::AwaitCopies { .. } => Vec::new(),
    }
}

/// The register array that the statement itself writes.
pub fn written(stmt: &Stmt) -> Option<RegId> {
    match stmt {
        Stmt::Fill { reg, .. } => Some(*reg),
        Stmt::Load { to, .. }
        | Stmt::ShuffleXor { to, .. }
        | Stmt::LoadMatrices { to, .. }
        | Stmt::Mma { acc: to, .. }
        | Stmt::Compute { to, .. } => Some(to.array),
        Stmt::Let { .. }
        | Stmt::Assign { .. }
        | Stmt::For { .. }
        | Stmt::If { .. }
        | Stmt::Barrier
        | Stmt::Copy { .. }
        | Stmt::CommitCopies
        | Stmt::AwaitCopies { .. }
        | Stmt::LoadIndex { .. }
        | Stmt::Store { .. } => None,
    }
}

/// How often `body` and what is nested in it mention a register array.
pub fn mentions(body: &[Stmt], array: RegId) -> usize {
    let in_stmt = |stmt: &Stmt| {
        let fills = matches!(stmt, Stmt::Fill { reg, .. } if *reg == array);
        usize::from(fills) + registers(stmt).iter().filter(|reg| reg.array == array).count()
    };
    statements(body).into_iter().map(in_stmt).sum()
}

/// The expression and all that it is made of.
pub fn parts(expr: &Expr) -> Vec<&Expr> {
    let mut found = vec![expr];
    match expr {
        Expr::Binary(_, left, right) => {
            found.extend(parts(left));
            found.extend(parts(right));
        }
        Expr::Widen(inner) | Expr::Signed(inner) | Expr::Narrow(inner) => {
            found.extend(parts(inner))
        }
        Expr::Const { .. } | Expr::Var(_) | Expr::Thread | Expr::Block => {}
    }
    found
}

/// What a predicate compares.
pub fn sides(pred: &Pred) -> Vec<&Expr> {
    match pred {
        Pred::Less(left, right) => vec![left, right],
        Pred::All(all) => all.iter().flat_map(sides).collect(),
    }
}
