//! Shared memory of a block with its shadow: who wrote a cell, and who read it, since the last
//! barrier. A cell that two threads touch between barriers, one of them writing, is a race in
//! whatever order the emulator meets the two.

use mage_einsum::dtype::Dtype;

use super::copies::Landing;
use super::failure::Fault;

/// One shared array.
pub(super) struct SharedArray {
    name: String,
    dtype: Dtype,
    cells: Vec<Cell>,
    /// Barriers passed, in the position that it has in a mark; counts from 1.
    epoch: u32,
}

/// An element and its shadow. Marks join an epoch and a thread; zero means never.
#[derive(Clone, Copy, Default)]
struct Cell {
    value: f64,
    written: u32,
    read: u32,
}

/// Bits of a mark that hold the thread: a block has at most 1024 of them, and `MANY` is none.
const THREAD_BITS: u32 = 11;
/// Stands in a mark for more than one thread.
const MANY: u32 = (1 << THREAD_BITS) - 1;
/// Stands instead of a writer's mark while a copy is on its way: it is later than every mark, so
/// that whoever touches the cell is found.
const FLYING: u32 = u32::MAX;

impl SharedArray {
    /// An array that nothing wrote.
    pub fn new(name: String, elems: usize, dtype: Dtype) -> SharedArray {
        SharedArray { name, dtype, cells: vec![Cell::default(); elems], epoch: 1 << THREAD_BITS }
    }

    /// Bytes of an element, for counting.
    pub fn elem_bytes(&self) -> u64 {
        self.dtype.size_bytes()
    }

    /// A new block: nothing is written.
    pub fn enter(&mut self) {
        self.cells.fill(Cell::default());
        self.epoch = 1 << THREAD_BITS;
    }

    /// A barrier: what was done before it is ordered before what comes.
    pub fn barrier(&mut self) {
        match self.epoch.checked_add(1 << THREAD_BITS) {
            Some(next) => self.epoch = next,
            None => self.forget(),
        }
    }

    /// After 2^21 barriers the marks start anew, which keeps them small: all that is known of the
    /// past is which cells were written, and the first epoch says that.
    #[cold]
    fn forget(&mut self) {
        self.epoch = 2 << THREAD_BITS;
        for cell in &mut self.cells {
            cell.read = 0;
            cell.written = match cell.written {
                0 | FLYING => cell.written,
                _ => 1 << THREAD_BITS,
            };
        }
    }

    /// Reads `WIDTH` consecutive cells.
    #[inline]
    pub fn read<const WIDTH: usize>(
        &mut self,
        offset: u64,
        lane: usize,
    ) -> Result<[f64; WIDTH], Box<Fault>> {
        let (epoch, mark) = (self.epoch, self.epoch | lane as u32);
        let place = self.place(offset, WIDTH, lane)?;
        let mut wrong = false;
        let mut values = [0.0; WIDTH];
        for (value, cell) in values.iter_mut().zip(&mut self.cells[place..place + WIDTH]) {
            wrong |= cell.written == 0 || (cell.written >= epoch && cell.written != mark);
            cell.read = if cell.read < epoch || cell.read == mark { mark } else { epoch | MANY };
            *value = cell.value;
        }
        if wrong { Err(self.bad_read(place, WIDTH, lane)) } else { Ok(values) }
    }

    /// Writes `WIDTH` consecutive cells.
    #[inline]
    pub fn write<const WIDTH: usize>(
        &mut self,
        offset: u64,
        lane: usize,
        values: [f64; WIDTH],
    ) -> Result<(), Box<Fault>> {
        let (epoch, mark) = (self.epoch, self.epoch | lane as u32);
        let place = self.place(offset, WIDTH, lane)?;
        let mut wrong = false;
        for (value, cell) in values.iter().zip(&mut self.cells[place..place + WIDTH]) {
            let written_by_other = cell.written >= epoch && cell.written != mark;
            let read_by_other = cell.read >= epoch && cell.read != mark;
            if written_by_other || read_by_other {
                wrong = true;
            } else {
                *cell = Cell { value: *value, written: mark, read: cell.read };
            }
        }
        if wrong { Err(self.bad_write(place, WIDTH, lane)) } else { Ok(()) }
    }

    /// Cells that a copy is going to write, which nothing may touch until it was waited for.
    pub fn expect(&mut self, offset: u64, width: usize, lane: usize) -> Result<usize, Box<Fault>> {
        let (epoch, mark) = (self.epoch, self.epoch | lane as u32);
        let place = self.place(offset, width, lane)?;
        let by_other = |seen: u32| seen >= epoch && seen != mark;
        let cells = &mut self.cells[place..place + width];
        if cells.iter().any(|cell| by_other(cell.written) || by_other(cell.read)) {
            return Err(self.bad_write(place, width, lane));
        }
        cells.iter_mut().for_each(|cell| cell.written = FLYING);
        Ok(place)
    }

    /// What a copy brought is there, as if its thread had written it now.
    pub fn land(&mut self, landing: &Landing) {
        let mark = self.epoch | landing.lane as u32;
        let cells = &mut self.cells[landing.place..landing.place + landing.elems];
        for (cell, value) in cells.iter_mut().zip(landing.values) {
            *cell = Cell { value, written: mark, read: cell.read };
        }
    }

    /// The first cell of an access.
    #[inline]
    fn place(&self, offset: u64, width: usize, lane: usize) -> Result<usize, Box<Fault>> {
        let n_cells = self.cells.len();
        if offset >= n_cells as u64 || n_cells - (offset as usize) < width {
            return Err(self.out_of_bounds(offset, width, lane));
        }
        if !offset.is_multiple_of(width as u64) {
            let name = &self.name;
            let message = format!("the access of `{name}[{offset}]`, {width} wide, is misaligned");
            return Err(Fault::at(lane, message));
        }
        Ok(offset as usize)
    }

    #[cold]
    fn out_of_bounds(&self, offset: u64, width: usize, lane: usize) -> Box<Fault> {
        let (name, n_cells) = (&self.name, self.cells.len());
        let message = format!(
            "`{name}[{offset}]`, {width} wide, is out of bounds: the array has {n_cells} elements"
        );
        Fault::at(lane, message)
    }

    #[cold]
    fn bad_read(&self, place: usize, width: usize, lane: usize) -> Box<Fault> {
        let mark = self.epoch | lane as u32;
        let name = &self.name;
        for at in place..place + width {
            let written = self.cells[at].written;
            if written == 0 {
                let message = format!("`{name}[{at}]` is read but nothing in the block wrote it");
                return Fault::at(lane, message);
            }
            if written >= self.epoch && written != mark {
                let writer = who(written);
                let message = format!(
                    "race: `{name}[{at}]` is read, and {writer} wrote it since the last barrier"
                );
                return Fault::at(lane, message);
            }
        }
        Fault::at(lane, format!("race: `{name}[{place}]` is read"))
    }

    #[cold]
    fn bad_write(&self, place: usize, width: usize, lane: usize) -> Box<Fault> {
        let mark = self.epoch | lane as u32;
        let name = &self.name;
        for at in place..place + width {
            let Cell { written, read, value: _ } = self.cells[at];
            for (other, did) in [(written, "wrote"), (read, "read")] {
                if other >= self.epoch && other != mark {
                    let other = who(other);
                    let past = format!("{other} {did} it since the last barrier");
                    let message = format!("race: `{name}[{at}]` is written, and {past}");
                    return Fault::at(lane, message);
                }
            }
        }
        Fault::at(lane, format!("race: `{name}[{place}]` is written"))
    }
}

fn who(mark: u32) -> String {
    if mark == FLYING {
        return "a copy that nobody waited for".to_string();
    }
    match mark & MANY {
        MANY => "more than one thread".to_string(),
        thread => format!("thread {thread}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Dtype, SharedArray};

    #[test]
    fn what_was_written_survives_two_million_barriers() {
        let mut array = SharedArray::new("cells".to_string(), 2, Dtype::F32);
        array.write(0, 5, [2.0]).unwrap();
        for _ in 0..1 << 22 {
            array.barrier();
        }
        assert_eq!(array.read(0, 7), Ok([2.0]));
        assert!(
            array.read::<1>(1, 7).unwrap_err().message.contains("nothing in the block wrote it")
        );
        assert!(array.write(0, 5, [1.0]).unwrap_err().message.contains("thread 7 read it"));
        array.barrier();
        assert_eq!(array.write(0, 5, [1.0]), Ok(()));
    }
}
