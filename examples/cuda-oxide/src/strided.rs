//! The kernels that take strides at the launch, on operands that lie as callers' operands do:
//! padded, upended, transposed, reversed, broadcast. Between their elements stands NaN.

use std::sync::Arc;

use cuda_core::{CudaContext, CudaStream, DeviceBuffer};
use mage::fill::Fill;
use mage::ndarray::{ArrayD, ArrayViewD};
use mage::view::{Arrangement, Stored};

use crate::names::Names;
use crate::problem::Problem;
use crate::{Error, check, kernels};

/// An operand on the device.
struct Operand {
    buffer: DeviceBuffer<f32>,
    first: usize,
    strides: Vec<isize>,
}

/// Loads a module and launches on extents, operands and an output.
type Launch = fn(
    &Arc<CudaContext>,
    &CudaStream,
    &[usize],
    &[Operand],
    &mut DeviceBuffer<f32>,
) -> Result<(), Error>;

/// A kernel, its notation and options, its labels, the extents of each check.
struct Case {
    name: &'static str,
    notation: &'static str,
    options: &'static str,
    labels: &'static [&'static str],
    checks: &'static [&'static [usize]],
    launch: Launch,
}

macro_rules! cases {
    ($($kernel:ident [$($label:ident)*] ($($operand:ident)*) $($workspace:ident)? => $checks:expr;)*) => {
        const CASES: &[Case] = &[$(Case {
            name: stringify!($kernel),
            notation: kernels::$kernel::NOTATION,
            options: kernels::$kernel::OPTIONS,
            labels: &[$(stringify!($label)),*],
            checks: $checks,
            launch: |context, stream, extents, operands, out| {
                let module = kernels::$kernel::device::load(context)?;
                let ([$($label),*], [$($operand),*]) = (extents, operands) else {
                    return Err("a case with the wrong number of extents or operands".into());
                };
                let extents = kernels::$kernel::Extents { $($label: *$label),* };
                $(
                    let elems = kernels::$kernel::workspace_elems(&extents).ok_or("a workspace beyond memory")?;
                    let mut $workspace = DeviceBuffer::from_host(stream, &vec![f32::NAN; elems])?;
                )?
                kernels::$kernel::launch(&module, stream, &extents, $(kernels::$kernel::View {
                    buffer: &$operand.buffer,
                    first: $operand.first,
                    strides: $operand.strides.as_slice().try_into()?,
                },)* $(&mut $workspace,)? out)?;
                Ok(())
            },
        }),*];
    };
}

cases! {
    strided_matmul [i k j] (a b) => &[&[65, 33, 67], &[128, 64, 192], &[5, 0, 7]];
    strided_triangle [i k c j] (a b) => &[&[33, 65, 3, 17], &[64, 33, 16, 40]];
    strided_diagonal [i k j] (a b) => &[&[33, 17, 35], &[64, 32, 64]];
    strided_transpose [i j k] (a) => &[&[5, 33, 67], &[3, 64, 64]];
    strided_row_sums [i j k] (a b) workspace => &[&[7, 5, 33], &[2, 9, 4101], &[300, 3, 16], &[9000, 4, 32], &[3, 40, 512]];
}

/// Checks those that are named: for each comparison whether it is right, and a line that says so.
pub fn run(
    context: &Arc<CudaContext>,
    stream: &CudaStream,
    names: Names<'_>,
) -> Result<Vec<(bool, String)>, Error> {
    let mut lines = Vec::new();
    for case in CASES.iter().filter(|case| names.take(case.name)) {
        for extents in case.checks {
            for (arrangement_name, arrangement) in Arrangement::NAMES {
                for data in [Fill::Hash, Fill::Normal] {
                    let said = compare(case, (context, stream), extents, (arrangement, data))?;
                    let verdict = if said.is_empty() { "right" } else { "WRONG" };
                    let name = case.name;
                    let line =
                        format!("{verdict} {name} {extents:?} {arrangement_name} {data:?} {said}");
                    lines.push((said.is_empty(), line));
                }
            }
        }
    }
    Ok(lines)
}

/// What is wrong, or nothing.
fn compare(
    case: &Case,
    (context, stream): (&Arc<CudaContext>, &CudaStream),
    extents: &[usize],
    (arrangement, data): (Arrangement, Fill),
) -> Result<String, Error> {
    let problem = Problem::new(case.notation, case.options, case.labels, extents)?;
    let stored: Vec<Stored<f64>> = check::operands(&problem, data)?
        .iter()
        .map(|operand| Stored::arranged(&operand.view(), arrangement, f64::NAN))
        .collect();
    let arrays: Vec<ArrayD<f64>> = stored
        .iter()
        .zip(&problem.given)
        .map(|(stored, (_, shape))| stored.to_array(shape))
        .collect();
    let views: Vec<ArrayViewD<f64>> = arrays.iter().map(|array| array.view()).collect();
    let reference = mage::oracle::evaluate(&problem.program, &views)?.remove(0);
    let mut operands = Vec::new();
    for Stored { data, view } in &stored {
        let data: Vec<f32> = data.iter().map(|value| *value as f32).collect();
        operands.push(Operand {
            buffer: DeviceBuffer::from_host(stream, &data)?,
            first: usize::try_from(view.first)?,
            strides: view.strides.iter().map(|stride| *stride as isize).collect(),
        });
    }
    let poison = vec![f32::NAN; problem.outputs[0]];
    let mut out = DeviceBuffer::from_host(stream, &poison)?;
    (case.launch)(context, stream, extents, &operands, &mut out)?;
    let got: Vec<f64> = out.to_host_vec(stream)?.into_iter().map(f64::from).collect();
    Ok(check::verdict(&got, &reference, &problem, data))
}
