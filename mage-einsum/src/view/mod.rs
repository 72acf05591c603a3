//! Where the elements of an operand with free strides lie in its buffer (rule R19). The emulator
//! runs kernels on views; `mage check` and the tests arrange operands under them.

mod stored;
mod arrangement;

pub use arrangement::Arrangement;
pub use stored::Stored;

/// Where the elements of an operand lie in its buffer. The element at a position is `first` plus,
/// for each dimension, the coordinate times the stride.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The element of the buffer whose coordinates are all zero.
    pub first: u64,
    /// Elements from one coordinate to the next, one a dimension; any, zero and below too.
    pub strides: Vec<i64>,
}

impl View {
    /// The view of a whole buffer whose last dimension is the fastest.
    pub fn row_major(extents: &[u64]) -> View {
        let mut stride = 1_i64;
        let mut strides = vec![0; extents.len()];
        for (place, extent) in strides.iter_mut().zip(extents).rev() {
            *place = stride;
            stride = stride.saturating_mul(i64::try_from(*extent).unwrap_or(i64::MAX));
        }
        View { first: 0, strides }
    }

    /// The lowest and the highest element of the buffer that the view has; none where it has no
    /// element. What is too far away for 128 bits is as far as they reach.
    pub fn reach(&self, extents: &[u64]) -> Option<(i128, i128)> {
        let first = i128::from(self.first);
        let (mut lowest, mut highest) = (first, first);
        for (extent, stride) in extents.iter().zip(&self.strides) {
            let last = i128::from(extent.checked_sub(1)?);
            let span = last.saturating_mul(i128::from(*stride));
            lowest = lowest.saturating_add(span.min(0));
            highest = highest.saturating_add(span.max(0));
        }
        Some((lowest, highest))
    }
}
