//! The operands of a check: what they need of memory, and their data.

use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics};
use mage_einsum::fill::{self, Fill};
use mage_einsum::index::{Program, TensorKind};
use mage_einsum::oracle::{self, Evaluation};
use ndarray::ArrayD;

use crate::table;

/// A check stays below this, so that a slip in an extent does not fill the machine.
const MEMORY_LIMIT_BYTES: u128 = 8 << 30;

/// The operand and the oracle's copy of it.
const INPUT_ELEM_BYTES: u128 = 2 * 4;

/// The emulator's f32 and its mark that the element was written; the oracle's value and sum of
/// absolute products in f64, each also in the order in which it was summed.
const OUTPUT_ELEM_BYTES: u128 = 4 + 1 + 2 * 2 * 8;

/// The operands in order.
pub struct Operands {
    /// Row-major.
    pub arrays: Vec<ArrayD<f32>>,
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
    /// Operand k is filled with seed k.
    pub fn filled(program: &Program, extents: &Extents, fill: Fill) -> Operands {
        let inputs = program.tensors_of(TensorKind::Input);
        let arrays = inputs.zip(0..).map(|((id, _), seed)| {
            let shape = extents.shape(program, id);
            let data = fill::fill(fill, seed, shape.iter().product());
            // The shape is the data's by construction; a scalar zero would be caught as wrong.
            ArrayD::from_shape_vec(shape, data).unwrap_or_default()
        });
        Operands { arrays: arrays.collect() }
    }

    /// What the oracle says of them.
    pub fn evaluated(&self, program: &Program) -> Result<Evaluation, Diagnostics> {
        let views: Vec<_> = self.arrays.iter().map(|array| array.view()).collect();
        oracle::evaluate(program, &views)
    }
}
