//! Compiles a kernel once into the form that `block` runs. What breaks a rule whatever the values
//! are becomes `Op::Wrong`, a trap where the statement is reached.

use std::ops::Range;

use crate::device::WARP_THREADS;
use crate::kernel::{
    BinOp, Expr, Kernel, Module, Place, Pred, Reg, RegId, Space, Stmt, Ty, Value, VarId, Width,
    describe,
};

use super::index::checked;
use super::program::{Access, Index, Memory, Op, Operation, Program, Register, Step, Test};

/// The compiled form of `kernel`.
pub(super) fn compile(module: &Module, kernel: &Kernel) -> Program {
    let mut compiler = Compiler { module, kernel, arrays: arrays(kernel), places: Vec::new() };
    let mut body = compiler.body(&kernel.body, "");
    if let Some(message) = refusal(kernel) {
        body.insert(0, Step { place: usize::MAX, op: Op::Wrong(message) });
    }
    Program {
        name: kernel.name.clone(),
        n_threads: kernel.block_threads as usize,
        params: params(kernel),
        registers: kernel
            .registers
            .iter()
            .flat_map(|array| {
                let named = |at| (format!("{}[{at}]", array.name), array.dtype);
                (0..array.elems).flat_map(move |at| (0..array.word_elems()).map(move |_| named(at)))
            })
            .collect(),
        shared: kernel
            .shared
            .iter()
            .map(|array| (array.name.clone(), array.elems as usize, array.dtype))
            .collect(),
        vars: kernel.vars.iter().map(|var| var.name.clone()).collect(),
        body,
        places: compiler.places,
    }
}

/// What is wrong with the kernel as a whole. The limit is that of the CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability"; the shadow of shared memory relies on it.
fn refusal(kernel: &Kernel) -> Option<String> {
    if !(1..=1024).contains(&kernel.block_threads) {
        return Some(format!("{} threads a block, limit 1 to 1024", kernel.block_threads));
    }
    let unknown = kernel.params.iter().find(|param| param.var.0 >= kernel.vars.len())?;
    Some(format!("{:?} does not exist", unknown.var))
}

fn params(kernel: &Kernel) -> Vec<(usize, Ty)> {
    kernel
        .params
        .iter()
        .filter_map(|param| Some((param.var.0, kernel.vars.get(param.var.0)?.ty)))
        .collect()
}

/// Where each register array lies.
fn arrays(kernel: &Kernel) -> Vec<Range<usize>> {
    let mut next = 0;
    kernel
        .registers
        .iter()
        .map(|array| {
            let first = next;
            next += array.elems as usize * array.word_elems();
            first..next
        })
        .collect()
}

struct Compiler<'a> {
    module: &'a Module,
    kernel: &'a Kernel,
    arrays: Vec<Range<usize>>,
    places: Vec<String>,
}

impl Compiler<'_> {
    fn body(&mut self, stmts: &[Stmt], outer: &str) -> Vec<Step> {
        stmts
            .iter()
            .enumerate()
            .map(|(position, stmt)| {
                let words = describe(self.module, self.kernel, position, stmt);
                let path = if outer.is_empty() { words } else { format!("{outer} > {words}") };
                self.places.push(path.clone());
                let place = self.places.len() - 1;
                Step { place, op: self.op(stmt, &path).unwrap_or_else(Op::Wrong) }
            })
            .collect()
    }

    fn op(&mut self, stmt: &Stmt, path: &str) -> Result<Op, String> {
        Ok(match stmt {
            Stmt::Let { var, value } => self.set(*var, value, true)?,
            Stmt::Assign { var, value } => self.set(*var, value, false)?,
            Stmt::Fill { reg, value } => {
                Op::Fill { registers: self.array(*reg)?, value: f64::from(*value) }
            }
            Stmt::For { var, begin, end, step, unroll: _, body } => {
                let var = self.var(*var)?;
                if *step == 0 {
                    return Err("the loop's step is zero".to_string());
                }
                let (begin, end) = (self.index(begin)?, self.index(end)?);
                Op::Loop { var, begin, end, step: u64::from(*step), body: self.body(body, path) }
            }
            Stmt::If { when, then, otherwise } => Op::Branch {
                when: self.test(when)?,
                then: self.body(then, path),
                otherwise: self.body(otherwise, &format!("{path} else")),
            },
            Stmt::Barrier => Op::Barrier,
            Stmt::Load { to, from, width, when } => Op::Load {
                to: self.register(to)?,
                access: self.access(from, *width, when.as_ref())?,
            },
            Stmt::LoadIndex { var, from } => {
                Op::LoadIndex { var: self.var(*var)?, access: self.access(from, Width::One, None)? }
            }
            Stmt::Store { to, from, width, when } => {
                let access = self.access(to, *width, when.as_ref())?;
                if from.len() != width.elems() as usize {
                    let (given, asked) = (from.len(), width.elems());
                    return Err(format!("the store has {given} registers for {asked} elements"));
                }
                let from = from.iter().map(|reg| self.register(reg)).collect::<Result<_, _>>()?;
                Op::Store { from, access }
            }
            Stmt::ShuffleXor { to, from, lane_mask } => self.shuffle(to, from, *lane_mask)?,
            Stmt::Copy { to, from, elems, when } => Op::Copy {
                to: self.access(to, Width::One, None)?,
                from: self.access(from, Width::One, when.as_ref())?,
                elems: *elems as usize,
            },
            Stmt::CommitCopies => Op::CommitCopies,
            Stmt::AwaitCopies { pending } => Op::AwaitCopies { pending: *pending },
            Stmt::LoadMatrices { to, from, transposed } => Op::LoadMatrices {
                to: self.register(to)?,
                from: self.access(from, Width::One, None)?,
                transposed: *transposed,
            },
            Stmt::Mma { acc, row, col } => Op::Mma {
                acc: self.register(acc)?,
                row: self.register(row)?,
                col: self.register(col)?,
            },
            Stmt::Compute { to, value } => self.compute(to, value)?,
        })
    }

    fn set(&self, var: VarId, value: &Expr, first: bool) -> Result<Op, String> {
        let slot = self.var(var)?;
        if !first && !self.kernel.vars[slot].mutable {
            return Err(format!("`{}` is assigned but not mutable", self.kernel.vars[slot].name));
        }
        Ok(Op::Set { var: slot, first, value: self.index(value)? })
    }

    fn shuffle(&self, to: &Reg, from: &Reg, lane_mask: u32) -> Result<Op, String> {
        if !(1..WARP_THREADS).contains(&lane_mask) {
            return Err(format!("the lane mask is {lane_mask}, limit 1 to 31"));
        }
        let (to, from) = (self.register(to)?, self.register(from)?);
        Ok(Op::Shuffle { to, from, lane_mask: lane_mask as usize })
    }

    fn compute(&self, to: &Reg, value: &Value) -> Result<Op, String> {
        let (operation, [first, second, third]) = match value {
            Value::Number(value) => {
                return Ok(Op::Number { to: self.register(to)?, value: *value });
            }
            Value::Index(value) => {
                let value = self.index(value)?;
                return Ok(Op::NumberOf { to: self.register(to)?, value });
            }
            Value::Copy(only) => (Operation::Copy, [only, only, only]),
            Value::Tf32(only) => (Operation::Tf32, [only, only, only]),
            Value::Call(function, only) => (Operation::Call(*function), [only, only, only]),
            Value::Add(first, second) => (Operation::Add, [first, second, first]),
            Value::Sub(first, second) => (Operation::Sub, [first, second, first]),
            Value::Mul(first, second) => (Operation::Mul, [first, second, first]),
            Value::Div(first, second) => (Operation::Div, [first, second, first]),
            Value::Max(first, second) => (Operation::Max, [first, second, first]),
            Value::Min(first, second) => (Operation::Min, [first, second, first]),
            Value::Fma(first, second, third) => (Operation::Fma, [first, second, third]),
        };
        let sources = [self.register(first)?, self.register(second)?, self.register(third)?];
        Ok(Op::Compute { to: self.register(to)?, operation, sources })
    }

    fn access(&self, place: &Place, width: Width, when: Option<&Pred>) -> Result<Access, String> {
        let (memory, known) = match place.space {
            Space::Global(id) => (Memory::Global(id.0), id.0 < self.module.buffers.len()),
            Space::Shared(id) => (Memory::Shared(id.0), id.0 < self.kernel.shared.len()),
        };
        if !known {
            return Err(format!("{:?} does not exist", place.space));
        }
        Ok(Access {
            memory,
            offset: self.index(&place.offset)?,
            width,
            when: when.map(|pred| self.test(pred)).transpose()?,
        })
    }

    fn register(&self, reg: &Reg) -> Result<Register, String> {
        let array = self.array(reg.array)?;
        let word_elems = self.kernel.registers[reg.array.0].word_elems();
        Ok(Register { array, at: self.index(&reg.at)?, word_elems })
    }

    fn array(&self, id: RegId) -> Result<Range<usize>, String> {
        self.arrays.get(id.0).cloned().ok_or_else(|| format!("{id:?} does not exist"))
    }

    fn var(&self, id: VarId) -> Result<usize, String> {
        if id.0 < self.kernel.vars.len() { Ok(id.0) } else { Err(format!("{id:?} does not exist")) }
    }

    fn test(&self, pred: &Pred) -> Result<Test, String> {
        Ok(match pred {
            Pred::Less(left, right) => Test::Less(self.index(left)?, self.index(right)?),
            Pred::All(parts) => {
                Test::All(parts.iter().map(|part| self.test(part)).collect::<Result<_, _>>()?)
            }
        })
    }

    fn index(&self, expr: &Expr) -> Result<Index, String> {
        Ok(match expr {
            Expr::Const { value, .. } => Index::Const(*value),
            Expr::Var(id) => Index::Var(self.var(*id)?),
            Expr::Thread => Index::Thread,
            Expr::Block => Index::Block,
            Expr::Binary(op, left, right) => {
                folded(*op, self.ty(left), self.index(left)?, self.index(right)?)
            }
            Expr::Widen(inner) => self.index(inner)?,
            // Every 32-bit value fits.
            Expr::Signed(inner) if self.ty(inner) == Ty::U32 => self.index(inner)?,
            Expr::Signed(inner) => Index::Signed(Box::new(self.index(inner)?)),
            Expr::Narrow(inner) => Index::Narrow(Box::new(self.index(inner)?)),
        })
    }

    /// Like `Kernel::ty`, but an unknown variable is no panic.
    fn ty(&self, expr: &Expr) -> Ty {
        match expr {
            Expr::Const { ty, .. } => *ty,
            Expr::Var(id) => self.kernel.vars.get(id.0).map_or(Ty::U64, |var| var.ty),
            Expr::Thread | Expr::Block | Expr::Narrow(_) => Ty::U32,
            Expr::Binary(_, left, _) => self.ty(left),
            Expr::Widen(_) => Ty::U64,
            Expr::Signed(_) => Ty::I64,
        }
    }
}

/// The operation, or its result where both sides are known and there is one.
fn folded(op: BinOp, ty: Ty, left: Index, right: Index) -> Index {
    if let (Index::Const(left), Index::Const(right)) = (&left, &right)
        && let Some(value) = checked(op, ty, *left, *right)
    {
        return Index::Const(value);
    }
    Index::Binary { op, ty, left: Box::new(left), right: Box::new(right) }
}
