//! Builds one kernel: hands out variables, register arrays and parameters with names that are
//! unique in it, and knows the extents and strides of the program's modes.

mod strides;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use mage_einsum::dtype::Dtype;
use mage_einsum::index::{Access, Extent, ModeId, Program, Statement, TensorId};

use super::names::Names;
use super::point;
use crate::kernel::walk;
use crate::kernel::{
    BufferId, Expr, HostExpr, Kernel, Param, ParamValue, Pred, Reg, RegArray, RegId, SharedArray,
    SharedId, Stmt, Ty, Var, VarId, Width,
};
use crate::schedule::{Launch, Schedule};

/// A kernel in the making.
pub struct Builder<'p> {
    /// The canonical program.
    pub program: &'p Program,
    /// The statements of the launch: the first, and those that go on with each of its results.
    pub statements: Vec<&'p Statement>,
    /// Its mangling table.
    pub names: &'p Names,
    coordinate_ty: Ty,
    used: BTreeSet<String>,
    vars: Vec<Var>,
    params: Vec<Param>,
    extents: BTreeMap<ModeId, Expr>,
    registers: Vec<RegArray>,
    shared: Vec<SharedArray>,
    /// Keyed by the access: one tensor may be read under several sets of modes.
    strides: BTreeMap<(TensorId, Vec<ModeId>, ModeId), Expr>,
    /// Strided tensors whose last stride the host has found to be 1.
    unit: BTreeSet<TensorId>,
    thread: Option<Expr>,
    staged: Vec<Staged>,
}

/// An operand beside the results whose elements at a tile's columns are in shared memory.
pub struct Staged {
    /// As the statements read it.
    pub access: Access,
    /// Where its elements are.
    pub cells: SharedId,
    /// Its mode, the columns'.
    pub mode: ModeId,
    /// The tile's first column.
    pub origin: Expr,
}

/// What a kernel is beside its body.
pub struct Frame {
    /// Entry name.
    pub name: String,
    /// One sentence on the variant.
    pub summary: String,
    /// Threads a block.
    pub block_threads: u32,
    /// Blocks a multiprocessor that registers are kept for.
    pub min_blocks: u32,
}

/// Registers on their way to the target of a statement: reduced, but for what ends a reduction.
pub struct Write {
    /// The first element, in elements from the target's start.
    pub offset: Expr,
    /// Its coordinates; the others follow along the target's last mode.
    pub at: Vec<(ModeId, Expr)>,
    /// As many registers as the width has elements.
    pub from: Vec<Reg>,
    /// How many elements, in one access.
    pub width: Width,
    /// Where they exist.
    pub when: Option<Pred>,
}

impl<'p> Builder<'p> {
    /// A kernel for a launch, whose coordinates have type `coordinate_ty`, with a parameter for
    /// each run-time extent that its statements ask for.
    pub fn new(
        schedule: &'p Schedule,
        launch: &Launch,
        names: &'p Names,
        coordinate_ty: Ty,
    ) -> Builder<'p> {
        let program = &schedule.program;
        let statements: Vec<&Statement> =
            launch.statements().map(|position| &program.statements[position]).collect();
        let modes = point::modes(&statements);
        let mut builder = Builder {
            program,
            statements,
            names,
            coordinate_ty,
            used: names.tensors().iter().chain(names.parts()).cloned().collect(),
            vars: Vec::new(),
            params: Vec::new(),
            extents: BTreeMap::new(),
            registers: Vec::new(),
            shared: Vec::new(),
            strides: BTreeMap::new(),
            unit: BTreeSet::new(),
            thread: None,
            staged: Vec::new(),
        };
        for mode in modes {
            let extent = builder.extent_of(mode);
            builder.extents.insert(mode, extent);
        }
        builder
    }

    /// A fixed extent is a number, but for zero: no code may divide by a literal zero, and a
    /// parameter that is zero is what run-time extents have to cope with anyway.
    fn extent_of(&mut self, mode: ModeId) -> Expr {
        match (self.program.mode(mode).extent, self.coordinate_ty) {
            (Extent::Fixed(extent @ 1..), Ty::U32) => Expr::u32(extent),
            (Extent::Fixed(extent @ 1..), Ty::U64 | Ty::I64) => Expr::u64(u64::from(extent)),
            (Extent::Fixed(0) | Extent::Runtime, ty) => {
                let name = format!("n_{}", self.names.mode(mode));
                let var = self.var(&name, ty, false);
                let value = host_extent(self.program, self.names, mode);
                self.params.push(Param { var, value: ParamValue::Unsigned(value) });
                Expr::Var(var)
            }
        }
    }

    /// A parameter that the host computes; a number stands for itself, but for zero, as in
    /// `extent_of`.
    pub fn param(&mut self, name: &str, ty: Ty, value: &HostExpr) -> Expr {
        if let Some(value) = value.as_const().filter(|value| *value > 0) {
            return Expr::Const { value, ty, name: None };
        }
        let var = self.var(name, ty, false);
        self.params.push(Param { var, value: ParamValue::Unsigned(value.clone()) });
        Expr::Var(var)
    }

    /// The extent of a mode of this kernel, in the type of its coordinates.
    pub fn extent(&self, mode: ModeId) -> Expr {
        self.extents.get(&mode).cloned().unwrap_or_else(|| Expr::u32(1))
    }

    fn unique(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_string();
        let mut number = 2;
        while !self.used.insert(name.clone()) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        name
    }

    /// A new variable.
    pub fn var(&mut self, name: &str, ty: Ty, mutable: bool) -> VarId {
        let name = self.unique(name);
        self.vars.push(Var { name, ty, mutable });
        VarId(self.vars.len() - 1)
    }

    /// `let name = value;` in `body`; a constant or a variable stands for itself.
    pub fn bind(&mut self, body: &mut Vec<Stmt>, name: &str, value: Expr) -> Expr {
        if matches!(value, Expr::Const { .. } | Expr::Var(_)) {
            return value;
        }
        let ty = value.ty(&self.vars);
        let var = self.var(name, ty, false);
        body.push(Stmt::Let { var, value });
        Expr::Var(var)
    }

    /// The thread's index, bound on the first call.
    pub fn thread(&mut self, body: &mut Vec<Stmt>) -> Expr {
        if let Some(thread) = &self.thread {
            return thread.clone();
        }
        let thread = self.bind(body, "thread", Expr::Thread);
        self.thread = Some(thread.clone());
        thread
    }

    /// Remembers where an operand beside the results has been staged.
    pub fn stage(&mut self, staged: Staged) {
        self.staged.push(staged);
    }

    /// A register array of the type that sums are accumulated in.
    pub fn registers(&mut self, name: &str, elems: u32) -> RegId {
        self.registers_of(name, elems, self.program.accumulator())
    }

    /// A register array of another type.
    pub fn registers_of(&mut self, name: &str, elems: u32, dtype: Dtype) -> RegId {
        let name = self.unique(name);
        self.registers.push(RegArray { name, elems, dtype });
        RegId(self.registers.len() - 1)
    }

    /// A shared array of the same type.
    pub fn shared(&mut self, name: &str, elems: u32) -> SharedId {
        self.shared_of(name, elems, self.program.accumulator())
    }

    /// A shared array of another type.
    pub fn shared_of(&mut self, name: &str, elems: u32, dtype: Dtype) -> SharedId {
        let name = self.unique(name);
        self.shared.push(SharedArray { name, elems, dtype });
        SharedId(self.shared.len() - 1)
    }

    /// An unrolled loop of `turns` turns; a single turn needs no loop and gets the literal 0.
    pub fn unrolled(
        &mut self,
        body: &mut Vec<Stmt>,
        name: &str,
        turns: u32,
        fill: impl FnOnce(&mut Self, &mut Vec<Stmt>, Expr),
    ) {
        if turns == 1 {
            fill(self, body, Expr::u32(0));
            return;
        }
        let var = self.var(name, Ty::U32, false);
        let mut inner = Vec::new();
        fill(self, &mut inner, Expr::Var(var));
        body.push(Stmt::unrolled(var, turns, inner));
    }

    /// The type of coordinates.
    pub fn coordinate_ty(&self) -> Ty {
        self.coordinate_ty
    }

    /// A number in the type of coordinates.
    pub fn number(&self, value: u32) -> Expr {
        match self.coordinate_ty {
            Ty::U32 => Expr::u32(value),
            Ty::U64 | Ty::I64 => Expr::u64(u64::from(value)),
        }
    }

    /// The same, shown under `name`.
    pub fn named(&self, name: &str, value: u32) -> Expr {
        let (value, ty) = (u64::from(value), self.coordinate_ty);
        Expr::Const { value, ty, name: Some(name.to_string()) }
    }

    /// A 32-bit value in the type of coordinates.
    pub fn coordinate(&self, value: Expr) -> Expr {
        match self.coordinate_ty {
            Ty::U32 => value,
            Ty::U64 | Ty::I64 => value.widen(),
        }
    }

    /// An expression as 64 bits.
    pub fn wide(&self, value: Expr) -> Expr {
        match value.ty(&self.vars) {
            Ty::U32 => value.widen(),
            Ty::U64 | Ty::I64 => value,
        }
    }

    /// The finished kernel, without the bindings and parameters that nothing in it uses.
    pub fn finish(self, frame: Frame, body: Vec<Stmt>) -> Kernel {
        let mut summary = frame.summary;
        if !self.unit.is_empty() {
            summary
                .push_str(" Views have strides of multiples of 4, and 1 along the last dimension.");
        }
        let mut kernel = Kernel {
            name: frame.name,
            summary,
            block_threads: frame.block_threads,
            min_blocks: frame.min_blocks,
            params: self.params,
            shared: self.shared,
            registers: self.registers,
            vars: self.vars,
            body,
        };
        while remove_unused(&mut kernel) {}
        let used = walk::variables(&kernel);
        kernel.params.retain(|param| used.contains(&param.var));
        kernel
    }
}

/// Removes bindings that nothing uses; whether there were any.
fn remove_unused(kernel: &mut Kernel) -> bool {
    let used = walk::variables(kernel);
    retain(&mut kernel.body, &used)
}

fn retain(body: &mut Vec<Stmt>, used: &BTreeSet<VarId>) -> bool {
    let before = body.len();
    let is_unused = |stmt: &Stmt| matches!(stmt, Stmt::Let { var, .. } | Stmt::LoadIndex { var, .. } if !used.contains(var));
    body.retain(|stmt| !is_unused(stmt));
    let mut changed = body.len() < before;
    for stmt in body {
        match stmt {
            Stmt::For { body, .. } => changed |= retain(body, used),
            Stmt::If { then, otherwise, .. } => {
                changed |= retain(then, used);
                changed |= retain(otherwise, used);
            }
            Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::Barrier
            | Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::Compute { .. }
            | Stmt::Copy { .. }
            | Stmt::CommitCopies
            | Stmt::AwaitCopies { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadIndex { .. }
            | Stmt::Mma { .. }
            | Stmt::ShuffleXor { .. } => {}
        }
    }
    changed
}

/// The register at `at`.
pub fn reg(array: RegId, at: Expr) -> Reg {
    Reg { array, at }
}

/// The conjunction of the predicates there are: none for none, and no nesting for one.
pub fn all(preds: Vec<Pred>) -> Option<Pred> {
    let mut preds = preds;
    match preds.len() {
        0 => None,
        1 => preds.pop(),
        _ => Some(Pred::All(preds)),
    }
}

/// A mode's extent on the host: the product of its labels' extents.
pub fn host_extent(program: &Program, names: &Names, mode: ModeId) -> HostExpr {
    let labels = names.labels_of(program, mode);
    HostExpr::product(labels.zip(&program.mode(mode).parts).map(
        |(label, part)| match part.extent {
            Extent::Fixed(extent) => HostExpr::Const(u64::from(extent)),
            Extent::Runtime => HostExpr::Extent(label),
        },
    ))
}

/// The buffer of a tensor: buffers stand in the order of tensors.
pub fn buffer(access: &Access) -> BufferId {
    BufferId(access.tensor.0)
}
