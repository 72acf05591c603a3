//! Level 3 to level 4: turns a schedule into host steps and kernels. The decisions are the
//! schedule's; what is added here is arithmetic: coordinates, offsets, predicates, and the
//! host's checks that make them safe.

mod names;
mod builder;
mod workspace;
mod host;
mod wide;
mod family;
mod tiled;
mod stage;
mod epilogue;
mod exchange;
mod grid;
mod coordinates;
mod point;
mod value;
mod reduce;
mod term;
mod transpose;
mod reduction;
mod parts;
mod part;
mod total;
mod rows;
mod segments;
mod elementwise;
mod per_output;
mod proof;

use mage_einsum::index::{self, TensorId};

use super::{Buffer, BufferUse, HostStep, IndexUse, Label, Module, Provenance};
use crate::schedule::{self, Schedule, Strategy};
use names::Names;

/// The module of a schedule.
pub fn lower(schedule: &Schedule) -> Module {
    let names = Names::new(&schedule.program);
    let mut module = Module {
        name: schedule.name.clone(),
        provenance: provenance(schedule),
        labels: labels(schedule, &names),
        buffers: buffers(schedule, &names),
        workspace: None,
        host: Vec::new(),
        kernels: Vec::new(),
    };
    segments::list_parts(schedule, &names, &mut module);
    workspace::lay_out(schedule, &names, &mut module);
    module.host = host::checks(schedule, &names, &module);
    let mut launches = Vec::new();
    for launch in &schedule.launches {
        let (kernels, steps): (Vec<_>, Vec<HostStep>) = match &launch.strategy {
            Strategy::Tiled(family) => family::lower(schedule, launch, family, &names, &module),
            Strategy::Transpose(transpose) => {
                transpose::lower(schedule, launch, transpose, &names, &module)
            }
            Strategy::Reduction(reduction) => {
                reduction::lower(schedule, launch, reduction, &names, &module)
            }
            Strategy::Rows(rows) => rows::lower(schedule, launch, rows, &names, &module),
            Strategy::Segments(segments) => {
                segments::lower(schedule, launch, segments, &names, &module)
            }
            Strategy::Elementwise(elementwise) => {
                elementwise::lower(schedule, launch, elementwise, &names, &module)
            }
            Strategy::PerOutput(per_output) => {
                per_output::lower(schedule, launch, per_output, &names, &module)
            }
        };
        // What is required of a later launch is required before the first one starts, so that a
        // refusal launches nothing.
        let (required, started): (Vec<_>, Vec<_>) =
            steps.into_iter().partition(|step| matches!(step, HostStep::Require { .. }));
        module.host.extend(required);
        launches.extend(host::unless_empty(schedule, launch, &module, started));
        module.kernels.extend(kernels);
        module.provenance.proof.extend(proof::sentences(schedule, launch));
    }
    module.host.extend(launches);
    module.provenance.proof.extend(proof::of_workspace(schedule, &module));
    module.provenance.proof.extend(proof::of_outputs(&module));
    module
}

fn provenance(schedule: &Schedule) -> Provenance {
    let nests: Vec<String> =
        schedule.launches.iter().map(|launch| schedule::nest(schedule, launch)).collect();
    let program = &schedule.program;
    let lines: Vec<String> =
        program.statements.iter().map(|statement| index::print_line(program, statement)).collect();
    Provenance {
        notation: schedule.program.notation.clone(),
        options: schedule.options.clone(),
        program: lines.join("\n"),
        schedule: nests.join("\n"),
        proof: Vec::new(),
    }
}

fn labels(schedule: &Schedule, names: &Names) -> Vec<Label> {
    let parts = schedule.program.modes.iter().flat_map(|mode| &mode.parts);
    parts
        .zip(names.labels())
        .map(|(part, ident)| Label {
            name: part.label.clone(),
            ident: ident.clone(),
            extent: part.extent,
        })
        .collect()
}

fn buffers(schedule: &Schedule, names: &Names) -> Vec<Buffer> {
    let program = &schedule.program;
    program
        .tensors
        .iter()
        .zip(names.tensors())
        .enumerate()
        .map(|(position, (tensor, ident))| Buffer {
            name: tensor.name.clone(),
            ident: ident.clone(),
            parts: None,
            dims: tensor.dims.iter().flat_map(|mode| names.labels_of(program, *mode)).collect(),
            dtype: tensor.dtype,
            index: match tensor.kind {
                index::TensorKind::Indices { below } => {
                    Some(IndexUse::Below(names.labels_of(program, below).start))
                }
                index::TensorKind::Pointers { into } => {
                    Some(IndexUse::Pointers { into: names.labels_of(program, into).start })
                }
                index::TensorKind::Input | index::TensorKind::Temp | index::TensorKind::Output => {
                    None
                }
            },
            layout: tensor.layout,
            usage: match tensor.kind {
                index::TensorKind::Input => BufferUse::Read,
                index::TensorKind::Indices { .. } | index::TensorKind::Pointers { .. } => {
                    BufferUse::Index
                }
                index::TensorKind::Temp if schedule.is_in_registers(TensorId(position)) => {
                    BufferUse::Register
                }
                index::TensorKind::Temp => BufferUse::Temp,
                index::TensorKind::Output if program.accumulates() => BufferUse::Update,
                index::TensorKind::Output if schedule.is_read_back(TensorId(position)) => {
                    BufferUse::WriteRead
                }
                index::TensorKind::Output => BufferUse::Write,
            },
        })
        .collect()
}
