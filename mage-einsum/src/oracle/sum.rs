//! The loops over packed factors: threads over rows, terms in order, the vector innermost.

use std::thread;

use ndarray::{ArrayD, IxDyn};

use super::nest::Nest;
use super::number::Number;
use super::packed::Packed;
use crate::diagnostic::{Code, Diagnostic};

/// Below so many products a thread costs more than it saves.
const PRODUCTS_WORTH_A_THREAD: u64 = 1 << 18;

/// The sums, in the order of the target's modes.
pub(super) struct Sums {
    pub(super) values: ArrayD<f64>,
    /// The sums of the absolute products.
    pub(super) magnitudes: ArrayD<f64>,
}

/// Sums the products of `factors` over the loops of `nest`.
pub(super) fn sum_products<N: Number>(nest: &Nest, factors: &[Packed]) -> Result<Sums, Diagnostic> {
    let n_elements = nest.n_rows() * nest.row_len();
    let mut values = vec![N::of(0.0); n_elements];
    let mut magnitudes = vec![0.0; n_elements];
    let rows_a_chunk = nest.n_rows().div_ceil(n_threads(nest)).max(1);
    let chunk_len = (rows_a_chunk * nest.row_len()).max(1);
    let chunks = values.chunks_mut(chunk_len).zip(magnitudes.chunks_mut(chunk_len));
    thread::scope(|scope| {
        for (chunk_idx, (values, magnitudes)) in chunks.enumerate() {
            let rows = Rows { first: chunk_idx * rows_a_chunk, values, magnitudes };
            if chunk_len >= n_elements {
                sum_rows(nest, factors, rows);
            } else {
                scope.spawn(move || sum_rows(nest, factors, rows));
            }
        }
    });
    Ok(Sums {
        values: in_target_order(nest, values.into_iter().map(N::rounded).collect())?,
        magnitudes: in_target_order(nest, magnitudes)?,
    })
}

fn n_threads(nest: &Nest) -> usize {
    let n_elements = (nest.n_rows() as u64).saturating_mul(nest.row_len() as u64);
    if n_elements.saturating_mul(nest.n_terms()) < PRODUCTS_WORTH_A_THREAD {
        return 1;
    }
    thread::available_parallelism().map_or(1, usize::from)
}

/// Rows that one thread fills; they start as zeros.
struct Rows<'o, N> {
    /// The number of the first.
    first: usize,
    values: &'o mut [N],
    magnitudes: &'o mut [f64],
}

fn sum_rows<N: Number>(
    nest: &Nest,
    factors: &[Packed],
    Rows { first, values, magnitudes }: Rows<'_, N>,
) {
    let row_len = nest.row_len();
    let rows = values.chunks_exact_mut(row_len).zip(magnitudes.chunks_exact_mut(row_len));
    let mut along = Vec::with_capacity(factors.len());
    for (offset, (values, magnitudes)) in rows.enumerate() {
        let mut walk = Walk::at_row(nest, factors, first + offset);
        for _ in 0..nest.n_terms() {
            along.clear();
            let mut constant = N::of(1.0);
            for (factor, start) in factors.iter().zip(&walk.starts) {
                if factor.has_vector {
                    along.push(&factor.data[*start..*start + row_len]);
                } else {
                    constant = constant.times(factor.data[*start]);
                }
            }
            add_term(constant, &along, values, magnitudes);
            walk.advance(nest, factors);
        }
    }
}

/// Adds one term to each element of a row. The two cases that matter for speed have loops of
/// their own, which the compiler vectorises.
fn add_term<N: Number>(constant: N, along: &[&[f64]], values: &mut [N], magnitudes: &mut [f64]) {
    let sums = values.iter_mut().zip(magnitudes);
    let add = |(value, magnitude): (&mut N, &mut f64), product: N| {
        *value = value.plus(product);
        *magnitude += product.rounded().abs();
    };
    match along {
        [left] => {
            for (sum, left) in sums.zip(*left) {
                add(sum, constant.times(*left));
            }
        }
        [left, right] => {
            for ((sum, left), right) in sums.zip(*left).zip(*right) {
                add(sum, constant.times(*left).times(*right));
            }
        }
        several => {
            for (position, sum) in sums.enumerate() {
                let factors = several.iter().map(|factor| factor[position]);
                add(sum, factors.fold(constant, N::times));
            }
        }
    }
}

/// Where each factor stands while the terms of one row are counted through.
struct Walk {
    index: Vec<usize>,
    starts: Vec<usize>,
}

impl Walk {
    /// The first term of row number `row`.
    fn at_row(nest: &Nest, factors: &[Packed], row: usize) -> Walk {
        let mut starts = vec![0; factors.len()];
        let mut rest = row;
        for (position, row_loop) in nest.rows.iter().enumerate().rev() {
            let index = rest % row_loop.extent;
            rest /= row_loop.extent;
            for (start, factor) in starts.iter_mut().zip(factors) {
                *start += index * factor.row_strides[position];
            }
        }
        Walk { index: vec![0; nest.terms.len()], starts }
    }

    /// The next term; after the last, the first again.
    fn advance(&mut self, nest: &Nest, factors: &[Packed]) {
        for (position, term_loop) in nest.terms.iter().enumerate().rev() {
            self.index[position] += 1;
            let is_within = self.index[position] < term_loop.extent;
            for (start, factor) in self.starts.iter_mut().zip(factors) {
                let stride = factor.term_strides[position];
                if is_within {
                    *start += stride;
                } else {
                    *start -= stride * (term_loop.extent - 1);
                }
            }
            if is_within {
                return;
            }
            self.index[position] = 0;
        }
    }
}

/// Rows and vector back to the order of the target's modes, row-major.
fn in_target_order(nest: &Nest, elements: Vec<f64>) -> Result<ArrayD<f64>, Diagnostic> {
    let mut shape: Vec<usize> = nest.rows.iter().map(|row| row.extent).collect();
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if let Some((vector, dim)) = nest.vector {
        order.insert(dim, shape.len());
        shape.push(vector.extent);
    }
    let array = ArrayD::from_shape_vec(IxDyn(&shape), elements).map_err(|error| {
        Diagnostic::new(Code::SizeOverflow, format!("the output cannot be held: {error}"))
    })?;
    Ok(array.permuted_axes(IxDyn(&order)).as_standard_layout().into_owned())
}
