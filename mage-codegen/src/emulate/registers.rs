//! The registers of a block: one row of lanes a register, so that an operation of the whole block
//! is one loop over consecutive numbers.

use mage_einsum::dtype::Dtype;

use super::failure::Fault;
use super::index::View;
use super::mask::Mask;
use super::program::Operation;
use crate::fragment::{Fragment, Held};

/// All registers of all threads of a block. An f64 carries a value of any type; what is computed
/// is rounded to the type of the register that it goes to.
pub(super) struct Registers {
    names: Vec<String>,
    dtypes: Vec<Dtype>,
    rows: Vec<Vec<f64>>,
    is_set: Vec<bool>,
    scratch: Vec<f64>,
}

impl Registers {
    /// No register has a value.
    pub fn new(registers: &[(String, Dtype)], n_threads: usize) -> Registers {
        let (names, dtypes): (Vec<String>, Vec<Dtype>) = registers.iter().cloned().unzip();
        Registers {
            rows: names.iter().map(|_| vec![0.0; n_threads]).collect(),
            is_set: vec![false; names.len()],
            scratch: vec![0.0; n_threads],
            names,
            dtypes,
        }
    }

    /// Forgets every value.
    pub fn enter(&mut self) {
        self.is_set.fill(false);
    }

    /// The running threads' registers become `value`.
    pub fn fill(&mut self, register: usize, value: f64, mask: &Mask) {
        self.is_set[register] = true;
        let row = &mut self.rows[register];
        mask.each(|lane| row[lane] = value);
    }

    /// The running threads' registers become `value`, rounded to the register's type.
    pub fn set_number(&mut self, register: usize, value: f64, mask: &Mask) {
        let round = rounding(self.dtypes[register]);
        self.fill(register, round(value), mask);
    }

    /// The running threads' registers become the numbers of an index, rounded to the register's
    /// type at once: by way of f64 they might be rounded twice.
    pub fn set_index(&mut self, register: usize, value: View<'_>, mask: &Mask) {
        self.is_set[register] = true;
        let dtype = self.dtypes[register];
        let row = &mut self.rows[register];
        mask.each(|lane| {
            let value = value.at(lane);
            row[lane] = match dtype {
                Dtype::F64 => value as f64,
                Dtype::F16 | Dtype::BF16 | Dtype::F32 => f64::from(value as f32),
            };
        });
    }

    /// Lends the row of a register to be written; `put` gives it back.
    pub fn take(&mut self, register: usize) -> Vec<f64> {
        std::mem::take(&mut self.rows[register])
    }

    /// Gives back what `take` lent.
    pub fn put(&mut self, register: usize, row: Vec<f64>) {
        self.rows[register] = row;
        self.is_set[register] = true;
    }

    /// The row of a register, which must have a value.
    pub fn row(&self, register: usize) -> Result<&[f64], Box<Fault>> {
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
        let round = rounding(self.dtypes[to]);
        match (operation, self.dtypes[to]) {
            (Operation::Tf32, _) => self.combine(to, sources, mask, |a, _, _| tf32(a)),
            (Operation::Copy, _) => self.combine(to, sources, mask, |a, _, _| a),
            (Operation::Add, Dtype::F64) => self.combine(to, sources, mask, |a, b, _| a + b),
            (Operation::Mul, Dtype::F64) => self.combine(to, sources, mask, |a, b, _| a * b),
            (Operation::Fma, Dtype::F64) => self.combine(to, sources, mask, f64::mul_add),
            (Operation::Add, _) => self.combine(to, sources, mask, |a, b, _| single(a + b)),
            (Operation::Mul, _) => self.combine(to, sources, mask, |a, b, _| single(a * b)),
            (Operation::Fma, _) => self.combine(to, sources, mask, |a, b, c| single(a * b + c)),
            (Operation::Sub, _) => self.combine(to, sources, mask, |a, b, _| round(a - b)),
            (Operation::Div, _) => self.combine(to, sources, mask, |a, b, _| round(a / b)),
            (Operation::Max, _) => self.combine(to, sources, mask, |a, b, _| maximum(a, b)),
            (Operation::Min, _) => self.combine(to, sources, mask, |a, b, _| -maximum(-a, -b)),
            (Operation::Call(function), _) => {
                self.combine(to, sources, mask, |a, _, _| round(function.of(a)))
            }
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

    /// `sums += row factor * col factor` in each of the running warps, which are whole. Products
    /// are exact in f64.
    pub fn mma(
        &mut self,
        fragment: Fragment,
        (sums, row, col): (usize, usize, usize),
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        let depth = fragment.depth();
        for warp in mask.warps() {
            let Some(first) = warp.first() else { continue };
            let mut factors = [[0.0; 16]; Fragment::ROWS + Fragment::COLS];
            for (line, products) in factors.iter_mut().enumerate() {
                for (at, value) in products.iter_mut().enumerate().take(depth) {
                    let (held, from) = match line.checked_sub(Fragment::ROWS) {
                        None => (fragment.row_factor(line, at), row),
                        Some(line) => (fragment.col_factor(at, line), col),
                    };
                    *value = self.factor(from + held.elem, first + held.lane)?;
                }
            }
            let (rows, cols) = factors.split_at(Fragment::ROWS);
            for (i, row) in rows.iter().enumerate() {
                for (j, col) in cols.iter().enumerate() {
                    let Held { lane, elem } = Fragment::sum(i, j);
                    let before = self.row(sums + elem)?[first + lane];
                    let mut sum = before;
                    for (a, b) in row.chunks(CUT_EVERY).zip(col.chunks(CUT_EVERY)) {
                        let products = a.iter().zip(b).map(|(a, b)| a * b);
                        sum = cut_off(products.fold(sum, |sum, product| sum + product));
                    }
                    self.rows[sums + elem][first + lane] = sum;
                }
            }
        }
        Ok(())
    }

    /// A number that the tensor cores multiply. They would cut off what TF32 cannot hold.
    fn factor(&self, register: usize, lane: usize) -> Result<f64, Box<Fault>> {
        let value = self.row(register)?[lane];
        if self.dtypes[register] == Dtype::F32 && value.is_finite() && tf32(value) != value {
            let name = &self.names[register];
            let message = format!("`{name}` is {value}, which is not rounded to TF32, in an mma");
            return Err(Fault::at(lane, message));
        }
        Ok(value)
    }

    fn combine(
        &mut self,
        to: usize,
        [first, second, third]: [usize; 3],
        mask: &Mask,
        f: impl Fn(f64, f64, f64) -> f64,
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

/// How a register of a type rounds.
fn rounding(dtype: Dtype) -> fn(f64) -> f64 {
    match dtype {
        Dtype::F64 => |value| value,
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => single,
    }
}

/// The larger of both; NaN where one of them is.
fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}

/// A result of f64 arithmetic on singles, rounded to single. Sums, products and quotients come out as if
/// they had been rounded once (Figueroa, When is Double Rounding Innocuous?, 1995). `a * b + c` does too,
/// the product being exact in f64, but where the sum, rounded to 53 bits, falls on the middle
/// between two singles and the exact sum does not; `f32::mul_add` would be exact but is a library
/// call on baseline x86-64, and this is the same on every machine.
#[inline]
fn single(value: f64) -> f64 {
    f64::from(value as f32)
}

/// Products after which the tensor cores cut a sum off to f32. It is not documented: of what a sum
/// of positive numbers may lose, an H200 lost 1.2 times at 4096 terms and 3.5 times at 16384, and
/// this loses 1.7 and 3.7 times (evidence, tensor-cores.md).
const CUT_EVERY: usize = 4;

/// The nearest f32 that is not further from zero.
fn cut_off(value: f64) -> f64 {
    let nearest = value as f32;
    let is_further = f64::from(nearest).abs() > value.abs();
    f64::from(if is_further { f32::from_bits(nearest.to_bits() - 1) } else { nearest })
}

/// An f32 rounded to the 11 significant bits of TF32, of two neighbours the larger one.
fn tf32(value: f64) -> f64 {
    let bits = (value as f32).to_bits();
    if value.is_nan() { value } else { f64::from(f32::from_bits((bits + (1 << 12)) & !0x1fff)) }
}
