//! Extents from the shapes of the operands.

use super::bind::{Bindings, Origin};
use super::{Extents, sizes};
use crate::diagnostic::Diagnostics;
use crate::index::{Program, TensorId, TensorKind, labels_of, ranks_fit};

/// Binds every label of `program` from the inputs' `shapes`.
pub(super) fn bind(program: &Program, shapes: &[&[usize]]) -> Result<Extents, Diagnostics> {
    let inputs: Vec<TensorId> = program.tensors_of(TensorKind::Input).map(|(id, _)| id).collect();
    let ranks: Vec<usize> = shapes.iter().map(|shape| shape.len()).collect();
    ranks_fit(program, &ranks)?;

    let mut bindings = Bindings::new(program);
    for (operand_idx, (input, shape)) in inputs.iter().zip(shapes).enumerate() {
        for (dim, (label, extent)) in labels_of(program, *input).into_iter().zip(*shape).enumerate()
        {
            bindings.bind(label, *extent as u64, Origin::Operand { operand_idx, dim });
        }
    }
    for same in &program.same_extents {
        let operand_idx = inputs.iter().position(|input| *input == same.tensor);
        let before = &program.tensor(same.tensor).dims[..same.dim];
        let dim = before.iter().map(|mode| program.mode(*mode).parts.len()).sum();
        if let Some(operand_idx) = operand_idx
            && let Some(extent) = shapes[operand_idx].get(dim)
        {
            let origin = Origin::Operand { operand_idx, dim };
            bindings.bind(&program.mode(same.other).name, *extent as u64, origin);
        }
    }
    if bindings.mistakes.is_empty() {
        return sizes::checked(program, bindings.finish());
    }
    Err(Diagnostics(bindings.mistakes.into_values().collect()))
}
