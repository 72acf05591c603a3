//! Lays the temporaries out in one workspace of the caller, one after the other, each from a
//! multiple of 16 bytes on. It comes after the buffers and before the host's checks.

use mage_einsum::index::Layout;

use super::host::elems;
use crate::kernel::{
    Buffer, BufferId, BufferUse, HostExpr, Module, REGION_ELEMS, Region, Workspace,
};

/// The parameter's name; `names` gives it to no tensor.
pub const IDENT: &str = "workspace";

/// Adds the workspace, where there are temporaries.
pub fn lay_out(module: &mut Module) {
    let mut regions = Vec::new();
    let mut sizes: Vec<HostExpr> = Vec::new();
    for (position, buffer) in module.buffers.iter().enumerate() {
        if buffer.usage == BufferUse::Temp {
            let temp = BufferId(position);
            regions.push(Region { temp, first: HostExpr::sum(sizes.clone()) });
            sizes.push(elems(module, temp).round_up(REGION_ELEMS));
        }
    }
    if regions.is_empty() {
        return;
    }
    let buffer = BufferId(module.buffers.len());
    let dtype = module.buffers[regions[0].temp.0].dtype;
    module.buffers.push(Buffer {
        name: IDENT.to_string(),
        ident: IDENT.to_string(),
        dims: Vec::new(),
        dtype,
        layout: Layout::RowMajor,
        usage: BufferUse::Workspace,
    });
    module.workspace = Some(Workspace { buffer, elems: HostExpr::sum(sizes), regions });
}
