//! The statements of a kernel: scopes of variables and register arrays, types, ranges, barriers.

use std::collections::BTreeSet;

use mage_einsum::dtype::Dtype;

use super::super::walk::{self, Direction};
use super::super::{
    BufferId, BufferUse, Expr, Kernel, Module, Place, Pred, Reg, RegId, Space, Stmt, Ty, Value,
    VarId, Width, describe, function,
};
use super::buffer_use;
use super::expr::Scope;
use crate::device::WARP_THREADS;
use crate::fragment::Fragment;
use mage_einsum::index::Layout;

/// Types that the tensor cores multiply and sum in f32.
const FACTORS: [Dtype; 3] = [Dtype::F16, Dtype::BF16, Dtype::F32];

/// Walks the kernel's body from top to bottom.
pub(super) fn verify(module: &Module, kernel: &Kernel) -> Result<(), String> {
    // Variables are taken to be the same in all threads until an assignment shows that one is not;
    // then the walk, which may have relied on it before, begins anew.
    let mut differing = BTreeSet::new();
    loop {
        let mut walk = Walk::new(module, kernel, differing.clone());
        let outcome = walk.kernel();
        if walk.differing == differing {
            return outcome;
        }
        differing = walk.differing;
    }
}

impl<'a> Walk<'a> {
    fn new(module: &'a Module, kernel: &'a Kernel, differing: BTreeSet<VarId>) -> Walk<'a> {
        Walk {
            module,
            kernel,
            scope: Scope {
                kernel,
                defined: vec![false; kernel.vars.len()],
                unrolled: vec![false; kernel.vars.len()],
            },
            bound: vec![false; kernel.vars.len()],
            filled: vec![false; kernel.registers.len()],
            uniform: vec![false; kernel.vars.len()],
            differing,
            n_ifs: 0,
        }
    }

    fn kernel(&mut self) -> Result<(), String> {
        for param in &self.kernel.params {
            self.bind(param.var)?;
            self.uniform[param.var.0] = true;
        }
        self.body(&self.kernel.body)
    }
}

struct Walk<'a> {
    module: &'a Module,
    kernel: &'a Kernel,
    scope: Scope<'a>,
    /// Variables that some statement gave their first value, in scope or not.
    bound: Vec<bool>,
    /// Register arrays that a `Fill` here or outside gave values.
    filled: Vec<bool>,
    /// Variables that are the same in all threads of a block.
    uniform: Vec<bool>,
    /// Mutable variables that are assigned different values in different threads.
    differing: BTreeSet<VarId>,
    /// How many `If`s and loops the statement stands under that may tear a block apart.
    n_ifs: usize,
}

impl Walk<'_> {
    /// A list of statements; what it defines ends with it.
    fn body(&mut self, stmts: &[Stmt]) -> Result<(), String> {
        let (defined, filled) = (self.scope.defined.clone(), self.filled.clone());
        for (position, stmt) in stmts.iter().enumerate() {
            self.stmt(stmt).map_err(|why| {
                let place = describe(self.module, self.kernel, position, stmt);
                format!("{place} > {why}")
            })?;
        }
        (self.scope.defined, self.filled) = (defined, filled);
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), String> {
        match stmt {
            Stmt::Let { var, value } => {
                let ty = self.declared(*var)?;
                self.scope.is("the value", value, ty)?;
                self.uniform[var.0] = !self.differing.contains(var) && self.is_uniform(value);
                self.bind(*var)
            }
            Stmt::Assign { var, value } => {
                let ty = self.scope.ty(&Expr::Var(*var))?;
                if !self.kernel.vars[var.0].mutable {
                    let name = &self.kernel.vars[var.0].name;
                    return Err(format!("`{name}` is assigned but not mutable"));
                }
                if self.n_ifs > 0 || !self.is_uniform(value) {
                    self.differing.insert(*var);
                }
                self.scope.is("the value", value, ty)
            }
            Stmt::Fill { reg, value: _ } => match self.filled.get_mut(reg.0) {
                Some(filled) => {
                    *filled = true;
                    Ok(())
                }
                None => Err(format!("{reg:?} does not exist")),
            },
            Stmt::For { .. } => self.looped(stmt),
            Stmt::If { when, then, otherwise } => {
                self.scope.pred(when)?;
                let tears = !walk::sides(when).into_iter().all(|side| self.is_uniform(side));
                self.n_ifs += usize::from(tears);
                self.body(then)?;
                self.body(otherwise)?;
                self.n_ifs -= usize::from(tears);
                Ok(())
            }
            Stmt::Barrier if self.n_ifs > 0 => Err("a barrier stands under an `if`".to_string()),
            Stmt::Barrier => Ok(()),
            Stmt::Load { to, from, width, when } => {
                self.registers(to, width.elems())?;
                self.access(from, when.as_ref(), Direction::Load)?;
                self.carried(to, from, *width)
            }
            Stmt::Store { to, from, width, when } => {
                if from.len() != width.elems() as usize {
                    let (given, asked) = (from.len(), width.elems());
                    return Err(format!("the store has {given} registers for {asked} elements"));
                }
                from.iter().try_for_each(|reg| self.registers(reg, 1))?;
                self.access(to, when.as_ref(), Direction::Store)?;
                from.iter().try_for_each(|reg| self.carried(reg, to, *width))
            }
            Stmt::ShuffleXor { to, from, lane_mask } => self.shuffle(to, from, *lane_mask),
            Stmt::Copy { to, from, elems, when } => {
                self.copy([to, from], *elems)?;
                self.access(from, when.as_ref(), Direction::Load)?;
                self.access(to, None, Direction::Store)
            }
            Stmt::CommitCopies | Stmt::AwaitCopies { .. } => Ok(()),
            Stmt::LoadMatrices { to, from, transposed } => {
                self.whole_warps("a load of matrices")?;
                self.registers(to, 4)?;
                self.access(from, None, Direction::Load)?;
                self.matrices(to, from, *transposed)
            }
            Stmt::LoadIndex { var, from } => self.load_index(*var, from),
            Stmt::Mma { acc, row, col } => self.mma(acc, row, col),
            Stmt::Compute { to, value } => {
                self.one_type(stmt)?;
                walk::registers(stmt).into_iter().try_for_each(|reg| self.registers(reg, 1))?;
                self.value(to, value)
            }
        }
    }

    /// What a value asks beyond registers of one type.
    fn value(&self, to: &Reg, value: &Value) -> Result<(), String> {
        match value {
            Value::Copy(_) | Value::Add(..) | Value::Mul(..) | Value::Fma(..) => Ok(()),
            Value::Tf32(only) => self.has_dtype(only, &[Dtype::F32]),
            Value::Number(_)
            | Value::Sub(..)
            | Value::Div(..)
            | Value::Max(..)
            | Value::Min(..) => self.has_dtype(to, &[Dtype::F32, Dtype::F64]),
            Value::Index(index) => {
                self.scope.unsigned("a number", index)?;
                self.has_dtype(to, &[Dtype::F32, Dtype::F64])
            }
            Value::Call(called, _) => {
                let dtype = self.kernel.registers[to.array.0].dtype;
                if function::has_kernel(*called, dtype) {
                    return Ok(());
                }
                Err(format!("`{}` has no kernel for {dtype}", called.name()))
            }
        }
    }

    fn load_index(&mut self, var: VarId, from: &Place) -> Result<(), String> {
        let Space::Global(buffer) = from.space else {
            return Err("an index from shared memory".to_string());
        };
        if !buffer_use(self.module, buffer)?.is_index() {
            return Err("an index from a buffer that has none".to_string());
        }
        self.scope.is("a global offset", &from.offset, Ty::U64)?;
        if self.declared(var)? != Ty::U32 || self.kernel.vars[var.0].mutable {
            let name = &self.kernel.vars[var.0].name;
            return Err(format!("`{name}` is an index but mutable or not of 32 bits"));
        }
        self.uniform[var.0] = self.is_uniform(&from.offset);
        self.bind(var)
    }

    fn looped(&mut self, stmt: &Stmt) -> Result<(), String> {
        let Stmt::For { var, begin, end, step, unroll, body } = stmt else { return Ok(()) };
        let ty = self.declared(*var)?;
        self.scope.unsigned("the loop's begin", begin)?;
        self.scope.is("the loop's begin", begin, ty)?;
        self.scope.is("the loop's end", end, ty)?;
        if *step == 0 {
            return Err("the loop's step is zero".to_string());
        }
        if *unroll && (begin.as_const().is_none() || end.as_const().is_none()) {
            return Err("an unrolled loop's bounds are not constant".to_string());
        }
        self.bind(*var)?;
        self.scope.unrolled[var.0] = *unroll;
        let tears = ![begin, end].into_iter().all(|bound| self.is_uniform(bound));
        self.uniform[var.0] = !tears;
        self.n_ifs += usize::from(tears);
        self.body(body)?;
        self.n_ifs -= usize::from(tears);
        self.scope.defined[var.0] = false;
        Ok(())
    }

    /// Whether an expression is the same in all threads of a block.
    fn is_uniform(&self, expr: &Expr) -> bool {
        walk::parts(expr).into_iter().all(|part| match part {
            Expr::Thread => false,
            Expr::Var(var) => self.uniform.get(var.0).is_some_and(|uniform| *uniform),
            Expr::Const { .. }
            | Expr::Block
            | Expr::Binary(..)
            | Expr::Widen(_)
            | Expr::Signed(_)
            | Expr::Narrow(_) => true,
        })
    }

    /// What a warp does together needs whole warps, which a condition would tear apart.
    fn whole_warps(&self, what: &str) -> Result<(), String> {
        let threads = self.kernel.block_threads;
        if self.n_ifs > 0 {
            return Err(format!("{what} stands under an `if`"));
        }
        if !threads.is_multiple_of(WARP_THREADS) {
            return Err(format!("{what} in a block of {threads} threads, which are no warps"));
        }
        Ok(())
    }

    fn shuffle(&self, to: &Reg, from: &Reg, lane_mask: u32) -> Result<(), String> {
        self.whole_warps("a shuffle")?;
        if !(1..WARP_THREADS).contains(&lane_mask) {
            return Err(format!("a shuffle with the lane mask {lane_mask}, limit 1 to 31"));
        }
        self.registers(to, 1)?;
        self.registers(from, 1)
    }

    /// A copy goes from global to shared memory of one type, and has the bytes that one
    /// instruction can have (PTX ISA, "cp.async").
    fn copy(&self, [to, from]: [&Place; 2], elems: u32) -> Result<(), String> {
        let (Space::Shared(array), Space::Global(buffer)) = (to.space, from.space) else {
            return Err("a copy does not go from global to shared memory".to_string());
        };
        buffer_use(self.module, buffer)?;
        let array = self.kernel.shared.get(array.0);
        let dtype = array.ok_or_else(|| format!("{:?} does not exist", to.space))?.dtype;
        let source = self.module.buffers[buffer.0].dtype;
        if dtype != source {
            return Err(format!("a copy from memory of {source} to memory of {dtype}"));
        }
        match u64::from(elems) * dtype.size_bytes() {
            4 | 16 => Ok(()),
            bytes => Err(format!("a copy of {bytes} bytes, which can be 4 or 16")),
        }
    }

    fn matrices(&self, to: &Reg, from: &Place, transposed: bool) -> Result<(), String> {
        let Space::Shared(array) = from.space else {
            return Err("a load of matrices from global memory".to_string());
        };
        let dtype = self.kernel.shared[array.0].dtype;
        self.has_dtype(to, &[dtype])?;
        self.has_dtype(to, &FACTORS)?;
        if transposed && dtype == Dtype::F32 {
            return Err("matrices of f32 have no transposed load".to_string());
        }
        Ok(())
    }

    fn mma(&self, acc: &Reg, row: &Reg, col: &Reg) -> Result<(), String> {
        self.whole_warps("an mma")?;
        self.registers(acc, Fragment::SUMS as u32)?;
        self.has_dtype(acc, &[Dtype::F32])?;
        self.registers(row, Fragment::ROW_WORDS as u32)?;
        self.registers(col, Fragment::COL_WORDS as u32)?;
        self.has_dtype(row, &FACTORS)?;
        self.has_dtype(col, &[self.kernel.registers[row.array.0].dtype])
    }

    fn has_dtype(&self, reg: &Reg, wanted: &[Dtype]) -> Result<(), String> {
        let Some(array) = self.kernel.registers.get(reg.array.0) else {
            return Err(format!("{:?} does not exist", reg.array));
        };
        if wanted.contains(&array.dtype) {
            return Ok(());
        }
        let wanted: Vec<&str> = wanted.iter().map(|dtype| dtype.name()).collect();
        Err(format!("`{}` is of {}, not {}", array.name, array.dtype, wanted.join(" or ")))
    }

    /// A register holds what memory of the place's type does, and no access has more than the 16
    /// bytes that a thread moves at once.
    fn carried(&self, reg: &Reg, place: &Place, width: Width) -> Result<(), String> {
        let dtype = self.module.dtype(self.kernel, place.space);
        let array = &self.kernel.registers[reg.array.0];
        if array.dtype != dtype.accumulator() {
            return Err(format!("`{}` of {} meets memory of {dtype}", array.name, array.dtype));
        }
        let bytes = u64::from(width.elems()) * dtype.size_bytes();
        if bytes > 16 { Err(format!("an access of {bytes} bytes, limit 16")) } else { Ok(()) }
    }

    /// What is computed has the type of what it is computed from.
    fn one_type(&self, stmt: &Stmt) -> Result<(), String> {
        let arrays = walk::registers(stmt).into_iter().map(|reg| reg.array.0);
        let mut dtypes: Vec<Dtype> = arrays
            .filter_map(|array| self.kernel.registers.get(array))
            .map(|array| array.dtype)
            .collect();
        dtypes.dedup();
        match dtypes.as_slice() {
            [] | [_] => Ok(()),
            [first, second, ..] => Err(format!("{first} and {second} in one operation")),
        }
    }

    fn declared(&self, var: VarId) -> Result<Ty, String> {
        self.kernel
            .vars
            .get(var.0)
            .map(|var| var.ty)
            .ok_or_else(|| format!("{var:?} does not exist"))
    }

    fn bind(&mut self, var: VarId) -> Result<(), String> {
        self.declared(var)?;
        if self.bound[var.0] {
            return Err(format!("`{}` is bound twice", self.kernel.vars[var.0].name));
        }
        self.bound[var.0] = true;
        self.scope.defined[var.0] = true;
        Ok(())
    }

    fn access(
        &self,
        place: &Place,
        when: Option<&Pred>,
        direction: Direction,
    ) -> Result<(), String> {
        if let Some(when) = when {
            self.scope.pred(when)?;
        }
        match place.space {
            Space::Global(buffer) => {
                self.usage(buffer, direction)?;
                let ty = match self.module.buffers[buffer.0].layout {
                    Layout::RowMajor => Ty::U64,
                    Layout::Strided => Ty::I64,
                };
                self.scope.is("a global offset", &place.offset, ty)
            }
            Space::Shared(array) if array.0 >= self.kernel.shared.len() => {
                Err(format!("{array:?} does not exist"))
            }
            Space::Shared(_) => self.scope.is("a shared offset", &place.offset, Ty::U32),
        }
    }

    fn usage(&self, buffer: BufferId, direction: Direction) -> Result<(), String> {
        match (buffer_use(self.module, buffer)?, direction) {
            (BufferUse::Read, Direction::Load)
            | (BufferUse::Write, Direction::Store)
            | (
                BufferUse::WriteRead | BufferUse::Update | BufferUse::Temp,
                Direction::Load | Direction::Store,
            ) => Ok(()),
            (BufferUse::Index | BufferUse::Listed, Direction::Load | Direction::Store) => {
                Err("an access to indices that loads no index".to_string())
            }
            (BufferUse::Workspace, Direction::Load | Direction::Store) => {
                Err("an access to the workspace that is no temporary's".to_string())
            }
            (BufferUse::Register, Direction::Load | Direction::Store) => {
                Err("an access to a temporary that has no memory".to_string())
            }
            (BufferUse::Read, Direction::Store) => {
                Err("a store to a buffer for reading".to_string())
            }
            (BufferUse::Write, Direction::Load) => {
                Err("a load from a buffer for writing".to_string())
            }
        }
    }

    /// `width` consecutive registers from `reg` on.
    fn registers(&self, reg: &Reg, width: u32) -> Result<(), String> {
        let RegId(position) = reg.array;
        let Some(array) = self.kernel.registers.get(position) else {
            return Err(format!("{:?} does not exist", reg.array));
        };
        if !self.filled[position] {
            return Err(format!("`{}` is used before it is filled", array.name));
        }
        self.scope.register_index(&reg.at)?;
        match reg.at.as_const() {
            Some(at) if at + u64::from(width) > u64::from(array.elems) => Err(format!(
                "`{}[{at}]`, {width} wide, is out of range: the array has {}",
                array.name, array.elems
            )),
            Some(_) | None => Ok(()),
        }
    }
}
