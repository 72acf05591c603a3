//! Evaluates index expressions for the whole block at once. A value that all threads share is kept
//! as one number; loop variables, constants and the block's index are most of them. Arithmetic is
//! checked in the type of the expression.

use crate::kernel::{BinOp, Ty};

use super::failure::Fault;
use super::mask::{Mask, Where};
use super::program::{Index, Test};

/// The index variables of a block, and buffers to compute in.
pub(super) struct Slots {
    names: Vec<String>,
    vars: Vec<Slot>,
    threads: Vec<u64>,
    block: u64,
    pool: Vec<Vec<u64>>,
}

/// What a variable holds.
enum Slot {
    Unset,
    Uniform(u64),
    Lanes(Vec<u64>),
}

/// The value of an expression, given back by `Slots::release`.
pub(super) enum Operand {
    /// The same in all threads.
    Uniform(u64),
    /// A variable that differs between threads.
    Var(usize),
    /// The thread's index.
    Thread,
    /// Computed, one a thread.
    Computed(Vec<u64>),
}

/// The numbers of an operand.
#[derive(Clone, Copy)]
pub(super) enum View<'a> {
    /// The same in all threads.
    Uniform(u64),
    /// One a thread; meaningful where the mask holds.
    Lanes(&'a [u64]),
}

impl View<'_> {
    /// The value in one thread.
    #[inline]
    pub fn at(self, lane: usize) -> u64 {
        match self {
            View::Uniform(value) => value,
            View::Lanes(values) => values[lane],
        }
    }
}

impl Slots {
    /// No variable has a value.
    pub fn new(names: Vec<String>, n_threads: usize) -> Slots {
        Slots {
            vars: names.iter().map(|_| Slot::Unset).collect(),
            names,
            threads: (0..n_threads as u64).collect(),
            block: 0,
            pool: Vec::new(),
        }
    }

    /// Forgets every variable and enters `block`.
    pub fn enter(&mut self, block: u64) {
        self.block = block;
        for var in 0..self.vars.len() {
            self.unset(var);
        }
    }

    /// The variable has no value any more.
    pub fn unset(&mut self, var: usize) {
        if let Slot::Lanes(values) = std::mem::replace(&mut self.vars[var], Slot::Unset) {
            self.pool.push(values);
        }
    }

    /// Whether the variable has a value.
    pub fn is_set(&self, var: usize) -> bool {
        match self.vars[var] {
            Slot::Unset => false,
            Slot::Uniform(_) | Slot::Lanes(_) => true,
        }
    }

    /// All threads have one value.
    pub fn set_uniform(&mut self, var: usize, value: u64) {
        self.unset(var);
        self.vars[var] = Slot::Uniform(value);
    }

    /// The running threads get the value; the others keep theirs.
    pub fn set(&mut self, var: usize, value: Operand, mask: &Mask) {
        let keeps = !mask.is_full() && self.is_set(var);
        match value {
            Operand::Uniform(value) if !keeps => self.set_uniform(var, value),
            Operand::Uniform(_) | Operand::Var(_) | Operand::Thread | Operand::Computed(_) => {
                let mut values = self.buffer();
                if keeps {
                    self.copy_into(
                        &Operand::Var(var),
                        &mut values,
                        &Mask::full(self.threads.len()),
                    );
                }
                self.copy_into(&value, &mut values, mask);
                self.release(value);
                self.unset(var);
                self.vars[var] = Slot::Lanes(values);
            }
        }
    }

    fn copy_into(&self, value: &Operand, into: &mut [u64], mask: &Mask) {
        let view = self.view(value);
        mask.each(|lane| into[lane] = view.at(lane));
    }

    /// The numbers of an operand.
    pub fn view<'a>(&'a self, operand: &'a Operand) -> View<'a> {
        match operand {
            Operand::Uniform(value) => View::Uniform(*value),
            Operand::Thread => View::Lanes(&self.threads),
            Operand::Computed(values) => View::Lanes(values),
            Operand::Var(var) => match &self.vars[*var] {
                Slot::Unset => View::Uniform(0),
                Slot::Uniform(value) => View::Uniform(*value),
                Slot::Lanes(values) => View::Lanes(values),
            },
        }
    }

    /// Takes back what an operand was computed in.
    pub fn release(&mut self, operand: Operand) {
        match operand {
            Operand::Computed(values) => self.pool.push(values),
            Operand::Uniform(_) | Operand::Var(_) | Operand::Thread => {}
        }
    }

    pub fn buffer(&mut self) -> Vec<u64> {
        let n_threads = self.threads.len();
        self.pool.pop().unwrap_or_else(|| vec![0; n_threads])
    }

    /// The value of `index` in the running threads.
    pub fn eval(&mut self, index: &Index, mask: &Mask) -> Result<Operand, Box<Fault>> {
        match index {
            Index::Const(value) => Ok(Operand::Uniform(*value)),
            Index::Thread => Ok(Operand::Thread),
            Index::Block => Ok(Operand::Uniform(self.block)),
            Index::Var(var) => match &self.vars[*var] {
                Slot::Unset => Err(self.unset_fault(*var)),
                Slot::Uniform(value) => Ok(Operand::Uniform(*value)),
                Slot::Lanes(_) => Ok(Operand::Var(*var)),
            },
            Index::Binary { op, ty, left, right } => {
                let left = self.eval(left, mask)?;
                let right = self.eval(right, mask)?;
                self.binary(*op, *ty, left, right, mask)
            }
            Index::Narrow(inner) => self.fitting(inner, u64::from(u32::MAX), "32 bits", mask),
            Index::Signed(inner) => self.fitting(inner, i64::MAX.unsigned_abs(), "i64", mask),
        }
    }

    /// The value of `index`, which is at most `limit` in the running threads.
    fn fitting(
        &mut self,
        index: &Index,
        limit: u64,
        what: &str,
        mask: &Mask,
    ) -> Result<Operand, Box<Fault>> {
        let value = self.eval(index, mask)?;
        let view = self.view(&value);
        mask.try_each(|lane| match view.at(lane) {
            fits if fits <= limit => Ok(()),
            large => Err(Fault::at(lane, format!("{large} does not fit {what}"))),
        })?;
        Ok(value)
    }

    fn unset_fault(&self, var: usize) -> Box<Fault> {
        Fault::of_block(format!("`{}` is used before it has a value", self.names[var]))
    }

    fn binary(
        &mut self,
        op: BinOp,
        ty: Ty,
        left: Operand,
        right: Operand,
        mask: &Mask,
    ) -> Result<Operand, Box<Fault>> {
        if let (Operand::Uniform(left), Operand::Uniform(right)) = (&left, &right) {
            return match checked(op, ty, *left, *right) {
                Some(value) => Ok(Operand::Uniform(value)),
                None => Err(Fault::at(mask.first(), refusal(op, ty, *left, *right))),
            };
        }
        let mut values = self.buffer();
        super::lanes::binary(op, ty, self.view(&left), self.view(&right), mask, &mut values)?;
        self.release(left);
        self.release(right);
        Ok(Operand::Computed(values))
    }

    /// The value of an expression of constants and unrolled loop variables.
    pub fn uniform(&self, index: &Index) -> Result<u64, Box<Fault>> {
        match index {
            Index::Const(value) => Ok(*value),
            Index::Var(var) => match &self.vars[*var] {
                Slot::Uniform(value) => Ok(*value),
                Slot::Unset => Err(self.unset_fault(*var)),
                Slot::Lanes(_) => {
                    let name = &self.names[*var];
                    Err(Fault::of_block(format!(
                        "a register index uses `{name}`, which differs between threads"
                    )))
                }
            },
            Index::Binary { op, ty, left, right } => {
                let (left, right) = (self.uniform(left)?, self.uniform(right)?);
                checked(*op, *ty, left, right)
                    .ok_or_else(|| Fault::of_block(refusal(*op, *ty, left, right)))
            }
            Index::Thread | Index::Block | Index::Narrow(_) | Index::Signed(_) => {
                Err(Fault::of_block(
                    "a register index is not made of constants and unrolled loop variables"
                        .to_string(),
                ))
            }
        }
    }

    /// Where among the running threads the condition holds.
    pub fn test(&mut self, test: &Test, mask: &Mask) -> Result<Where, Box<Fault>> {
        match test {
            Test::Less(left, right) => {
                let left = self.eval(left, mask)?;
                let right = self.eval(right, mask)?;
                let held = super::lanes::less(self.view(&left), self.view(&right), mask);
                self.release(left);
                self.release(right);
                Ok(held)
            }
            Test::All(parts) => {
                let mut held = Where::All;
                for part in parts {
                    let Some(left) = held.of(mask) else { break };
                    match self.test(part, left)? {
                        Where::All => {}
                        fewer @ (Where::Nowhere | Where::Some(_)) => held = fewer,
                    }
                }
                Ok(held)
            }
        }
    }
}

/// The result of an operation, or none where it does not exist or does not fit the type.
pub(super) fn checked(op: BinOp, ty: Ty, left: u64, right: u64) -> Option<u64> {
    if ty == Ty::I64 {
        return checked_signed(op, left.cast_signed(), right.cast_signed()).map(i64::cast_unsigned);
    }
    let value = match op {
        BinOp::Add => left.checked_add(right),
        BinOp::Sub => left.checked_sub(right),
        BinOp::SaturatingSub => Some(left.saturating_sub(right)),
        BinOp::Mul => left.checked_mul(right),
        BinOp::Div => left.checked_div(right),
        BinOp::Rem => left.checked_rem(right),
        BinOp::Min => Some(left.min(right)),
        BinOp::Xor => Some(left ^ right),
    }?;
    match ty {
        Ty::U32 => u32::try_from(value).ok().map(u64::from),
        Ty::U64 | Ty::I64 => Some(value),
    }
}

/// The same for numbers with a sign, which are only added, subtracted and multiplied.
fn checked_signed(op: BinOp, left: i64, right: i64) -> Option<i64> {
    match op {
        BinOp::Add => left.checked_add(right),
        BinOp::Sub => left.checked_sub(right),
        BinOp::Mul => left.checked_mul(right),
        BinOp::SaturatingSub | BinOp::Div | BinOp::Rem | BinOp::Min | BinOp::Xor => None,
    }
}

/// Why `checked` has no result.
#[cold]
pub(super) fn refusal(op: BinOp, ty: Ty, left: u64, right: u64) -> String {
    let ty = match ty {
        Ty::U32 => "u32",
        Ty::U64 => "u64",
        Ty::I64 => {
            let (left, right) = (left.cast_signed(), right.cast_signed());
            return format!("{op:?} of {left} and {right} has no result in i64");
        }
    };
    match op {
        BinOp::Add => format!("{left} + {right} overflows {ty}"),
        BinOp::Mul => format!("{left} * {right} overflows {ty}"),
        BinOp::Sub => format!("{left} - {right} is below zero"),
        BinOp::SaturatingSub => format!("saturating_sub({left}, {right}) does not fit {ty}"),
        BinOp::Div => format!("{left} / {right} divides by zero"),
        BinOp::Rem => format!("{left} % {right} divides by zero"),
        BinOp::Min => format!("min({left}, {right}) does not fit {ty}"),
        BinOp::Xor => format!("{left} ^ {right} does not fit {ty}"),
    }
}
