//! The order of a program's tensors, once all of them are known.

use super::{Program, Tensor, TensorId, TensorKind};

/// Puts tensors in the order that a program has them in, outputs in that of their names, and
/// renumbers what names them.
pub(super) fn sort_tensors(program: &mut Program, outputs: &[String]) {
    let rank = |tensor: &Tensor| match tensor.kind {
        TensorKind::Input => 0,
        TensorKind::Indices { .. } | TensorKind::Pointers { .. } => 1,
        TensorKind::Temp => 2,
        TensorKind::Output => {
            3 + outputs.iter().position(|output| *output == tensor.name).unwrap_or(outputs.len())
        }
    };
    let mut order: Vec<usize> = (0..program.tensors.len()).collect();
    order.sort_by_key(|at| rank(&program.tensors[*at]));
    let mut new = vec![TensorId(0); order.len()];
    order.iter().enumerate().for_each(|(after, before)| new[*before] = TensorId(after));
    program.tensors = order.iter().map(|at| program.tensors[*at].clone()).collect();
    for statement in &mut program.statements {
        statement.target.tensor = new[statement.target.tensor.0];
        for access in statement.value.accesses_mut() {
            access.tensor = new[access.tensor.0];
            for gather in &mut access.gathers {
                gather.indices = new[gather.indices.0];
            }
        }
        if let Some(segment) = &mut statement.segment {
            segment.pointers = new[segment.pointers.0];
        }
    }
    for same in &mut program.same_extents {
        same.tensor = new[same.tensor.0];
    }
}
