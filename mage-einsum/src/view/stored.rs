//! An operand in a buffer of its own, under some view: what a caller with strides hands over.

use ndarray::{ArrayD, ArrayViewD, IxDyn};

use super::{Arrangement, View};

/// A buffer and the view that makes an operand of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored<T> {
    /// The buffer.
    pub data: Vec<T>,
    /// Where the operand's elements are in it.
    pub view: View,
}

impl<T: Copy> Stored<T> {
    /// The elements of `array` under its own strides, in the smallest buffer that holds them.
    /// Between them stands `gap`.
    pub fn of(array: &ArrayViewD<'_, T>, gap: T) -> Stored<T> {
        let strides = array.strides().iter().map(|stride| *stride as i64).collect();
        let view = View { first: 0, strides };
        let (lowest, highest) = view.reach(&extents(array)).unwrap_or((0, -1));
        let first = u64::try_from(-lowest).unwrap_or(0);
        let len = usize::try_from(highest - lowest + 1).unwrap_or(0);
        Stored::under(array, View { first, ..view }, len, gap)
    }

    /// The elements of `array` in another arrangement. Where elements share a place the last one
    /// is kept, so it is [`Stored::to_array`] that says what the operand is.
    pub fn arranged(array: &ArrayViewD<'_, T>, arrangement: Arrangement, gap: T) -> Stored<T> {
        let (view, len) = arrangement.view(&extents(array));
        Stored::under(array, view, usize::try_from(len).unwrap_or(0), gap)
    }

    fn under(array: &ArrayViewD<'_, T>, view: View, len: usize, gap: T) -> Stored<T> {
        let mut stored = Stored { data: vec![gap; len], view };
        for (index, value) in array.indexed_iter() {
            let place = stored.place(&index);
            stored.data[place] = *value;
        }
        stored
    }

    /// The operand as an array of its own.
    pub fn to_array(&self, shape: &[usize]) -> ArrayD<T> {
        ArrayD::from_shape_fn(shape, |index| self.data[self.place(&index)])
    }

    fn place(&self, index: &IxDyn) -> usize {
        let strides = self.view.strides.iter().enumerate();
        let place = strides.fold(i128::from(self.view.first), |place, (dim, stride)| {
            place + index[dim] as i128 * i128::from(*stride)
        });
        usize::try_from(place).unwrap_or(usize::MAX)
    }
}

fn extents<T>(array: &ArrayViewD<'_, T>) -> Vec<u64> {
    array.shape().iter().map(|extent| *extent as u64).collect()
}
