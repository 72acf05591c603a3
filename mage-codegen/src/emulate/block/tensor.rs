//! What feeds the tensor cores and what they do: asynchronous copies, loads of matrices, and
//! products of fragments.

use super::{Access, Block, Fault, Mask, Memory, Register};
use crate::emulate::copies::{Landing, MOST_ELEMS};
use crate::emulate::mask::WARP_LANES;
use crate::fragment::Fragment;
use crate::kernel::walk::Direction;

/// Matrices of one load, and the rows of each.
const MATRICES: usize = 4;
const MATRIX_ROWS: usize = 8;

impl<'p> Block<'p, '_, '_> {
    /// Reads the source now and hands the values over when they are waited for; until then the
    /// cells belong to the copy.
    pub(super) fn copy(
        &mut self,
        (to, from): (&'p Access, &'p Access),
        elems: usize,
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        match elems {
            1 => self.copy_wide::<1>(to, from, mask),
            2 => self.copy_wide::<2>(to, from, mask),
            4 => self.copy_wide::<4>(to, from, mask),
            8 => self.copy_wide::<8>(to, from, mask),
            _ => Err(Fault::of_block(format!("a copy of {elems} elements"))),
        }
    }

    fn copy_wide<const WIDTH: usize>(
        &mut self,
        to: &'p Access,
        from: &'p Access,
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        let (Memory::Shared(array), Memory::Global(buffer)) = (to.memory, from.memory) else {
            let message = "a copy does not go from global to shared memory";
            return Err(Fault::of_block(message.to_string()));
        };
        let mut values = vec![[0.0; MOST_ELEMS]; self.program.n_threads];
        let held = self.held(from, mask)?;
        if let Some(running) = held.of(mask) {
            let offsets = self.slots.eval(&from.offset, running)?;
            let (view, source) = (self.slots.view(&offsets), &self.global[buffer]);
            running.try_each(|lane| {
                let read: [f64; WIDTH] = source.read(view.at(lane), lane)?;
                values[lane][..WIDTH].copy_from_slice(&read);
                Ok::<(), Box<Fault>>(())
            })?;
            self.count_access((from.memory, WIDTH), &offsets, running, Direction::Load);
            self.slots.release(offsets);
        }
        let offsets = self.slots.eval(&to.offset, mask)?;
        let (view, cells) = (self.slots.view(&offsets), &mut self.shared[array]);
        mask.try_each(|lane| {
            let place = cells.expect(view.at(lane), WIDTH, lane)?;
            let values = values[lane];
            self.copies.start(Landing { lane, array, place, elems: WIDTH, values });
            Ok::<(), Box<Fault>>(())
        })?;
        self.count_access((to.memory, WIDTH), &offsets, mask, Direction::Store);
        self.slots.release(offsets);
        Ok(())
    }

    pub(super) fn await_copies(&mut self, pending: u32, mask: &Mask) {
        for landing in self.copies.land(pending, mask) {
            self.shared[landing.array].land(&landing);
        }
    }

    /// Whole warps, or the fault that says which is none.
    pub(super) fn whole_warps(&self, what: &str, mask: &Mask) -> Result<(), Box<Fault>> {
        match mask.warps().find(|warp| warp.len() != WARP_LANES) {
            None => Ok(()),
            Some(warp) => {
                let thread = warp.first().copied().unwrap_or(0);
                let reached = warp.len();
                let message =
                    format!("the {what} is reached by {reached} of the warp's {WARP_LANES}");
                Err(Fault::at(thread, message))
            }
        }
    }

    pub(super) fn load_matrices(
        &mut self,
        to: &Register,
        (from, transposed): (&'p Access, bool),
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        self.whole_warps("load of matrices", mask)?;
        match to.word_elems {
            1 if !transposed => self.load_rows::<4>(to, (from, false), mask),
            2 => self.load_rows::<8>(to, (from, transposed), mask),
            _ => Err(Fault::of_block("matrices of f32 have no transposed load".to_string())),
        }
    }

    /// Rows of `WIDTH` elements, 16 bytes.
    fn load_rows<const WIDTH: usize>(
        &mut self,
        to: &Register,
        (from, transposed): (&'p Access, bool),
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        let Memory::Shared(array) = from.memory else {
            return Err(Fault::of_block("a load of matrices from global memory".to_string()));
        };
        let first = self.run_of(to, MATRICES)?;
        let offsets = self.slots.eval(&from.offset, mask)?;
        let mut rows = vec![[0.0; WIDTH]; self.program.n_threads];
        let (view, cells) = (self.slots.view(&offsets), &mut self.shared[array]);
        mask.try_each(|lane| {
            rows[lane] = cells.read(view.at(lane), lane)?;
            Ok::<(), Box<Fault>>(())
        })?;
        let word_elems = WIDTH / 4;
        for at in 0..MATRICES * word_elems {
            let (matrix, elem) = (at / word_elems, at % word_elems);
            let mut row = self.registers.take(first + at);
            mask.each(|lane| {
                let (line, place) = (lane % WARP_LANES / 4, lane % 4 * word_elems + elem);
                let [line, place] = if transposed { [place, line] } else { [line, place] };
                let warp = lane / WARP_LANES * WARP_LANES;
                row[lane] = rows[warp + matrix * MATRIX_ROWS + line][place];
            });
            self.registers.put(first + at, row);
        }
        self.count_access((from.memory, WIDTH), &offsets, mask, Direction::Load);
        self.slots.release(offsets);
        Ok(())
    }

    pub(super) fn mma(
        &mut self,
        acc: &Register,
        (row, col): (&Register, &Register),
        mask: &Mask,
    ) -> Result<(), Box<Fault>> {
        self.whole_warps("mma", mask)?;
        let fragment = Fragment { word_elems: row.word_elems };
        let sums = self.run_of(acc, Fragment::SUMS)?;
        let row = self.run_of(row, Fragment::ROW_WORDS)?;
        let col = self.run_of(col, Fragment::COL_WORDS)?;
        if let Some(counts) = &mut self.counts {
            counts.mma(mask.warps().count(), fragment);
        }
        self.registers.mma(fragment, (sums, row, col), mask)
    }
}
