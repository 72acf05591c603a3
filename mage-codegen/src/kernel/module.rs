//! The module, its buffers and its kernels.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::{Extent, Layout};

use super::{Expr, HostExpr, HostPred, HostStep, Space, Stmt, Ty, VarId};
use crate::fragment::Fragment;

/// Position in [`Module::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub usize);

/// Position in [`Kernel::shared`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedId(pub usize);

/// Position in [`Kernel::registers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegId(pub usize);

/// Everything that is run for one specification: host steps and the kernels they launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// A Rust identifier, for example `ik_kj_ij_tile64`; kernel entry names start with it.
    pub name: String,
    /// What it was made from and why it is right, for headers and explanations.
    pub provenance: Provenance,
    /// The labels of the notation in order of first appearance; host expressions index them.
    pub labels: Vec<Label>,
    /// Inputs in operand order, temporaries, outputs; last the workspace, where there is one.
    /// Of the inputs, those of index operands may stand anywhere.
    pub buffers: Vec<Buffer>,
    /// Where the temporaries lie; none where there is no temporary.
    pub workspace: Option<Workspace>,
    /// What the host checks and launches, in order.
    pub host: Vec<HostStep>,
    /// The kernels that the host may launch.
    pub kernels: Vec<Kernel>,
}

/// The statements kept beside the result, each a few lines of text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    /// The notation as written.
    pub notation: String,
    /// The options in canonical form, for example `tile = 64`; empty when there are none.
    pub options: String,
    /// The index IR as printed.
    pub program: String,
    /// The schedule's loop nest and reasons as printed.
    pub schedule: String,
    /// One sentence an element: why every access is in bounds, why there is no race, why the
    /// result does not depend on the run.
    pub proof: Vec<String>,
}

/// One label: a field of the emitted `Extents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// As the user wrote it.
    pub name: String,
    /// A Rust identifier for it that no other label has and that is no keyword.
    pub ident: String,
    /// Fixed by the option `extents`, or bound at the launch.
    pub extent: Extent,
}

/// What a buffer is to the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferUse {
    /// The caller's, read only.
    Read,
    /// The caller's u32 elements, read only and as indices only. They reach a launch through a
    /// handle that has checked them.
    Index,
    /// What the handle of row pointers lists when it checks them, u32 elements, read only and as
    /// indices only.
    Listed,
    /// The caller's. Every element is written exactly once; what it held before is never read.
    Write,
    /// The caller's. One launch writes every element exactly once, later ones read it; what it held
    /// before is never read.
    WriteRead,
    /// The caller's. Every element is read once, by the thread that then writes it, once.
    Update,
    /// A part of the workspace. One launch writes every element exactly once, later ones read it.
    Temp,
    /// A temporary that stays in the registers of one launch; no kernel touches it, and it has no
    /// memory.
    Register,
    /// The caller's memory for all temporaries; no kernel touches it but as one of them. It has
    /// no dimensions of its own.
    Workspace,
}

/// What the elements of an index buffer are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexUse {
    /// Each is below the extent of the label at this position.
    Below(usize),
    /// Row pointers of a CSR matrix, one more than the dimensions multiply to: they begin at 0,
    /// never fall, and end at the extent of a label.
    Pointers {
        /// The label's position.
        into: usize,
    },
    /// The parts of long rows, as [`parts_of_long_rows`](super::parts_of_long_rows) lists them.
    Parts {
        /// The row pointers.
        pointers: BufferId,
        /// Elements of a part.
        part_elems: u32,
    },
}

/// The layout of the caller's memory for temporaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The buffer of use `Workspace`.
    pub buffer: BufferId,
    /// Elements with which every launch runs as fast as it can.
    pub elems: HostExpr,
    /// Elements it must have, or more: the others are for partial sums, without which a sum
    /// stays in one block.
    pub least_elems: HostExpr,
    /// One a temporary, in their order; those of partial sums are last.
    pub regions: Vec<Region>,
}

/// Where a temporary lies in the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// The buffer of use `Temp`.
    pub temp: BufferId,
    /// Its first element, a multiple of [`REGION_ELEMS`].
    pub first: HostExpr,
}

/// Regions begin at multiples of so many elements, those of a four-wide access, so that a temporary
/// is as well aligned for such accesses as the workspace.
pub const REGION_ELEMS: u64 = 4;

/// An array in global memory. A load of an element widens it to the register's type, which holds
/// it exactly; a store rounds to the nearest, of two the even one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// The tensor's name, for example `A`.
    pub name: String,
    /// A Rust identifier in snake case, for example `a`.
    pub ident: String,
    /// The outermost dimension of an array of partial sums, which has no label.
    pub parts: Option<HostExpr>,
    /// For each dimension the position of its label in [`Module::labels`].
    pub dims: Vec<usize>,
    /// Element type. An index buffer's elements are u32, and this is f32, which is as large.
    pub dtype: Dtype,
    /// What the elements of an index buffer are.
    pub index: Option<IndexUse>,
    /// How its elements lie. A strided buffer is given as a view, and offsets into it are signed
    /// and count from the element where the view begins.
    pub layout: Layout,
    /// What it is for.
    pub usage: BufferUse,
}

/// One `#[kernel]`. All threads of all blocks run `body`; blocks are one-dimensional, and so is
/// the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// A Rust identifier, unique in the program: the module's name and the variant's.
    pub name: String,
    /// What the variant needs and is good for, one sentence.
    pub summary: String,
    /// Threads a block; at most 1024.
    pub block_threads: u32,
    /// Blocks a multiprocessor that the compiler must keep registers for; at least 1.
    pub min_blocks: u32,
    /// Scalar parameters, after the buffers that the body touches, in order.
    pub params: Vec<Param>,
    /// Shared memory, allocated for the block.
    pub shared: Vec<SharedArray>,
    /// Register arrays, private to a thread.
    pub registers: Vec<RegArray>,
    /// Every index variable, parameters and loop variables included.
    pub vars: Vec<Var>,
    /// What a thread does.
    pub body: Vec<Stmt>,
}

/// A scalar that the host computes and passes, such as a mode's extent or stride.
#[derive(Debug, Clone, PartialEq)]
pub struct Param {
    /// The variable it is in the kernel.
    pub var: VarId,
    /// What the host passes.
    pub value: ParamValue,
}

/// What the host passes for a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamValue {
    /// An unsigned value, which fits the variable's type because a `Require` says so.
    Unsigned(HostExpr),
    /// A mode's stride in a strided buffer: the sum over the dimensions where the mode stands. It
    /// wraps only where a stride is of no account, because the extent is 1.
    Stride {
        /// The buffer.
        buffer: BufferId,
        /// Its dimensions, from 0.
        dims: Vec<usize>,
    },
}

/// An index variable. Names are unique within a kernel, so scopes need no thought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Var {
    /// A Rust identifier in snake case, for example `i_tile`.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// Whether `Stmt::Assign` may change it.
    pub mutable: bool,
}

/// An array in shared memory of the block, uninitialised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedArray {
    /// A Rust identifier, for example `tiles`.
    pub name: String,
    /// Elements of `dtype`; 16-byte aligned.
    pub elems: u32,
    /// Element type.
    pub dtype: Dtype,
}

/// An array of registers. Indexed by literals and unrolled loop variables only. An array of halves
/// is for the factors of the tensor cores alone, and a register of it holds two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegArray {
    /// A Rust identifier, for example `acc`.
    pub name: String,
    /// Registers.
    pub elems: u32,
    /// Element type.
    pub dtype: Dtype,
}

impl RegArray {
    /// Elements of a register.
    pub fn word_elems(&self) -> usize {
        Fragment::of_bytes(self.dtype.size_bytes()).word_elems
    }
}

impl Workspace {
    /// Whether there are temporaries without which nothing runs.
    pub fn is_required(&self) -> bool {
        self.least_elems != HostExpr::Const(0)
    }

    /// Whether there are partial sums, which make it faster.
    pub fn has_parts(&self) -> bool {
        self.elems != self.least_elems
    }
}

impl BufferUse {
    /// Whether its elements are read as indices.
    pub fn is_index(self) -> bool {
        match self {
            BufferUse::Index | BufferUse::Listed => true,
            BufferUse::Read
            | BufferUse::Write
            | BufferUse::WriteRead
            | BufferUse::Update
            | BufferUse::Temp
            | BufferUse::Register
            | BufferUse::Workspace => false,
        }
    }

    /// Whether a kernel's result is the caller's to read there.
    pub fn is_output(self) -> bool {
        match self {
            BufferUse::Write | BufferUse::WriteRead | BufferUse::Update => true,
            BufferUse::Read
            | BufferUse::Index
            | BufferUse::Listed
            | BufferUse::Temp
            | BufferUse::Register
            | BufferUse::Workspace => false,
        }
    }
}

impl Module {
    /// The type of the elements in a memory that one of the module's kernels names.
    pub fn dtype(&self, kernel: &Kernel, space: Space) -> Dtype {
        match space {
            Space::Global(buffer) => self.buffers[buffer.0].dtype,
            Space::Shared(array) => kernel.shared[array.0].dtype,
        }
    }

    /// The buffers that the caller gives, in the order of `launch`: inputs, those of indices
    /// behind the others, workspace, outputs.
    pub fn given(&self) -> impl Iterator<Item = (BufferId, &Buffer)> {
        let of = |usage: BufferUse| self.buffers_of(move |other| other == usage);
        let read = of(BufferUse::Read).chain(of(BufferUse::Index));
        read.chain(of(BufferUse::Workspace)).chain(self.outputs())
    }

    /// What the kernels return, in the order of `launch`.
    pub fn outputs(&self) -> impl Iterator<Item = (BufferId, &Buffer)> {
        self.buffers_of(BufferUse::is_output)
    }

    fn buffers_of(
        &self,
        is_wanted: impl Fn(BufferUse) -> bool,
    ) -> impl Iterator<Item = (BufferId, &Buffer)> {
        let buffers = self.buffers.iter().enumerate();
        buffers
            .filter(move |(_, buffer)| is_wanted(buffer.usage))
            .map(|(position, buffer)| (BufferId(position), buffer))
    }

    /// The extent of a label: a number where it is fixed.
    pub fn extent(&self, label: usize) -> HostExpr {
        match self.labels.get(label).map(|label| label.extent) {
            Some(Extent::Fixed(extent)) => HostExpr::Const(u64::from(extent)),
            Some(Extent::Runtime) | None => HostExpr::Extent(label),
        }
    }

    /// What the host must have required of an index buffer before a kernel reads it; none for any
    /// other buffer.
    pub fn index_requirement(&self, buffer: BufferId) -> Option<HostPred> {
        let pred = match self.buffers.get(buffer.0)?.index? {
            IndexUse::Below(label) => HostPred::IndicesBelow(buffer, self.extent(label)),
            IndexUse::Pointers { into } => HostPred::PointersInto(buffer, self.extent(into)),
            IndexUse::Parts { pointers, part_elems: _ } => return self.index_requirement(pointers),
        };
        Some(pred)
    }

    /// The caller's buffer that holds a buffer: the workspace for a temporary, else itself.
    pub fn memory_of(&self, buffer: BufferId) -> BufferId {
        let holds =
            |workspace: &&Workspace| workspace.regions.iter().any(|region| region.temp == buffer);
        self.workspace.as_ref().filter(holds).map_or(buffer, |workspace| workspace.buffer)
    }

    /// Where a temporary begins in the workspace; none for any other buffer.
    pub fn first_elem(&self, temp: BufferId) -> Option<&HostExpr> {
        let regions = self.workspace.iter().flat_map(|workspace| &workspace.regions);
        regions.into_iter().find(|region| region.temp == temp).map(|region| &region.first)
    }
}

impl Kernel {
    /// Bytes of shared memory of one block.
    pub fn shared_bytes(&self) -> u64 {
        self.shared.iter().map(|array| u64::from(array.elems) * array.dtype.size_bytes()).sum()
    }

    /// The variable `id`.
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.0]
    }

    /// The type of an index expression; both sides of an operator have one type (see `verify`).
    pub fn ty(&self, expr: &Expr) -> Ty {
        expr.ty(&self.vars)
    }
}
