//! Runs one block: all its threads together, statement by statement, under a mask. Variables,
//! registers and shared memory live here; global memory is lent.

mod access;
mod tensor;

use crate::kernel::Ty;

use super::copies::Copies;
use super::count::Counts;
use super::failure::Fault;
use super::global::GlobalBuffer;
use super::index::{Operand, Slots};
use super::mask::{Mask, Where};
use super::program::{Access, Index, Memory, Op, Program, Register, Step, Test};
use super::registers::Registers;
use super::shared::SharedArray;

/// The state of a block; used for one block after another.
pub(super) struct Block<'p, 'a, 'g> {
    program: &'p Program,
    slots: Slots,
    registers: Registers,
    shared: Vec<SharedArray>,
    copies: Copies,
    global: &'g mut [GlobalBuffer<'a>],
    counts: Option<Counts>,
    full: Mask,
    place: usize,
}

impl<'p, 'a, 'g> Block<'p, 'a, 'g> {
    /// A block of `program` over the buffers.
    pub fn new(program: &'p Program, global: &'g mut [GlobalBuffer<'a>]) -> Self {
        let n_threads = program.n_threads;
        Block {
            slots: Slots::new(program.vars.clone(), n_threads),
            registers: Registers::new(&program.registers, n_threads),
            shared: program
                .shared
                .iter()
                .map(|(name, elems, dtype)| SharedArray::new(name.clone(), *elems, *dtype))
                .collect(),
            copies: Copies::new(n_threads),
            counts: None,
            full: Mask::full(n_threads),
            place: 0,
            program,
            global,
        }
    }

    /// Runs the block at `position` of the grid with the kernel's parameters.
    pub fn run(&mut self, position: u64, params: &[u64]) -> Result<(), Box<Fault>> {
        self.place = usize::MAX;
        self.slots.enter(position);
        self.registers.enter();
        self.shared.iter_mut().for_each(SharedArray::enter);
        self.copies.enter();
        for ((var, ty), value) in self.program.params.iter().zip(params) {
            if *ty == Ty::U32 && u32::try_from(*value).is_err() {
                let name = self.program.vars.get(*var).map_or("?", String::as_str);
                let message = format!("the parameter `{name}` is {value}, which does not fit u32");
                return Err(Fault::of_block(message));
            }
            self.slots.set_uniform(*var, *value);
        }
        let full = self.full.clone();
        self.body(&self.program.body, &full)
    }

    /// The same, and what it asked of the memories.
    pub fn count(&mut self, position: u64, params: &[u64]) -> Result<Counts, Box<Fault>> {
        self.counts = Some(Counts::default());
        self.run(position, params)?;
        Ok(self.counts.take().unwrap_or_default())
    }

    /// The path of the statement that was last begun; empty where there was none.
    pub fn place(&self) -> &'p str {
        self.program.places.get(self.place).map_or("", String::as_str)
    }

    fn body(&mut self, steps: &'p [Step], mask: &Mask) -> Result<(), Box<Fault>> {
        for step in steps {
            self.place = step.place;
            self.step(&step.op, mask)?;
        }
        Ok(())
    }

    fn step(&mut self, op: &'p Op, mask: &Mask) -> Result<(), Box<Fault>> {
        match op {
            Op::Set { var, first, value } => self.set(*var, *first, value, mask),
            Op::Fill { registers, value } => {
                registers.clone().for_each(|register| self.registers.fill(register, *value, mask));
                Ok(())
            }
            Op::Loop { var, begin, end, step, body } => {
                let begin = self.slots.eval(begin, mask)?;
                let end = self.slots.eval(end, mask)?;
                self.turns(*var, (begin, end), *step, body, mask)
            }
            Op::Branch { when, then, otherwise } => self.branch(when, then, otherwise, mask),
            Op::Barrier => self.barrier(mask),
            Op::Load { to, access } => self.load(to, access, mask),
            Op::LoadIndex { var, access } => self.load_index(*var, access, mask),
            Op::Store { from, access } => self.store(from, access, mask),
            Op::Shuffle { to, from, lane_mask } => self.shuffle(to, from, *lane_mask, mask),
            Op::Copy { to, from, elems } => self.copy((to, from), *elems, mask),
            Op::CommitCopies => {
                self.copies.commit(mask);
                Ok(())
            }
            Op::AwaitCopies { pending } => {
                self.await_copies(*pending, mask);
                Ok(())
            }
            Op::LoadMatrices { to, from, transposed } => {
                self.load_matrices(to, (from, *transposed), mask)
            }
            Op::Mma { acc, row, col } => self.mma(acc, (row, col), mask),
            Op::Number { to, value } => {
                let to = self.at(to)?;
                self.registers.set_number(to, *value, mask);
                Ok(())
            }
            Op::NumberOf { to, value } => {
                let to = self.at(to)?;
                let value = self.slots.eval(value, mask)?;
                self.registers.set_index(to, self.slots.view(&value), mask);
                self.slots.release(value);
                Ok(())
            }
            Op::Compute { to, operation, sources: [first, second, third] } => {
                let sources = [self.at(first)?, self.at(second)?, self.at(third)?];
                if let Some(counts) = &mut self.counts {
                    counts.compute(*operation, mask.lanes().len());
                }
                let to = self.at(to)?;
                self.registers.compute(to, *operation, sources, mask)
            }
            Op::Wrong(message) => Err(Fault::of_block(message.clone())),
        }
    }

    fn set(
        &mut self,
        var: usize,
        first: bool,
        value: &Index,
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        let value = self.slots.eval(value, mask)?;
        if first {
            self.slots.unset(var);
        } else if !self.slots.is_set(var) {
            let name = &self.program.vars[var];
            return Err(Fault::of_block(format!("`{name}` is assigned before it has a value")));
        }
        self.slots.set(var, value, mask);
        Ok(())
    }

    fn turns(
        &mut self,
        var: usize,
        (begin, end): (Operand, Operand),
        step: u64,
        body: &'p [Step],
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        if let (Operand::Uniform(begin), Operand::Uniform(end)) = (&begin, &end) {
            let mut value = *begin;
            while value < *end {
                self.slots.set_uniform(var, value);
                self.body(body, mask)?;
                value = value.saturating_add(step);
            }
        } else {
            self.divergent_turns(var, (begin, end), step, body, mask)?;
        }
        self.slots.unset(var);
        Ok(())
    }

    /// A loop whose bounds differ between threads: goes on as long as any thread has a turn left.
    fn divergent_turns(
        &mut self,
        var: usize,
        (begin, end): (Operand, Operand),
        step: u64,
        body: &'p [Step],
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        let n_threads = self.program.n_threads;
        let mut values = vec![0; n_threads];
        let mut ends = vec![0; n_threads];
        mask.each(|lane| {
            values[lane] = self.slots.view(&begin).at(lane);
            ends[lane] = self.slots.view(&end).at(lane);
        });
        loop {
            let running = mask.narrow(|lane| values[lane] < ends[lane]);
            let Some(running) = running.of(mask) else { return Ok(()) };
            self.slots.unset(var);
            self.slots.set(var, Operand::Computed(values.clone()), running);
            self.body(body, running)?;
            running.each(|lane| values[lane] = values[lane].saturating_add(step));
        }
    }

    fn branch(
        &mut self,
        when: &Test,
        then: &'p [Step],
        otherwise: &'p [Step],
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        match self.slots.test(when, mask)? {
            Where::All => self.body(then, mask),
            Where::Nowhere => self.body(otherwise, mask),
            Where::Some(held) => {
                let others = mask.narrow(|lane| held.lanes().binary_search(&lane).is_err());
                self.body(then, &held)?;
                match others.of(mask) {
                    Some(others) => self.body(otherwise, others),
                    None => Ok(()),
                }
            }
        }
    }

    fn barrier(&mut self, mask: &Mask) -> Result<(), Box<Fault>> {
        if !mask.is_full() {
            let (some, all) = (mask.lanes().len(), self.program.n_threads);
            let message = format!("the barrier is reached by {some} of the block's {all} threads");
            return Err(Fault::at(mask.first(), message));
        }
        self.shared.iter_mut().for_each(SharedArray::barrier);
        if let Some(counts) = &mut self.counts {
            counts.barriers += 1;
        }
        Ok(())
    }

    fn shuffle(
        &mut self,
        to: &Register,
        from: &Register,
        lane_mask: usize,
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        self.whole_warps("shuffle", mask)?;
        if let Some(counts) = &mut self.counts {
            counts.shuffles += mask.warps().count() as u64;
        }
        let (to, from) = (self.at(to)?, self.at(from)?);
        self.registers.shuffle(to, from, lane_mask, mask)
    }

    /// The position of a register among all.
    fn at(&self, register: &Register) -> Result<usize, Box<Fault>> {
        self.run_of(register, 1)
    }

    /// The first of `width` consecutive registers.
    fn run_of(&self, register: &Register, width: usize) -> Result<usize, Box<Fault>> {
        let at = self.slots.uniform(&register.at)?;
        let words = register.array.len() / register.word_elems;
        match usize::try_from(at).ok().and_then(|at| at.checked_add(width)) {
            Some(end) if end <= words => {
                Ok(register.array.start + (end - width) * register.word_elems)
            }
            Some(_) | None => Err(Fault::of_block(format!(
                "register {at}, {width} wide, is out of range: the array has {words}"
            ))),
        }
    }
}
