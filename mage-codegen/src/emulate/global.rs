//! Global memory: the caller's inputs, the output with a record of what is written, or nothing but
//! lengths where only the accesses are counted.

use std::borrow::Cow;

use mage_einsum::dtype::Dtype;

use super::failure::Fault;
use super::workspace::Part;
use crate::kernel::Buffer;

/// A buffer.
pub(super) struct GlobalBuffer<'a> {
    name: String,
    dtype: Dtype,
    len: u64,
    /// The element that offsets count from, in both directions; 0 unless the buffer is strided.
    first: u64,
    byte_alignment: u64,
    contents: Contents<'a>,
}

/// What a buffer holds.
pub(super) enum Contents<'a> {
    /// An input.
    Read(&'a [f64]),
    /// Indices, each of which must be below a bound.
    Indices { values: Cow<'a, [u32]>, below: u64 },
    /// So many indices, one after the other as long as they are below a bound, and again.
    SomeIndices { len: u64, below: u64 },
    /// So many row pointers, evenly from 0 to the end.
    SomePointers { len: u64, end: u64 },
    /// An output, and for each element whether it is written.
    Write { data: Vec<f64>, written: Vec<bool> },
    /// An output that is read once it is written.
    WriteRead { data: Vec<f64>, written: Vec<bool> },
    /// An output that is added to: an element may be read until it is written.
    Update { data: Vec<f64>, written: Vec<bool> },
    /// A temporary of so many elements, in the workspace.
    Temp { part: Part, len: u64 },
    /// An input of so many elements, each of which reads as one.
    ReadNothing(u64),
    /// An output of so many elements, none of which is kept.
    WriteNothing(u64),
    /// A temporary, or an output that is read or added to, of so many elements, which reads as ones and
    /// keeps nothing.
    KeepNothing(u64),
}

impl<'a> GlobalBuffer<'a> {
    /// A buffer whose address is a multiple of so many bytes.
    pub fn new(buffer: &Buffer, byte_alignment: u64, contents: Contents<'a>) -> GlobalBuffer<'a> {
        let len = match &contents {
            Contents::Read(data) => data.len() as u64,
            Contents::Write { data, .. }
            | Contents::WriteRead { data, .. }
            | Contents::Update { data, .. } => data.len() as u64,
            Contents::Indices { values, .. } => values.len() as u64,
            Contents::Temp { len, .. }
            | Contents::SomeIndices { len, .. }
            | Contents::SomePointers { len, .. }
            | Contents::ReadNothing(len)
            | Contents::WriteNothing(len)
            | Contents::KeepNothing(len) => *len,
        };
        let (name, dtype) = (buffer.ident.clone(), buffer.dtype);
        GlobalBuffer { name, dtype, len, first: 0, byte_alignment, contents }
    }

    /// The same buffer as a view that begins at an element of it.
    pub fn seen_from(self, first: u64) -> GlobalBuffer<'a> {
        let whole = first.is_multiple_of(4);
        let byte_alignment = if whole { self.byte_alignment } else { self.elem_bytes() };
        GlobalBuffer { first, byte_alignment, ..self }
    }

    /// The byte of a sector that the buffer starts at, for counting. What comes from an allocator
    /// starts a sector (CUDA C++ Programming Guide, "Device Memory Accesses": at least 256-byte
    /// aligned); a buffer that is less aligned than 16 bytes is a view that does not.
    pub fn base_byte(&self) -> u64 {
        match self.byte_alignment {
            bytes @ 0..16 => bytes,
            16.. => 0,
        }
    }

    /// Bytes of an element.
    pub fn elem_bytes(&self) -> u64 {
        self.dtype.size_bytes()
    }

    /// The output when all is done; otherwise the first element that nothing wrote.
    pub fn into_output(self) -> Option<Result<Vec<f64>, String>> {
        match self.contents {
            Contents::Write { data, written }
            | Contents::WriteRead { data, written }
            | Contents::Update { data, written } => {
                Some(match written.iter().position(|written| !written) {
                    Some(missed) => Err(format!("`{}[{missed}]`", self.name)),
                    None => Ok(data),
                })
            }
            Contents::Read(_)
            | Contents::Indices { .. }
            | Contents::SomeIndices { .. }
            | Contents::SomePointers { .. }
            | Contents::Temp { .. }
            | Contents::ReadNothing(_)
            | Contents::WriteNothing(_)
            | Contents::KeepNothing(_) => None,
        }
    }

    /// Reads `WIDTH` consecutive elements.
    #[inline]
    pub fn read<const WIDTH: usize>(
        &self,
        offset: u64,
        lane: usize,
    ) -> Result<[f64; WIDTH], Box<Fault>> {
        let place = self.place(offset, WIDTH, lane)?;
        match &self.contents {
            Contents::Read(data) => {
                let mut values = [0.0; WIDTH];
                values.copy_from_slice(&data[place..place + WIDTH]);
                Ok(values)
            }
            Contents::Temp { part, .. } => {
                let mut values = [0.0; WIDTH];
                for (value, at) in values.iter_mut().zip(place..) {
                    *value = part.read(at).map_err(|wrong| self.temp_fault(at, lane, wrong))?;
                }
                Ok(values)
            }
            Contents::WriteRead { data, written } => {
                if written[place..place + WIDTH].contains(&false) {
                    let name = &self.name;
                    let message = format!("`{name}[{place}]` is read but nothing wrote it");
                    return Err(Fault::at(lane, message));
                }
                let mut values = [0.0; WIDTH];
                values.copy_from_slice(&data[place..place + WIDTH]);
                Ok(values)
            }
            Contents::Update { data, written } => {
                if written[place..place + WIDTH].contains(&true) {
                    let name = &self.name;
                    let message = format!("`{name}[{place}]` is read after it was written");
                    return Err(Fault::at(lane, message));
                }
                let mut values = [0.0; WIDTH];
                values.copy_from_slice(&data[place..place + WIDTH]);
                Ok(values)
            }
            Contents::ReadNothing(_) | Contents::KeepNothing(_) => Ok([1.0; WIDTH]),
            Contents::Indices { .. }
            | Contents::SomeIndices { .. }
            | Contents::SomePointers { .. } => Err(self.no_value(place, lane)),
            Contents::Write { .. } | Contents::WriteNothing(_) => {
                let name = &self.name;
                let message =
                    format!("`{name}[{place}]` is read but the buffer is for writing only");
                Err(Fault::at(lane, message))
            }
        }
    }

    /// Writes `WIDTH` consecutive elements, each rounded to the buffer's type.
    #[inline]
    pub fn write<const WIDTH: usize>(
        &mut self,
        offset: u64,
        lane: usize,
        values: [f64; WIDTH],
    ) -> Result<(), Box<Fault>> {
        let place = self.place(offset, WIDTH, lane)?;
        let name = &self.name;
        let values = values.map(|value| self.dtype.round(value));
        match &mut self.contents {
            Contents::Write { data, written }
            | Contents::WriteRead { data, written }
            | Contents::Update { data, written } => {
                let places = place..place + WIDTH;
                for ((at, value), written) in
                    places.clone().zip(values).zip(&mut written[places.clone()])
                {
                    if std::mem::replace(written, true) {
                        let message = format!("output element `{name}[{at}]` is written twice");
                        return Err(Fault::at(lane, message));
                    }
                    data[at] = value;
                }
                Ok(())
            }
            Contents::Temp { part, .. } => {
                for (value, at) in values.into_iter().zip(place..) {
                    if let Err(wrong) = part.write(at, value) {
                        return Err(self.temp_fault(at, lane, wrong));
                    }
                }
                Ok(())
            }
            Contents::WriteNothing(_) | Contents::KeepNothing(_) => Ok(()),
            Contents::Read(_)
            | Contents::Indices { .. }
            | Contents::SomeIndices { .. }
            | Contents::SomePointers { .. }
            | Contents::ReadNothing(_) => {
                let message =
                    format!("`{name}[{place}]` is written but the buffer is for reading only");
                Err(Fault::at(lane, message))
            }
        }
    }

    /// An index.
    pub fn index(&self, offset: u64, lane: usize) -> Result<u64, Box<Fault>> {
        let place = self.place(offset, 1, lane)?;
        match &self.contents {
            Contents::Indices { values, below } => {
                let value = u64::from(values[place]);
                if value < *below {
                    return Ok(value);
                }
                let name = &self.name;
                let message =
                    format!("index `{name}[{place}]` is {value}, which is not below {below}");
                Err(Fault::at(lane, message))
            }
            Contents::SomeIndices { below, .. } => Ok(place as u64 % (*below).max(1)),
            Contents::SomePointers { len, end } => {
                let part = place as u128 * u128::from(*end) / u128::from((len - 1).max(1));
                Ok(u64::try_from(part).unwrap_or(*end))
            }
            Contents::Read(_)
            | Contents::Write { .. }
            | Contents::WriteRead { .. }
            | Contents::Update { .. }
            | Contents::Temp { .. }
            | Contents::ReadNothing(_)
            | Contents::WriteNothing(_)
            | Contents::KeepNothing(_) => Err(self.no_value(place, lane)),
        }
    }

    /// The first element of an access. An offset with a sign comes as its 64 bits, so that the
    /// wrapped sum is its place, or past every buffer where it lies before this one.
    #[inline(always)]
    fn place(&self, offset: u64, width: usize, lane: usize) -> Result<usize, Box<Fault>> {
        let place = self.first.wrapping_add(offset);
        if place >= self.len || self.len - place < width as u64 {
            return Err(self.out_of_bounds(place, width, lane));
        }
        let bytes = self.dtype.size_bytes() * width as u64;
        if !offset.is_multiple_of(width as u64) || !self.byte_alignment.is_multiple_of(bytes) {
            return Err(self.misaligned(offset, width, lane));
        }
        Ok(place as usize)
    }

    #[cold]
    fn no_value(&self, place: usize, lane: usize) -> Box<Fault> {
        let name = &self.name;
        Fault::at(lane, format!("`{name}[{place}]` is an index read as a value, or the reverse"))
    }

    #[cold]
    fn temp_fault(&self, at: usize, lane: usize, wrong: &str) -> Box<Fault> {
        Fault::at(lane, format!("workspace element `{}[{at}]` {wrong}", self.name))
    }

    #[cold]
    fn misaligned(&self, offset: u64, width: usize, lane: usize) -> Box<Fault> {
        let offset = offset.cast_signed();
        let access = format!("the access of `{}[{offset}]`, {width} wide,", self.name);
        let bytes = self.byte_alignment;
        let message = format!("{access} is misaligned: the buffer is aligned to {bytes} bytes");
        Fault::at(lane, message)
    }

    #[cold]
    fn out_of_bounds(&self, place: u64, width: usize, lane: usize) -> Box<Fault> {
        let (name, len) = (&self.name, self.len);
        // No buffer has 2^63 elements: such a place is one before the first.
        let place = place.cast_signed();
        let message = format!(
            "`{name}[{place}]`, {width} wide, is out of bounds: the buffer has {len} elements"
        );
        Fault::at(lane, message)
    }
}
