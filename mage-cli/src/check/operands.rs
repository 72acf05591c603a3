//! The operands of a check: what they need of memory, their data, and how they lie.

use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::{Code, Diagnostic, Diagnostics};
use mage_einsum::fill::{self, Fill};
use mage_einsum::index::{Layout, Program, TensorKind};
use mage_einsum::oracle::{self, Evaluation};
use mage_einsum::view::{Arrangement, Stored};
use ndarray::ArrayD;

use crate::table;

/// A check stays below this, so that a slip in an extent does not fill the machine.
const MEMORY_LIMIT_BYTES: u128 = 8 << 30;

/// The operand as an array and the oracle's copy of it.
const INPUT_ELEM_BYTES: u128 = 2 * 4;

/// The operand in its buffer, gaps included.
const STORED_ELEM_BYTES: u128 = 4;

/// The emulator's f32 and its mark that the element was written; the oracle's value and sum of
/// absolute products in f64, each also in the order in which it was summed.
const OUTPUT_ELEM_BYTES: u128 = 4 + 1 + 2 * 2 * 8;

/// The operands in order.
pub struct Operands {
    /// In buffers of their own.
    pub stored: Vec<Stored<f32>>,
    /// As the oracle takes them.
    arrays: Vec<ArrayD<f32>>,
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
    /// Operand k is filled with seed k; where it has gaps they are NaN, which no kernel may use.
    pub fn filled(
        program: &Program,
        extents: &Extents,
        fill: Fill,
        arrangement: Arrangement,
    ) -> Operands {
        let (mut stored, mut arrays) = (Vec::new(), Vec::new());
        for ((id, _), seed) in program.tensors_of(TensorKind::Input).zip(0..) {
            let shape = extents.shape(program, id);
            let data = fill::fill(fill, seed, shape.iter().product());
            // The shape is the data's by construction; a scalar zero would be caught as wrong.
            let array = ArrayD::from_shape_vec(shape.clone(), data).unwrap_or_default();
            let operand = Stored::arranged(&array.view(), arrangement, f32::NAN);
            // Elements that share a place have become equal.
            arrays.push(operand.to_array(&shape));
            stored.push(operand);
        }
        Operands { stored, arrays }
    }

    /// What the oracle says of them.
    pub fn evaluated(&self, program: &Program) -> Result<Evaluation, Diagnostics> {
        let views: Vec<_> = self.arrays.iter().map(|array| array.view()).collect();
        oracle::evaluate(program, &views)
    }
}
