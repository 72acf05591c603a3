//! The types of the index IR. A classic einsum is one statement whose value is a product of
//! accesses and whose labels that are not in the output are reduced by a sum.

use crate::dtype::Dtype;
use crate::function::Function;
use crate::notation::Number;
use crate::precision::Precision;
use crate::reducer::Reducer;

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
    /// Inputs in operand order, then index operands, then temporaries, then outputs in the order in
    /// which they are returned.
    pub tensors: Vec<Tensor>,
    /// Statements in order of evaluation; the last writes an output.
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
    /// Read only, the caller's: u32 indices of a mode, each below its extent.
    Indices {
        /// The mode that they are indices of.
        below: ModeId,
    },
    /// Read only, the caller's: the row pointers of a CSR matrix in u32, one more than the extent
    /// of its dimension. They begin at 0, never fall, and end at the extent of a mode.
    Pointers {
        /// The mode whose segments are the rows.
        into: ModeId,
    },
    /// Neither given nor returned.
    Temp,
    /// Written whole, the caller's. A later statement may read one that has the type of sums.
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
    /// Dimensions whose position is an element of an index operand. The mode of such a dimension
    /// has its extent; the statement does not run over it.
    pub gathers: Vec<Gather>,
}

/// `s[e]` in a dimension of an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gather {
    /// The dimension, from 0.
    pub dim: usize,
    /// The index operand.
    pub indices: TensorId,
    /// One mode a dimension of it.
    pub modes: Vec<ModeId>,
}

/// The value of a statement at one point of its modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// One element.
    Access(Access),
    /// A number.
    Number(Number),
    /// The product of its factors, in order; at least two.
    Product(Vec<Expr>),
    /// An operation on two values.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// A product of so many equal factors, at least two.
    Power(Box<Expr>, u32),
    /// A function of one value.
    Call(Function, Box<Expr>),
}

/// An operation on two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// The sum.
    Add,
    /// The difference.
    Subtract,
    /// The quotient.
    Divide,
    /// The larger one; NaN where one is.
    Max,
    /// The smaller one; NaN where one is.
    Min,
}

/// `target = sum(reduced) value`, or `target += ..`. The reduction is absent when `reduced` is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What is written, each element once.
    pub target: Access,
    /// Whether the value is added to what the target holds; of an output only.
    pub accumulates: bool,
    /// What makes one value of those at the reduced modes; the sum where there are none.
    pub reducer: Reducer,
    /// The reduced modes, outermost first.
    pub reduced: Vec<ModeId>,
    /// Where the one reduced mode begins and ends, unless that is everywhere.
    pub segment: Option<Segment>,
    /// What is reduced.
    pub value: Expr,
    /// For every mode of the statement, in order of first appearance, what it is to it.
    pub roles: Vec<(ModeId, Role)>,
}

/// `p[i]..p[i+1]`: the positions of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// The row pointers.
    pub pointers: TensorId,
    /// The row's mode.
    pub row: ModeId,
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
        // All outputs have one type.
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

    /// What the caller gives to be read: the inputs, then the index operands.
    pub fn given(&self) -> impl Iterator<Item = (TensorId, &Tensor)> {
        let tensors = self.tensors.iter().enumerate();
        tensors
            .filter(|(_, tensor)| tensor.kind.is_given())
            .map(|(position, tensor)| (TensorId(position), tensor))
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

impl TensorKind {
    /// Whether it holds indices or row pointers, in u32.
    pub fn is_index(self) -> bool {
        match self {
            TensorKind::Indices { .. } | TensorKind::Pointers { .. } => true,
            TensorKind::Input | TensorKind::Temp | TensorKind::Output => false,
        }
    }

    /// Whether the caller gives it, to be read.
    pub fn is_given(self) -> bool {
        self == TensorKind::Input || self.is_index()
    }
}

impl Access {
    /// A tensor under modes alone.
    pub fn plain(tensor: TensorId, modes: Vec<ModeId>) -> Access {
        Access { tensor, modes, gathers: Vec::new() }
    }

    /// The modes that a statement runs over to make the access: those of its dimensions, and in the
    /// place of a gathered one those of the index operand.
    pub fn run_modes(&self) -> Vec<ModeId> {
        let of_dim = |(dim, mode): (usize, &ModeId)| {
            let gather = self.gathers.iter().find(|gather| gather.dim == dim);
            gather.map_or_else(|| vec![*mode], |gather| gather.modes.clone())
        };
        self.modes.iter().enumerate().flat_map(of_dim).collect()
    }
}

impl Expr {
    /// The product of `factors`, or the one factor itself.
    pub(super) fn product(factors: Vec<Access>) -> Expr {
        let mut factors: Vec<Expr> = factors.into_iter().map(Expr::Access).collect();
        if factors.len() == 1 { factors.remove(0) } else { Expr::Product(factors) }
    }

    /// The parts that it is made of directly.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Access(_) | Expr::Number(_) => Vec::new(),
            Expr::Product(factors) => factors.iter().collect(),
            Expr::Binary(_, left, right) => vec![left, right],
            Expr::Power(inner, _) | Expr::Call(_, inner) => vec![inner],
        }
    }

    /// The same, to be changed.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Expr::Access(_) | Expr::Number(_) => Vec::new(),
            Expr::Product(factors) => factors.iter_mut().collect(),
            Expr::Binary(_, left, right) => vec![left, right],
            Expr::Power(inner, _) | Expr::Call(_, inner) => vec![inner],
        }
    }

    /// Every access in it, from left to right.
    pub fn accesses(&self) -> Vec<&Access> {
        if let Expr::Access(access) = self {
            return vec![access];
        }
        self.parts().into_iter().flat_map(Expr::accesses).collect()
    }

    /// The same, to be changed.
    pub(super) fn accesses_mut(&mut self) -> Vec<&mut Access> {
        if let Expr::Access(access) = self {
            return vec![access];
        }
        self.parts_mut().into_iter().flat_map(Expr::accesses_mut).collect()
    }
}

impl Statement {
    /// The accesses of the value, in order: for a sum of products its factors.
    pub fn factors(&self) -> Vec<&Access> {
        self.value.accesses()
    }

    /// Whether it is a sum of products of elements at plain indices, or one without a sum: what a
    /// classic einsum can say.
    pub fn is_sum_of_products(&self) -> bool {
        let is_access = |expr: &Expr| matches!(expr, Expr::Access(_));
        let is_product = match &self.value {
            Expr::Access(_) => true,
            Expr::Product(factors) => factors.iter().all(is_access),
            Expr::Number(_) | Expr::Binary(..) | Expr::Power(..) | Expr::Call(..) => false,
        };
        let is_sum = self.reduced.is_empty() || self.reducer == Reducer::Sum;
        let is_plain = self.factors().iter().all(|factor| factor.gathers.is_empty());
        is_product && is_sum && is_plain && self.segment.is_none()
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
