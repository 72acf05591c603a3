//! Extents from the shapes of the operands.

use super::bind::{Bindings, Origin};
use super::{Extents, sizes};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::index::{Program, Tensor, TensorId, TensorKind, labels_of, ranks_fit};

/// Binds every label of `program` from the `shapes` of the inputs and of the index operands.
pub(super) fn bind(program: &Program, shapes: &[&[usize]]) -> Result<Extents, Diagnostics> {
    let inputs: Vec<TensorId> = program.given().map(|(id, _)| id).collect();
    let ranks: Vec<usize> = shapes.iter().map(|shape| shape.len()).collect();
    ranks_fit(program, &ranks)?;

    let shapes = &rows(program, &inputs, shapes)?[..];
    let mut bindings = Bindings::new(program);
    for (operand_idx, (input, shape)) in inputs.iter().zip(shapes).enumerate() {
        for (dim, (label, extent)) in labels_of(program, *input).into_iter().zip(shape).enumerate()
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
        if operand_idx.is_none() {
            // What a statement wrote has the extents of the modes that it was written under.
            bindings.follow(&program.mode(same.other).name, &program.mode(same.first).name);
        }
    }
    if bindings.mistakes.is_empty() {
        return sizes::checked(program, bindings.finish());
    }
    Err(Diagnostics(bindings.mistakes.into_values().collect()))
}

/// The shapes with as many rows where there are row pointers, of which there is one more.
fn rows(
    program: &Program,
    inputs: &[TensorId],
    shapes: &[&[usize]],
) -> Result<Vec<Vec<usize>>, Diagnostic> {
    let mut of_rows: Vec<Vec<usize>> = shapes.iter().map(|shape| shape.to_vec()).collect();
    for (operand_idx, (input, shape)) in inputs.iter().zip(&mut of_rows).enumerate() {
        let Tensor { name, kind, .. } = program.tensor(*input);
        if let (TensorKind::Pointers { .. }, [count]) = (kind, shape.as_mut_slice()) {
            *count = count.checked_sub(1).ok_or_else(|| {
                let message = format!("row pointers `{name}` have no element, not one for row 0");
                let mistake = Diagnostic::new(Code::ExtentMismatch, message);
                let mistake = mistake.place(format!("operand {operand_idx}"));
                mistake.help("give one pointer more than there are rows")
            })?;
        }
    }
    Ok(of_rows)
}

/// Checks `shape` against the output's labels.
pub(super) fn output_fits(
    program: &Program,
    extents: &Extents,
    shape: &[usize],
) -> Result<(), Diagnostics> {
    let outputs = program.tensors_of(TensorKind::Output);
    let labels: Vec<&str> = outputs.flat_map(|(output, _)| labels_of(program, output)).collect();
    if labels.len() != shape.len() {
        let (n_labels, rank) = (labels.len(), shape.len());
        let message = format!("the output has {n_labels} labels but its array has rank {rank}");
        let mistake = Diagnostic::new(Code::RankMismatch, message).place("the output");
        return Err(mistake.help("give the output an array with one dimension a label").into());
    }
    let mistakes: Vec<Diagnostic> = labels
        .into_iter()
        .zip(shape)
        .enumerate()
        .filter_map(|(dim, (label, found))| {
            let extent = extents.get(label)?;
            (extent != *found as u64).then(|| {
                let message = format!(
                    "label `{label}` is {extent} in the operands but {found} in the output"
                );
                let mistake = Diagnostic::new(Code::ExtentMismatch, message);
                mistake
                    .place(format!("the output, label {dim}"))
                    .help(format!("give label `{label}` one extent everywhere"))
            })
        })
        .collect();
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}
