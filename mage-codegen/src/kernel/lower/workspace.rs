//! Lays the temporaries, and after them the partial sums of sums in parts, out in one workspace of
//! the caller, one after the other, each from a multiple of four elements on. It comes after the
//! buffers and before the host's checks.

use mage_einsum::index::Layout;

use super::host::elems;
use super::names::Names;
use super::parts;
use crate::kernel::{
    Buffer, BufferId, BufferUse, HostExpr, Module, REGION_ELEMS, Region, Workspace,
};
use crate::schedule::Schedule;

/// The parameter's name; `names` gives it to no tensor.
pub const IDENT: &str = "workspace";

/// Adds the buffers of partial sums and the workspace, where there are any.
pub fn lay_out(schedule: &Schedule, names: &Names, module: &mut Module) {
    let mut regions = Vec::new();
    let mut sizes: Vec<HostExpr> = Vec::new();
    for (position, buffer) in module.buffers.iter().enumerate() {
        if buffer.usage == BufferUse::Temp {
            let temp = BufferId(position);
            regions.push(Region { temp, first: HostExpr::sum(sizes.clone()) });
            sizes.push(elems(module, temp).round_up(REGION_ELEMS));
        }
    }
    let least_elems = HostExpr::sum(sizes.clone());
    for launch in &schedule.launches {
        let Some(parts) = parts::of(schedule, launch, names) else { continue };
        let target = schedule.target(launch).tensor;
        let temp = BufferId(module.buffers.len());
        let whole = &module.buffers[target.0];
        module.buffers.push(Buffer {
            name: format!("{}_parts", whole.name),
            ident: names.parts()[target.0].clone(),
            parts: Some(parts.n_parts.clone()),
            dims: parts::dims(schedule, launch, names, whole),
            dtype: schedule.program.accumulator(),
            index: None,
            layout: Layout::RowMajor,
            usage: BufferUse::Temp,
        });
        regions.push(Region { temp, first: HostExpr::sum(sizes.clone()) });
        sizes.push(elems(module, temp).round_up(REGION_ELEMS).only_where(parts.when));
    }
    if regions.is_empty() {
        return;
    }
    let buffer = BufferId(module.buffers.len());
    let dtype = module.buffers[regions[0].temp.0].dtype;
    module.buffers.push(Buffer {
        name: IDENT.to_string(),
        ident: IDENT.to_string(),
        parts: None,
        dims: Vec::new(),
        dtype,
        index: None,
        layout: Layout::RowMajor,
        usage: BufferUse::Workspace,
    });
    let elems = HostExpr::sum(sizes);
    module.workspace = Some(Workspace { buffer, elems, least_elems, regions });
}
