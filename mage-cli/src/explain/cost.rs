//! What a contraction costs whatever its schedule: operations, bytes that must move at least once,
//! and their ratio beside the device's.

use mage_codegen::device::Device;
use mage_codegen::kernel::{Buffer, BufferUse};
use mage_einsum::binding::Extents;
use mage_einsum::index::{Access, Count, ModeId, Program, Role, Statement, TensorId, TensorKind};

/// The costs of a program.
#[derive(Debug)]
pub struct Cost {
    /// The floating-point operations as a product over labels, for example `2 * i * k * j`.
    pub flops_formula: String,
    /// The device's peak in the type that sums are accumulated in, in FLOP/s.
    pub flops_per_s: f64,
    /// Flop/byte from which arithmetic and not memory limits the device; derived from its peaks.
    pub ridge: f64,
    /// What needs extents.
    pub bound: Option<BoundCost>,
}

/// The costs at given extents.
#[derive(Debug)]
pub struct BoundCost {
    /// Floating-point operations.
    pub flops: u128,
    /// Each tensor's name and the bytes of it that are read or written; both, of an output that is
    /// added to.
    pub tensors: Vec<(String, u128)>,
    /// The sum over tensors.
    pub bytes: u128,
    /// Flop/byte where every byte moves once; 0 where none moves.
    pub intensity: f64,
    /// Seconds at the device's peak arithmetic.
    pub arithmetic_s: f64,
    /// Seconds at the device's peak bandwidth.
    pub memory_s: f64,
}

/// Costs `program` on `device`; `buffers` are those of its tensors, in their order.
pub fn of(
    program: &Program,
    buffers: &[Buffer],
    extents: Option<&Extents>,
    device: &Device,
) -> Cost {
    let flops_per_s = rate(program, device);
    let formulas: Vec<String> = flops(program).map(|count| count.to_string()).collect();
    Cost {
        flops_formula: formulas.join(" + "),
        flops_per_s,
        ridge: flops_per_s / device.bandwidth_bytes_per_s,
        bound: extents.map(|extents| bound(program, buffers, extents, device)),
    }
}

/// Peak arithmetic: that of the tensor cores where there are products for them.
fn rate(program: &Program, device: &Device) -> f64 {
    let sums_products = |statement: &Statement| {
        statement.factors().len() > 1 && !statement.modes_of(Role::Contracted).is_empty()
    };
    let operands = match program.statements.iter().any(sums_products) {
        true => program.operand_dtype(),
        false => program.accumulator(),
    };
    device.flops_per_s(operands, program.precision)
}

fn flops(program: &Program) -> impl Iterator<Item = Count> {
    program.statements.iter().map(|statement| Count::flops(program, statement))
}

fn bound(program: &Program, buffers: &[Buffer], extents: &Extents, device: &Device) -> BoundCost {
    let points = |modes: &[ModeId]| {
        let extents = modes.iter().map(|mode| u128::from(extents.of_mode(program.mode(*mode))));
        extents.fold(1_u128, u128::saturating_mul)
    };
    let counts = flops(program).filter_map(|count| count.value(|label| extents.get(label)));
    let flops = counts.fold(0_u128, u128::saturating_add);
    // What stays in registers moves no byte.
    let is_moved = |buffer: &Buffer| buffer.usage != BufferUse::Register;
    let tensors: Vec<(String, u128)> = (0..program.tensors.len())
        .filter(|position| buffers.get(*position).is_none_or(is_moved))
        .map(|position| {
            let tensor = program.tensor(TensorId(position));
            let points = points(&touched_modes(program, TensorId(position)));
            let has_end = matches!(tensor.kind, TensorKind::Pointers { .. });
            let touched = points.saturating_add(u128::from(has_end));
            let is_updated = tensor.kind == TensorKind::Output && program.accumulates();
            let elem_bytes = u128::from(tensor.dtype.size_bytes()) * (1 + u128::from(is_updated));
            (tensor.name.clone(), touched.saturating_mul(elem_bytes))
        })
        .collect();
    let bytes = tensors.iter().fold(0_u128, |sum, (_, bytes)| sum.saturating_add(*bytes));
    BoundCost {
        flops,
        bytes,
        tensors,
        intensity: if bytes == 0 { 0.0 } else { flops as f64 / bytes as f64 },
        arithmetic_s: flops as f64 / rate(program, device),
        memory_s: bytes as f64 / device.bandwidth_bytes_per_s,
    }
}

/// The modes that span the elements of a tensor that are accessed: a diagonal counts once. A
/// tensor that is accessed in several ways counts whole.
fn touched_modes(program: &Program, tensor: TensorId) -> Vec<ModeId> {
    let mut ways: Vec<&[ModeId]> = Vec::new();
    for statement in &program.statements {
        let mut accesses: Vec<&Access> = statement.factors();
        accesses.push(&statement.target);
        let here = accesses.into_iter().filter(|access| access.tensor == tensor);
        ways.extend(here.map(|access| access.modes.as_slice()));
    }
    ways.dedup();
    match ways.as_slice() {
        [way] => {
            let mut modes = way.to_vec();
            modes.sort_unstable();
            modes.dedup();
            modes
        }
        [] | [_, _, ..] => program.tensor(tensor).dims.clone(),
    }
}
