//! What the host knows of a call: extents, lengths, alignments and views. It comes from the
//! arguments, or from a module whose buffers are as they must be, and goes to the host's steps.

use mage_einsum::diagnostic::Code;
use mage_einsum::index::Layout;
use mage_einsum::view::View;

use super::host::value;
use super::{HostFailure, workspace_elems};
use crate::kernel::{Buffer, BufferId, BufferUse, ENTRY_ELEMS, IndexUse, Module};

/// What the host knows at a launch.
pub(super) struct Facts<'a> {
    /// The module.
    pub module: &'a Module,
    /// One extent a label.
    pub extents: &'a [u64],
    /// Elements of every buffer.
    pub lengths: Vec<u64>,
    /// Bytes that every buffer's address is a multiple of.
    pub byte_alignments: Vec<u64>,
    /// For every buffer its view; none for one that is not strided.
    pub views: Vec<Option<View>>,
    /// For every buffer of use `Listed` its entries, for others nothing.
    pub lists: Vec<Vec<[u32; ENTRY_ELEMS]>>,
}

/// What host values are made of.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    /// One extent a label.
    pub extents: &'a [u64],
    /// For every buffer of use `Listed` its entries; empty where no list is asked for.
    pub lists: &'a [Vec<[u32; ENTRY_ELEMS]>],
}

impl<'a> From<&'a [u64]> for Known<'a> {
    fn from(extents: &'a [u64]) -> Known<'a> {
        Known { extents, lists: &[] }
    }
}

impl<'a> Facts<'a> {
    /// What host values are made of.
    pub fn known(&self) -> Known<'_> {
        Known { extents: self.extents, lists: &self.lists }
    }

    /// A call whose buffers are as long as they must be. A product that leaves 64 bits is what
    /// the host's own checks refuse.
    pub fn as_required(
        module: &'a Module,
        extents: &'a [u64],
        byte_alignments: &[u64],
    ) -> Facts<'a> {
        let length = |position: usize| match module.buffers[position].usage {
            BufferUse::Register | BufferUse::Listed => Some(0),
            BufferUse::Workspace => workspace_elems(module, extents),
            BufferUse::Read
            | BufferUse::Index
            | BufferUse::Write
            | BufferUse::WriteRead
            | BufferUse::Update
            | BufferUse::Temp => elems_of(module, BufferId(position), extents),
        };
        let lengths = (0..module.buffers.len()).map(|at| length(at).unwrap_or(u64::MAX));
        let byte_alignments = byte_alignments.to_vec();
        let views = (0..module.buffers.len()).map(|at| row_major(module, BufferId(at), extents));
        Facts {
            module,
            extents,
            lengths: lengths.collect(),
            byte_alignments,
            views: views.collect(),
            lists: vec![Vec::new(); module.buffers.len()],
        }
    }

    /// The view of a strided buffer and its extents.
    pub fn view(&self, buffer: BufferId) -> Option<(&View, Vec<u64>)> {
        let view = self.views.get(buffer.0)?.as_ref()?;
        Some((view, dim_extents(self.module, buffer, self.extents)?))
    }

    /// The lowest and the highest element that a strided buffer's view reaches.
    pub fn reach(&self, buffer: BufferId) -> Option<(i128, i128)> {
        let (view, extents) = self.view(buffer)?;
        view.reach(&extents)
    }

    /// The stride of a dimension of a strided buffer.
    pub fn stride(&self, buffer: BufferId, dim: usize) -> Option<i64> {
        self.views.get(buffer.0)?.as_ref()?.strides.get(dim).copied()
    }

    /// What the elements of an index buffer were found to be below, or where they end: it is the
    /// label's extent, because nothing runs before they are checked.
    pub fn bound(&self, buffer: BufferId) -> Option<u64> {
        match self.module.buffers.get(buffer.0)?.index? {
            IndexUse::Below(label) | IndexUse::Pointers { into: label } => {
                value(self.extents, &self.module.extent(label))
            }
            IndexUse::Parts { .. } => None,
        }
    }

    /// Whether there are as many extents and alignments as there must be.
    pub fn counts(&self) -> Result<(), HostFailure> {
        let asked = [
            ("extents", "labels", self.extents.len(), self.module.labels.len()),
            ("alignments", "buffers", self.byte_alignments.len(), self.module.buffers.len()),
        ];
        for (given, wanted, n_given, n_wanted) in asked {
            if n_given != n_wanted {
                let message = format!("{n_given} {given} for {n_wanted} {wanted}");
                return Err(HostFailure { code: Code::OperandCount, message });
            }
        }
        Ok(())
    }
}

/// The product of a buffer's extents, for each of its parts, and one more for row pointers; none
/// where it leaves 64 bits.
pub(super) fn elems_of(module: &Module, buffer: BufferId, extents: &[u64]) -> Option<u64> {
    let Buffer { parts, dims, index, .. } = &module.buffers[buffer.0];
    let parts = parts.as_ref().map_or(Some(1), |parts| value(extents, parts))?;
    let product =
        dims.iter().try_fold(parts, |product, label| product.checked_mul(*extents.get(*label)?));
    match index {
        Some(IndexUse::Pointers { .. }) => product?.checked_add(1),
        Some(IndexUse::Below(_) | IndexUse::Parts { .. }) | None => product,
    }
}

/// The view of a strided buffer where the caller gives none; none for any other buffer.
pub(super) fn row_major(module: &Module, buffer: BufferId, extents: &[u64]) -> Option<View> {
    match module.buffers[buffer.0].layout {
        Layout::RowMajor => None,
        Layout::Strided => Some(View::row_major(&dim_extents(module, buffer, extents)?)),
    }
}

fn dim_extents(module: &Module, buffer: BufferId, extents: &[u64]) -> Option<Vec<u64>> {
    let dims = module.buffers.get(buffer.0)?.dims.iter();
    dims.map(|label| extents.get(*label).copied()).collect()
}
