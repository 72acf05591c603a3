//! The types of the index IR. A classic einsum is one statement whose value is a product of
//! accesses and whose labels that are not in the output are reduced by a sum.

use crate::dtype::Dtype;
use crate::precision::Precision;

/// Position of a mode in [`Program::modes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModeId(pub usize);

/// Position of a tensor in [`Program::tensors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TensorId(pub usize);

/// A whole contraction: what is computed, without a word on how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The notation it came from, kept as provenance.
    pub notation: String,
    /// Every index, in order of first appearance in the inputs.
    pub modes: Vec<Mode>,
    /// Inputs in operand order, then temporaries, then outputs.
    pub tensors: Vec<Tensor>,
    /// Statements in order of evaluation; the last writes the output.
    pub statements: Vec<Statement>,
    /// How exactly operands are multiplied.
    pub precision: Precision,
    /// Equalities of extents that follow from one tensor being read under two sets of modes.
    pub same_extents: Vec<SameExtent>,
}

/// An index of the contraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mode {
    /// The label, or for a merged mode its parts' labels joined.
    pub name: String,
    /// The extent, or that it is only known at the launch. For a merged mode with any runtime
    /// part it is `Runtime`.
    pub extent: Extent,
    /// The labels it stands for, outermost first: one of them, unless modes were merged. The
    /// extent of a merged mode is the product of its parts' extents.
    pub parts: Vec<Part>,
}

/// One label of a (possibly merged) mode, as the user knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The label as written.
    pub label: String,
    /// The label's own extent.
    pub extent: Extent,
}

/// A mode's size in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Known at compile time by the option `extents`; below 2^32.
    Fixed(u32),
    /// Bound at the launch.
    Runtime,
}

/// What a tensor is to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorKind {
    /// Read only, the caller's.
    Input,
    /// Neither given nor returned.
    Temp,
    /// Written whole, the caller's.
    Output,
}

/// How the elements of a tensor lie in its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Contiguous, the last dimension fastest.
    RowMajor,
    /// Under any strides, zero and negative ones too, which each launch gives.
    Strided,
}

/// An array that the program reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// `A`, `B`, ... and `out` for a classic einsum; the user's names in the index form.
    pub name: String,
    /// Input, temporary or output.
    pub kind: TensorKind,
    /// Element type.
    pub dtype: Dtype,
    /// How its elements lie; only an input can be strided.
    pub layout: Layout,
    /// For each dimension, the mode that gives its extent (the first access decides). A merged
    /// program has merged dimensions. A diagonal repeats a mode.
    pub dims: Vec<ModeId>,
}

/// A tensor under indices, one a dimension. A mode may stand twice: then its stride is the sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The tensor.
    pub tensor: TensorId,
    /// One mode a dimension.
    pub modes: Vec<ModeId>,
}

/// The value of a statement at one point of its modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// One element.
    Access(Access),
    /// The product of its factors, in order; at least two.
    Product(Vec<Expr>),
}

/// `target = sum(reduced) value`, or `target += ..`. The sum is absent when `reduced` is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What is written, each element once.
    pub target: Access,
    /// Whether the value is added to what the target holds; of an output only.
    pub accumulates: bool,
    /// The summed modes, outermost first.
    pub reduced: Vec<ModeId>,
    /// The summand.
    pub value: Expr,
    /// For every mode of the statement, in order of first appearance, what it is to it.
    pub roles: Vec<(ModeId, Role)>,
}

/// What a mode is to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// In the output and in every factor (two or more factors).
    Batch,
    /// In the output and in the first factor, not in the second.
    FreeLeft,
    /// In the output and in the second factor, not in the first.
    FreeRight,
    /// Summed, and in two factors or more.
    Contracted,
    /// Summed, and in one factor only.
    Reduced,
}

/// Two modes that index the same dimension of one tensor and so must have one extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SameExtent {
    /// The tensor accessed twice.
    pub tensor: TensorId,
    /// The dimension, from 0.
    pub dim: usize,
    /// The mode of the first access.
    pub first: ModeId,
    /// The mode of the other access.
    pub other: ModeId,
}

impl Program {
    /// The mode `id`.
    pub fn mode(&self, id: ModeId) -> &Mode {
        &self.modes[id.0]
    }

    /// The tensor `id`.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0]
    }

    /// The type that sums are accumulated in.
    pub fn accumulator(&self) -> Dtype {
        self.tensors.last().map_or(Dtype::F32, |output| output.dtype.accumulator())
    }

    /// The type of the operands; the accumulator's where there are none.
    pub fn operand_dtype(&self) -> Dtype {
        self.tensors_of(TensorKind::Input)
            .next()
            .map_or(self.accumulator(), |(_, input)| input.dtype)
    }

    /// Whether the output's elements are read before they are written.
    pub fn accumulates(&self) -> bool {
        self.statements.iter().any(|statement| statement.accumulates)
    }

    /// Tensors of one kind, in order.
    pub fn tensors_of(&self, kind: TensorKind) -> impl Iterator<Item = (TensorId, &Tensor)> {
        self.tensors
            .iter()
            .enumerate()
            .filter(move |(_, tensor)| tensor.kind == kind)
            .map(|(position, tensor)| (TensorId(position), tensor))
    }
}

impl Expr {
    /// The product of `factors`, or the one factor itself.
    pub(super) fn product(factors: Vec<Access>) -> Expr {
        let mut factors: Vec<Expr> = factors.into_iter().map(Expr::Access).collect();
        if factors.len() == 1 { factors.remove(0) } else { Expr::Product(factors) }
    }
}

impl Statement {
    /// The factors of the value in order: one for a lone access.
    pub fn factors(&self) -> Vec<&Access> {
        fn collect<'e>(expr: &'e Expr, into: &mut Vec<&'e Access>) {
            match expr {
                Expr::Access(access) => into.push(access),
                Expr::Product(factors) => factors.iter().for_each(|factor| collect(factor, into)),
            }
        }
        let mut factors = Vec::new();
        collect(&self.value, &mut factors);
        factors
    }

    /// The role of `mode`, or `None` where the statement does not use it.
    pub fn role(&self, mode: ModeId) -> Option<Role> {
        self.roles.iter().find(|(id, _)| *id == mode).map(|(_, role)| *role)
    }

    /// The modes of one role, in order of first appearance.
    pub fn modes_of(&self, role: Role) -> Vec<ModeId> {
        self.roles.iter().filter(|(_, found)| *found == role).map(|(id, _)| *id).collect()
    }
}

impl Extent {
    /// The extent of modes taken together: fixed where all are and the product fits.
    pub(crate) fn product(extents: impl IntoIterator<Item = Extent>) -> Extent {
        extents.into_iter().fold(Extent::Fixed(1), |product, extent| match (product, extent) {
            (Extent::Fixed(left), Extent::Fixed(right)) => {
                left.checked_mul(right).map_or(Extent::Runtime, Extent::Fixed)
            }
            (Extent::Runtime, Extent::Fixed(_) | Extent::Runtime)
            | (Extent::Fixed(_), Extent::Runtime) => Extent::Runtime,
        })
    }
}
