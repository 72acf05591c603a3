//! Loads and stores of a block: predicate, offset, count, then lane by lane with every check.

use super::{Access, Block, Fault, Mask, Memory, Register, Where};
use crate::emulate::index::Operand;
use crate::kernel::Width;
use crate::kernel::walk::Direction;

impl<'p> Block<'p, '_, '_> {
    pub(super) fn load(
        &mut self,
        to: &Register,
        access: &'p Access,
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        let n_elems = access.width.elems() as usize;
        let first = self.run_of(to, n_elems)?;
        let held = self.held(access, mask)?;
        match held {
            Where::All => {}
            // Zero where the predicate does not hold; where it does, the load overwrites it.
            Where::Nowhere | Where::Some(_) => (first..first + n_elems)
                .for_each(|register| self.registers.fill(register, 0.0, mask)),
        }
        let Some(running) = held.of(mask) else { return Ok(()) };
        let offsets = self.slots.eval(&access.offset, running)?;
        match access.width {
            Width::One => self.load_wide::<1>(first, access.memory, &offsets, running)?,
            Width::Two => self.load_wide::<2>(first, access.memory, &offsets, running)?,
            Width::Four => self.load_wide::<4>(first, access.memory, &offsets, running)?,
        }
        self.count_access((access.memory, n_elems), &offsets, running, Direction::Load);
        self.slots.release(offsets);
        Ok(())
    }

    fn load_wide<const WIDTH: usize>(
        &mut self,
        first: usize,
        memory: Memory,
        offsets: &Operand,
        running: &Mask,
    ) -> Result<(), Box<Fault>> {
        let mut rows: [Vec<f64>; WIDTH] =
            std::array::from_fn(|part| self.registers.take(first + part));
        let offsets = self.slots.view(offsets);
        let mut put = |lane: usize, values: [f64; WIDTH]| {
            rows.iter_mut().zip(values).for_each(|(row, value)| row[lane] = value);
        };
        let done = match memory {
            Memory::Global(buffer) => {
                let buffer = &self.global[buffer];
                running.try_each(|lane| {
                    buffer.read(offsets.at(lane), lane).map(|values| put(lane, values))
                })
            }
            Memory::Shared(array) => {
                let array = &mut self.shared[array];
                running.try_each(|lane| {
                    array.read(offsets.at(lane), lane).map(|values| put(lane, values))
                })
            }
        };
        rows.into_iter().zip(first..).for_each(|(row, register)| self.registers.put(register, row));
        done
    }

    pub(super) fn load_index(
        &mut self,
        var: usize,
        access: &'p Access,
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        let Memory::Global(buffer) = access.memory else {
            return Err(Fault::of_block("an index from shared memory".to_string()));
        };
        let offsets = self.slots.eval(&access.offset, mask)?;
        let mut values = self.slots.buffer();
        let (buffer, view) = (&self.global[buffer], self.slots.view(&offsets));
        mask.try_each(|lane| buffer.index(view.at(lane), lane).map(|value| values[lane] = value))?;
        self.count_access((access.memory, 1), &offsets, mask, Direction::Load);
        self.slots.release(offsets);
        self.slots.unset(var);
        self.slots.set(var, Operand::Computed(values), mask);
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        from: &'p [Register],
        access: &'p Access,
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        let held = self.held(access, mask)?;
        let Some(running) = held.of(mask) else { return Ok(()) };
        let offsets = self.slots.eval(&access.offset, running)?;
        match access.width {
            Width::One => self.store_wide::<1>(from, access.memory, &offsets, running)?,
            Width::Two => self.store_wide::<2>(from, access.memory, &offsets, running)?,
            Width::Four => self.store_wide::<4>(from, access.memory, &offsets, running)?,
        }
        let n_elems = access.width.elems() as usize;
        self.count_access((access.memory, n_elems), &offsets, running, Direction::Store);
        self.slots.release(offsets);
        Ok(())
    }

    fn store_wide<const WIDTH: usize>(
        &mut self,
        from: &'p [Register],
        memory: Memory,
        offsets: &Operand,
        running: &Mask,
    ) -> Result<(), Box<Fault>> {
        let mut rows: [&[f64]; WIDTH] = [&[]; WIDTH];
        for (row, register) in rows.iter_mut().zip(from) {
            *row = self.registers.row(self.at(register)?)?;
        }
        let offsets = self.slots.view(offsets);
        match memory {
            Memory::Global(buffer) => {
                let buffer = &mut self.global[buffer];
                running.try_each(|lane| {
                    buffer.write(offsets.at(lane), lane, rows.map(|row| row[lane]))
                })
            }
            Memory::Shared(array) => {
                let array = &mut self.shared[array];
                running
                    .try_each(|lane| array.write(offsets.at(lane), lane, rows.map(|row| row[lane])))
            }
        }
    }

    /// Where the predicate of an access holds. The offset is evaluated only there, as in the
    /// source, where it stands under an `if`.
    pub(super) fn held(&mut self, access: &'p Access, mask: &Mask) -> Result<Where, Box<Fault>> {
        match &access.when {
            Some(test) => self.slots.test(test, mask),
            None => Ok(Where::All),
        }
    }

    pub(super) fn count_access(
        &mut self,
        (memory, n_elems): (Memory, usize),
        offsets: &Operand,
        running: &Mask,
        direction: Direction,
    ) {
        let Some(counts) = &mut self.counts else { return };
        let view = self.slots.view(offsets);
        match (memory, direction) {
            (Memory::Global(buffer), _) => {
                let (base_byte, elem_bytes) =
                    (self.global[buffer].base_byte(), self.global[buffer].elem_bytes());
                let into = match direction {
                    Direction::Load => &mut counts.global_load,
                    Direction::Store => &mut counts.global_store,
                };
                into.access(view, n_elems, (base_byte, elem_bytes), running);
            }
            (Memory::Shared(array), Direction::Load) => {
                let bytes = self.shared[array].elem_bytes();
                counts.shared_load.load(view, (n_elems, bytes), running);
            }
            (Memory::Shared(array), Direction::Store) => {
                let bytes = self.shared[array].elem_bytes();
                counts.shared_store.store(view, (n_elems, bytes), running);
            }
        }
    }
}
