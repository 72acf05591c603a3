//! What the printer of a kernel's statements looks up: the module and the kernel that names come
//! from, and the loop variables that are counters of registers alone.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use quote::format_ident;

use crate::kernel::walk;
use crate::kernel::{Expr, Kernel, Module, Place, RegId, Space, Stmt, VarId};

/// A kernel in its module.
pub struct Scope<'m> {
    /// Where the buffers stand.
    pub module: &'m Module,
    /// The kernel that is printed.
    pub kernel: &'m Kernel,
    /// Loop variables that only pick registers: Rust infers `usize` for them, without a cast.
    counters: BTreeSet<VarId>,
    /// Variables of unrolled loops.
    unrolled: BTreeSet<VarId>,
    /// Whether its stages feed the tensor cores, so that a swizzle counts on where they begin.
    pub is_swizzled: bool,
    /// Locals that the IR does not know.
    pub locals: Locals,
}

/// Locals for what needs a line of its own, under names that nothing in the kernel has.
pub struct Locals {
    /// The place of four registers.
    pub at: Ident,
    /// Four elements on their way from memory.
    pub quad: Ident,
    /// One element on its way to memory.
    pub element: Ident,
    /// Whether a copy reads, where from, and how many bytes.
    pub copy: [Ident; 3],
    /// What an instruction of the tensor cores gives.
    pub words: Ident,
}

impl<'m> Scope<'m> {
    /// Looks a kernel over before it is printed.
    pub fn new(module: &'m Module, kernel: &'m Kernel) -> Scope<'m> {
        let unused = |wish| unused(wish, module, kernel);
        let locals = Locals {
            at: unused("at"),
            quad: unused("quad"),
            element: unused("element"),
            copy: ["exists", "from", "bytes"].map(unused),
            words: unused("words"),
        };
        let unrolled = walk::statements(&kernel.body).into_iter().filter_map(unrolled).collect();
        let is_mma = |stmt: &&Stmt| matches!(stmt, Stmt::Mma { .. });
        let is_swizzled = walk::statements(&kernel.body).iter().any(is_mma);
        Scope { module, kernel, counters: counters(kernel), unrolled, is_swizzled, locals }
    }

    /// Whether `var` only picks registers.
    pub fn is_counter(&self, var: VarId) -> bool {
        self.counters.contains(&var)
    }

    /// Whether an expression is a number once loops are unrolled.
    pub fn is_unrolled(&self, expr: &Expr) -> bool {
        walk::parts(expr).into_iter().all(|part| match part {
            Expr::Const { .. } | Expr::Binary(..) => true,
            Expr::Var(var) => self.unrolled.contains(var),
            Expr::Thread | Expr::Block | Expr::Widen(_) | Expr::Signed(_) | Expr::Narrow(_) => {
                false
            }
        })
    }

    /// The variable's name.
    pub fn var(&self, var: VarId) -> Ident {
        format_ident!("{}", self.kernel.var(var).name)
    }

    /// The name of the array that a place is in.
    pub fn base(&self, place: &Place) -> Ident {
        match place.space {
            Space::Global(buffer) => format_ident!("{}", self.module.buffers[buffer.0].ident),
            Space::Shared(array) => format_ident!("{}", self.kernel.shared[array.0].name),
        }
    }

    /// The register array's name.
    pub fn array(&self, array: RegId) -> Ident {
        format_ident!("{}", self.kernel.registers[array.0].name)
    }

    /// Whether the `Fill` of `array` at position `at` of `body` is where Rust declares it: it is
    /// the first to mention the array, and nothing outside `body` does.
    pub fn declares(&self, body: &[Stmt], at: usize, array: RegId) -> bool {
        let inside = walk::mentions(body, array);
        walk::mentions(&body[..at], array) == 0
            && inside == walk::mentions(&self.kernel.body, array)
    }

    /// The arrays that no `Fill` can declare, because it stands in a narrower block than some use.
    pub fn hoisted(&self) -> Vec<RegId> {
        (0..self.kernel.registers.len())
            .map(RegId)
            .filter(|array| walk::mentions(&self.kernel.body, *array) > 0)
            .filter(|array| !self.is_declared_within(&self.kernel.body, *array))
            .collect()
    }

    /// Whether more than its declaration writes the array.
    pub fn is_changed(&self, array: RegId) -> bool {
        let written = walk::statements(&self.kernel.body).into_iter().filter_map(walk::written);
        written.filter(|found| *found == array).count() > 1
    }

    fn is_declared_within(&self, body: &[Stmt], array: RegId) -> bool {
        body.iter().enumerate().any(|(at, stmt)| {
            let fills = matches!(stmt, Stmt::Fill { reg, .. } if *reg == array);
            (fills && self.declares(body, at, array))
                || walk::bodies(stmt).into_iter().any(|inner| self.is_declared_within(inner, array))
        })
    }
}

/// `wish`, or it with underscores behind, where nothing in the kernel has that name.
fn unused(wish: &str, module: &Module, kernel: &Kernel) -> Ident {
    let vars = kernel.vars.iter().map(|var| &var.name);
    let registers = kernel.registers.iter().map(|array| &array.name);
    let shared = kernel.shared.iter().map(|array| &array.name);
    let buffers = module.buffers.iter().map(|buffer| &buffer.ident);
    let taken: BTreeSet<&String> = vars.chain(registers).chain(shared).chain(buffers).collect();
    let mut name = wish.to_string();
    while taken.contains(&name) {
        name.push('_');
    }
    format_ident!("{name}")
}

/// Unrolled loop variables, without those that stand in a 32-bit or 64-bit expression, or beside
/// a variable or a named constant that does.
fn counters(kernel: &Kernel) -> BTreeSet<VarId> {
    let statements = walk::statements(&kernel.body);
    let mut found: BTreeSet<VarId> = statements.iter().filter_map(|stmt| unrolled(stmt)).collect();
    for stmt in &statements {
        for var in walk::indices(stmt).into_iter().flat_map(vars) {
            found.remove(&var);
        }
    }
    let picks: Vec<&Expr> =
        statements.into_iter().flat_map(walk::registers).map(|reg| &reg.at).collect();
    loop {
        let before = found.len();
        let mixed = picks.iter().filter(|pick| !is_counted(pick, &found));
        let mixed: Vec<VarId> = mixed.flat_map(|pick| vars(pick)).collect();
        found.retain(|var| !mixed.contains(var));
        if found.len() == before {
            return found;
        }
    }
}

fn unrolled(stmt: &Stmt) -> Option<VarId> {
    match stmt {
        Stmt::For { var, unroll: true, begin, end, .. } => {
            (is_plain_number(begin) && is_plain_number(end)).then_some(*var)
        }
        Stmt::For { .. }
        | Stmt::Let { .. }
        | Stmt::Assign { .. }
        | Stmt::Fill { .. }
        | Stmt::If { .. }
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
        | Stmt::Compute { .. } => None,
    }
}

/// Whether every atom of a register's index is a counter or a number without a name.
fn is_counted(expr: &Expr, counters: &BTreeSet<VarId>) -> bool {
    walk::parts(expr).into_iter().all(|part| match part {
        Expr::Var(var) => counters.contains(var),
        Expr::Const { name, .. } => name.is_none(),
        Expr::Binary(..) => true,
        Expr::Thread | Expr::Block | Expr::Widen(_) | Expr::Signed(_) | Expr::Narrow(_) => false,
    })
}

fn is_plain_number(expr: &Expr) -> bool {
    matches!(expr, Expr::Const { name: None, .. })
}

fn vars(expr: &Expr) -> Vec<VarId> {
    walk::parts(expr)
        .into_iter()
        .filter_map(|part| match part {
            Expr::Var(var) => Some(*var),
            Expr::Const { .. }
            | Expr::Thread
            | Expr::Block
            | Expr::Binary(..)
            | Expr::Widen(_)
            | Expr::Signed(_)
            | Expr::Narrow(_) => None,
        })
        .collect()
}
