//! A factor copied into the order of the loop nest. Packing takes care of strides and diagonals
//! once, so that the loops only ever move forward through contiguous memory.

use ndarray::{ArrayD, ArrayViewD, CowArray, IxDyn};

use super::held::Held;
use super::nest::{Loop, Nest};
use crate::index::{Access, ModeId, Statement};

/// The values of a statement's factors.
pub(super) fn of_values(statement: &Statement, tensors: &[Held], nest: &Nest) -> Vec<Packed> {
    let factors = statement.factors().into_iter();
    factors.map(|f| Packed::new(f, &tensors[f.tensor.0].values.view(), nest)).collect()
}

/// Their sums of absolute products: a product of these is what a product of factors can at most
/// be.
pub(super) fn of_magnitudes(statement: &Statement, tensors: &[Held], nest: &Nest) -> Vec<Packed> {
    let factors = statement.factors().into_iter();
    factors.map(|f| Packed::new(f, &tensors[f.tensor.0].magnitudes().view(), nest)).collect()
}

/// A factor in the order rows, terms, vector; modes it lacks are absent and have stride 0.
pub(super) struct Packed {
    pub(super) data: Vec<f64>,
    /// Elements from one index to the next, for each row loop of the nest.
    pub(super) row_strides: Vec<usize>,
    /// The same for each term loop.
    pub(super) term_strides: Vec<usize>,
    /// Whether the factor has the vector's mode, which then has stride 1.
    pub(super) has_vector: bool,
}

impl Packed {
    /// Copies `operand`, read under `access`.
    pub(super) fn new(access: &Access, operand: &ArrayViewD<'_, f64>, nest: &Nest) -> Packed {
        let vector = nest.vector.map(|(vector, _)| vector);
        let all = nest.rows.iter().chain(&nest.terms).copied().chain(vector);
        let present: Vec<Loop> = all.filter(|l| access.modes.contains(&l.mode)).collect();

        let (modes, diagonal) = diagonal(access, operand);
        let position = |l: &Loop| modes.iter().position(|mode| *mode == l.mode);
        let order: Vec<usize> = present.iter().filter_map(position).collect();
        let data = diagonal.view().permuted_axes(IxDyn(&order)).iter().copied().collect();

        let stride = |l: &Loop| {
            let place = present.iter().position(|found| found.mode == l.mode);
            place.map_or(0, |place| present[place + 1..].iter().map(|inner| inner.extent).product())
        };
        Packed {
            data,
            row_strides: nest.rows.iter().map(stride).collect(),
            term_strides: nest.terms.iter().map(stride).collect(),
            has_vector: vector.is_some_and(|vector| access.modes.contains(&vector.mode)),
        }
    }
}

/// The distinct modes of `access` and the operand over them: a repeated mode reads the diagonal
/// (rule R10).
fn diagonal<'o>(
    access: &Access,
    operand: &'o ArrayViewD<'_, f64>,
) -> (Vec<ModeId>, CowArray<'o, f64, IxDyn>) {
    let mut modes: Vec<ModeId> = Vec::new();
    let mut extents = Vec::new();
    for (mode, extent) in access.modes.iter().zip(operand.shape()) {
        if !modes.contains(mode) {
            modes.push(*mode);
            extents.push(*extent);
        }
    }
    if modes.len() == access.modes.len() {
        return (modes, CowArray::from(operand.view()));
    }
    let of_dim: Vec<usize> = access
        .modes
        .iter()
        .filter_map(|mode| modes.iter().position(|distinct| distinct == mode))
        .collect();
    let element = |at: IxDyn| {
        let full: Vec<usize> = of_dim.iter().map(|distinct| at[*distinct]).collect();
        operand[full.as_slice()]
    };
    (modes, CowArray::from(ArrayD::from_shape_fn(extents, element)))
}
