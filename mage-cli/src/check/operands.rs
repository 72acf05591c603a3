//! The operands of a check: what they need of memory, their data, and how they lie.

use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics};
use mage_einsum::fill::{self, Fill};
use mage_einsum::index::{Layout, Program, TensorId, TensorKind};
use mage_einsum::oracle::{self, Evaluation};
use mage_einsum::view::{Arrangement, Stored};
use ndarray::ArrayD;

use crate::table;

/// A check stays below this, so that a slip in an extent does not fill the machine.
const MEMORY_LIMIT_BYTES: u128 = 8 << 30;

/// The operand as an array and the oracle's copy of it, both in f64.
const INPUT_ELEM_BYTES: u128 = 2 * 8;

/// The operand in its buffer, gaps included.
const STORED_ELEM_BYTES: u128 = 8;

/// The emulator's f64 and its mark that the element was written; the oracle's value and sum of
/// absolute products in f64, each also in the order in which it was summed.
const OUTPUT_ELEM_BYTES: u128 = 8 + 1 + 2 * 2 * 8;

/// The operands in order.
pub struct Operands {
    /// In buffers of their own; of the values that the element type has.
    pub stored: Vec<Stored<f64>>,
    /// What the output holds before, where the result is added to it.
    pub before: Option<ArrayD<f64>>,
    /// The index operands, in their order.
    pub indices: Vec<ArrayD<u32>>,
    /// The operands as the oracle takes them.
    arrays: Vec<ArrayD<f64>>,
}

/// The arrangements in which operands are tried.
pub fn arrangements(program: &Program) -> Vec<(&'static str, Arrangement)> {
    let is_strided = program.tensors.iter().any(|tensor| tensor.layout == Layout::Strided);
    let n_tried = if is_strided { Arrangement::NAMES.len() } else { 1 };
    Arrangement::NAMES.into_iter().take(n_tried).collect()
}

/// Refuses extents that need more memory than a check takes.
pub fn affordable(program: &Program, extents: &Extents) -> Result<(), Diagnostics> {
    let mut need: u128 = 0;
    for tensor in &program.tensors {
        let dims = tensor.dims.iter().map(|mode| extents.of_mode(program.mode(*mode)));
        let dims: Vec<u64> = dims.collect();
        let n_elements =
            dims.iter().fold(1_u128, |product, extent| product.saturating_mul((*extent).into()));
        let bytes = match tensor.kind {
            TensorKind::Indices { .. } | TensorKind::Pointers { .. } => {
                n_elements.saturating_mul(INPUT_ELEM_BYTES)
            }
            TensorKind::Input => {
                let stored = n_stored(program, &dims).saturating_mul(STORED_ELEM_BYTES);
                n_elements.saturating_mul(INPUT_ELEM_BYTES).saturating_add(stored)
            }
            TensorKind::Temp | TensorKind::Output => n_elements.saturating_mul(OUTPUT_ELEM_BYTES),
        };
        need = need.saturating_add(bytes);
    }
    if need <= MEMORY_LIMIT_BYTES {
        return Ok(());
    }
    let message = format!(
        "the check needs {} for operands, output and oracle, limit {}",
        table::bytes(need),
        table::bytes(MEMORY_LIMIT_BYTES)
    );
    Err(Diagnostic::new(Code::SizeOverflow, message).help("give smaller extents").into())
}

/// Elements of the longest buffer that an operand is stored in.
fn n_stored(program: &Program, extents: &[u64]) -> u128 {
    let lens = arrangements(program).into_iter().map(|(_, tried)| tried.view(extents).1);
    lens.max().map_or(0, u128::from)
}

impl Operands {
    /// Operand k is filled with seed k, and an output that is added to with the next one. Where an
    /// operand has gaps they are NaN, which no kernel may use.
    pub fn filled(
        program: &Program,
        extents: &Extents,
        fill: Fill,
        arrangement: Arrangement,
    ) -> Operands {
        let filled = |(id, seed): (TensorId, u32)| {
            let shape = extents.shape(program, id);
            let dtype = program.tensor(id).dtype;
            let data = fill::fill_as(dtype, fill, seed, shape.iter().product());
            // The shape is the data's by construction; a scalar zero would be caught as wrong.
            ArrayD::from_shape_vec(shape, data).unwrap_or_default()
        };
        let inputs = program.tensors_of(TensorKind::Input).map(|(id, _)| id);
        let output = program.tensors_of(TensorKind::Output).map(|(id, _)| id);
        let output = output.filter(|_| program.accumulates());
        let mut arrays: Vec<ArrayD<f64>> = inputs.chain(output).zip(0..).map(filled).collect();
        let before = if program.accumulates() { arrays.pop() } else { None };
        let stored: Vec<Stored<f64>> = arrays
            .iter()
            .map(|array| Stored::arranged(&array.view(), arrangement, f64::NAN))
            .collect();
        // Elements that share a place have become equal.
        let arranged = arrays.iter().zip(&stored);
        let arrays = arranged.map(|(array, stored)| stored.to_array(array.shape())).collect();
        let indices = fill::index_operands(program, extents);
        Operands { stored, before, indices, arrays }
    }

    /// What the oracle says of them.
    pub fn evaluated(&self, program: &Program) -> Result<Vec<Evaluation>, Diagnostics> {
        let views: Vec<_> =
            self.arrays.iter().chain(&self.before).map(|array| array.view()).collect();
        let indices: Vec<_> = self.indices.iter().map(|indices| indices.view()).collect();
        oracle::evaluate_indexed(program, &views, &indices)
    }
}
