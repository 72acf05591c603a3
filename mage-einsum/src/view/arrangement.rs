//! Ways to store an operand that callers have, for checks of kernels that take any strides.

use super::View;

/// A way to store an operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// Contiguous, the last dimension fastest.
    RowMajor,
    /// Rows lie apart, at multiples of four elements, and so does the first one from the start.
    Padded,
    /// The same rows, but all dimensions except the last run backwards.
    Upended,
    /// Contiguous, the first dimension fastest.
    Transposed,
    /// Contiguous, every dimension backwards.
    Reversed,
    /// One row for all positions of the first dimension, which has stride 0.
    Broadcast,
}

/// A place in front of the rows of [`Arrangement::Padded`], and one behind each of them.
const PAD_ELEMS: u64 = 4;

impl Arrangement {
    /// Each arrangement, with the word for it.
    pub const NAMES: [(&'static str, Arrangement); 6] = [
        ("row-major", Arrangement::RowMajor),
        ("padded", Arrangement::Padded),
        ("upended", Arrangement::Upended),
        ("transposed", Arrangement::Transposed),
        ("reversed", Arrangement::Reversed),
        ("broadcast", Arrangement::Broadcast),
    ];

    /// The view of an operand of these extents that is stored so, and the elements of its buffer.
    pub fn view(self, extents: &[u64]) -> (View, u64) {
        let forward = View::row_major(extents);
        match self {
            Arrangement::RowMajor => ended(forward, extents),
            Arrangement::Padded => ended(padded(extents), extents),
            Arrangement::Upended => {
                let n_rows_dims = extents.len().saturating_sub(1);
                ended(backwards(padded(extents), extents, n_rows_dims), extents)
            }
            Arrangement::Transposed => {
                let reversed: Vec<u64> = extents.iter().rev().copied().collect();
                let mut view = View::row_major(&reversed);
                view.strides.reverse();
                ended(view, extents)
            }
            Arrangement::Reversed => ended(backwards(forward, extents, extents.len()), extents),
            Arrangement::Broadcast => {
                let mut view = forward;
                view.strides.iter_mut().take(1).for_each(|stride| *stride = 0);
                ended(view, extents)
            }
        }
    }
}

/// The view, and the elements of the shortest buffer that holds it.
fn ended(view: View, extents: &[u64]) -> (View, u64) {
    let highest = view.reach(extents).map_or(-1, |(_, highest)| highest);
    (view, u64::try_from(highest + 1).unwrap_or(u64::MAX))
}

fn padded(extents: &[u64]) -> View {
    let mut rows = extents.to_vec();
    if let Some(row) = rows.last_mut() {
        *row = row.next_multiple_of(PAD_ELEMS) + PAD_ELEMS;
    }
    View { first: PAD_ELEMS, ..View::row_major(&rows) }
}

/// The same elements with the first `n_dims` dimensions the other way round.
fn backwards(view: View, extents: &[u64], n_dims: usize) -> View {
    let View { mut first, mut strides } = view;
    for (stride, extent) in strides.iter_mut().zip(extents).take(n_dims) {
        first += stride.unsigned_abs() * extent.saturating_sub(1);
        *stride = -*stride;
    }
    View { first, strides }
}
