//! The registers of a block: one row of lanes a register, so that an operation of the whole block
//! is one loop over consecutive numbers.

use super::failure::Fault;
use super::mask::Mask;
use super::program::Operation;

/// All registers of all threads of a block.
pub(super) struct Registers {
    names: Vec<String>,
    rows: Vec<Vec<f32>>,
    is_set: Vec<bool>,
    scratch: Vec<f32>,
}

impl Registers {
    /// No register has a value.
    pub fn new(names: Vec<String>, n_threads: usize) -> Registers {
        Registers {
            rows: names.iter().map(|_| vec![0.0; n_threads]).collect(),
            is_set: vec![false; names.len()],
            scratch: vec![0.0; n_threads],
            names,
        }
    }

    /// Forgets every value.
    pub fn enter(&mut self) {
        self.is_set.fill(false);
    }

    /// The running threads' registers become `value`.
    pub fn fill(&mut self, register: usize, value: f32, mask: &Mask) {
        self.is_set[register] = true;
        let row = &mut self.rows[register];
        mask.each(|lane| row[lane] = value);
    }

    /// Lends the row of a register to be written; `put` gives it back.
    pub fn take(&mut self, register: usize) -> Vec<f32> {
        std::mem::take(&mut self.rows[register])
    }

    /// Gives back what `take` lent.
    pub fn put(&mut self, register: usize, row: Vec<f32>) {
        self.rows[register] = row;
        self.is_set[register] = true;
    }

    /// The row of a register, which must have a value.
    pub fn row(&self, register: usize) -> Result<&[f32], Box<Fault>> {
        if self.is_set[register] {
            Ok(&self.rows[register])
        } else {
            let name = &self.names[register];
            Err(Fault::of_block(format!("register `{name}` is used before it has a value")))
        }
    }

    /// `to = operation(sources)` in the running threads.
    pub fn compute(
        &mut self,
        to: usize,
        operation: Operation,
        sources: [usize; 3],
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        match operation {
            Operation::Copy => self.combine(to, sources, mask, |a, _, _| a),
            Operation::Add => self.combine(to, sources, mask, |a, b, _| a + b),
            Operation::Mul => self.combine(to, sources, mask, |a, b, _| a * b),
            Operation::Fma => self.combine(to, sources, mask, fma),
        }
    }

    /// `to` of each running thread becomes `from` of the thread across `lane_mask`, which runs too.
    pub fn shuffle(
        &mut self,
        to: usize,
        from: usize,
        lane_mask: usize,
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let row = self.row(from)?;
        mask.each(|lane| scratch[lane] = row[lane ^ lane_mask]);
        let row = &mut self.rows[to];
        mask.each(|lane| row[lane] = scratch[lane]);
        self.scratch = scratch;
        self.is_set[to] = true;
        Ok(())
    }

    fn combine(
        &mut self,
        to: usize,
        [first, second, third]: [usize; 3],
        mask: &Mask,
        f: impl Fn(f32, f32, f32) -> f32,
    ) -> Result<(), Box<Fault>> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let (a, b, c) = (self.row(first)?, self.row(second)?, self.row(third)?);
        if mask.is_full() {
            for (((out, a), b), c) in scratch.iter_mut().zip(a).zip(b).zip(c) {
                *out = f(*a, *b, *c);
            }
            self.scratch = std::mem::replace(&mut self.rows[to], scratch);
        } else {
            for lane in mask.lanes() {
                scratch[*lane] = f(a[*lane], b[*lane], c[*lane]);
            }
            let row = &mut self.rows[to];
            mask.each(|lane| row[lane] = scratch[lane]);
            self.scratch = scratch;
        }
        self.is_set[to] = true;
        Ok(())
    }
}

/// `a * b + c` in double precision, then rounded to single. The product of two singles is exact in
/// a double, so this differs from a fused operation only by double rounding: where the sum, rounded
/// to 53 bits, falls on the middle between two singles and the exact sum does not. `f32::mul_add`
/// would be exact but is a library call on baseline x86-64; this is the same on every machine.
#[inline]
fn fma(a: f32, b: f32, c: f32) -> f32 {
    (f64::from(a) * f64::from(b) + f64::from(c)) as f32
}
