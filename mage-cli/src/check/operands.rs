//! The operands of a check: what they need of memory, and their data.

use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics};
use mage_einsum::fill::{self, Fill};
use mage_einsum::index::{Program, TensorId, TensorKind};
use mage_einsum::oracle::{self, Evaluation};
use ndarray::ArrayD;

use crate::table;

/// A check stays below this, so that a slip in an extent does not fill the machine.
const MEMORY_LIMIT_BYTES: u128 = 8 << 30;

/// The operand and the oracle's copy of it, both in f64.
const INPUT_ELEM_BYTES: u128 = 2 * 8;

/// The emulator's f64 and its mark that the element was written; the oracle's value and sum of
/// absolute products in f64, each also in the order in which it was summed.
const OUTPUT_ELEM_BYTES: u128 = 8 + 1 + 2 * 2 * 8;

/// The operands in order.
pub struct Operands {
    /// Row-major; of the values that the element type has.
    pub arrays: Vec<ArrayD<f64>>,
    /// What the output holds before, where the result is added to it.
    pub before: Option<ArrayD<f64>>,
}

/// Refuses extents that need more memory than a check takes.
pub fn affordable(program: &Program, extents: &Extents) -> Result<(), Diagnostics> {
    let mut need: u128 = 0;
    for tensor in &program.tensors {
        let dims = tensor.dims.iter().map(|mode| u128::from(extents.of_mode(program.mode(*mode))));
        let n_elements = dims.fold(1_u128, u128::saturating_mul);
        let elem_bytes = match tensor.kind {
            TensorKind::Input => INPUT_ELEM_BYTES,
            TensorKind::Temp | TensorKind::Output => OUTPUT_ELEM_BYTES,
        };
        need = need.saturating_add(n_elements.saturating_mul(elem_bytes));
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

impl Operands {
    /// Operand k is filled with seed k, and an output that is added to with the next one.
    pub fn filled(program: &Program, extents: &Extents, fill: Fill) -> Operands {
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
        Operands { arrays, before }
    }

    /// What the oracle says of them.
    pub fn evaluated(&self, program: &Program) -> Result<Evaluation, Diagnostics> {
        let views: Vec<_> =
            self.arrays.iter().chain(&self.before).map(|array| array.view()).collect();
        oracle::evaluate(program, &views)
    }
}
