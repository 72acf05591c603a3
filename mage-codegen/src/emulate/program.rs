//! A kernel in the form that is executed: variables are slots, register arrays lie one after
//! another, every statement knows its place. `compile` makes it, `block` runs it.

use std::ops::Range;

use mage_einsum::dtype::Dtype;
use mage_einsum::function::Function;

use crate::kernel::{BinOp, Ty, Width};

/// A compiled kernel.
pub(super) struct Program {
    /// The kernel's name.
    pub name: String,
    /// Threads of a block.
    pub n_threads: usize,
    /// For each parameter its variable and type.
    pub params: Vec<(usize, Ty)>,
    /// Names and types of all registers, one an element: `acc[3]`.
    pub registers: Vec<(String, Dtype)>,
    /// Name, elements and type of the shared arrays.
    pub shared: Vec<(String, usize, Dtype)>,
    /// Names of the variables.
    pub vars: Vec<String>,
    /// What a thread does.
    pub body: Vec<Step>,
    /// The path of every statement, for traps.
    pub places: Vec<String>,
}

/// A statement.
pub(super) struct Step {
    /// Position in `Program::places`.
    pub place: usize,
    /// What it does.
    pub op: Op,
}

/// What a statement does.
pub(super) enum Op {
    /// `Stmt::Let` and `Stmt::Assign`, whose differences are checked when compiling.
    Set { var: usize, first: bool, value: Index },
    /// `Stmt::Fill`.
    Fill { registers: Range<usize>, value: f64 },
    /// `Stmt::For`; unrolled or not makes no difference to the result.
    Loop { var: usize, begin: Index, end: Index, step: u64, body: Vec<Step> },
    /// `Stmt::If`.
    Branch { when: Test, then: Vec<Step>, otherwise: Vec<Step> },
    /// `Stmt::Barrier`.
    Barrier,
    /// `Stmt::Load`.
    Load { to: Register, access: Access },
    /// `Stmt::LoadIndex`.
    LoadIndex { var: usize, access: Access },
    /// `Stmt::Store`.
    Store { from: Vec<Register>, access: Access },
    /// `Stmt::ShuffleXor`.
    Shuffle { to: Register, from: Register, lane_mask: usize },
    /// `Stmt::Copy` of so many elements; the predicate is that of `from`.
    Copy { to: Access, from: Access, elems: usize },
    /// `Stmt::CommitCopies`.
    CommitCopies,
    /// `Stmt::AwaitCopies`.
    AwaitCopies { pending: u32 },
    /// `Stmt::LoadMatrices`.
    LoadMatrices { to: Register, from: Access, transposed: bool },
    /// `Stmt::Mma`.
    Mma { acc: Register, row: Register, col: Register },
    /// `Stmt::Compute` of a number.
    Number { to: Register, value: f64 },
    /// `Stmt::Compute` of an index expression.
    NumberOf { to: Register, value: Index },
    /// `Stmt::Compute` of anything else; unused sources repeat the first.
    Compute { to: Register, operation: Operation, sources: [Register; 3] },
    /// A statement that breaks a rule whatever the values are: a trap where it is reached.
    Wrong(String),
}

/// The memory side of a load or a store.
pub(super) struct Access {
    /// Which memory.
    pub memory: Memory,
    /// In elements.
    pub offset: Index,
    /// Elements.
    pub width: Width,
    /// The predicate.
    pub when: Option<Test>,
}

/// A memory and a position in it.
#[derive(Clone, Copy)]
pub(super) enum Memory {
    /// Position in `Module::buffers`.
    Global(usize),
    /// Position in `Program::shared`.
    Shared(usize),
}

/// A register: an element of an array.
pub(super) struct Register {
    /// The elements of the array's registers.
    pub array: Range<usize>,
    /// The register.
    pub at: Index,
    /// Elements of a register: two halves, or one of anything else.
    pub word_elems: usize,
}

/// What `Stmt::Compute` does with its sources.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    /// The first.
    Copy,
    /// First plus second.
    Add,
    /// First less second.
    Sub,
    /// First times second.
    Mul,
    /// First over second.
    Div,
    /// The larger of both, or NaN.
    Max,
    /// The smaller of both, or NaN.
    Min,
    /// The function of the first.
    Call(Function),
    /// First times second plus third, rounded once.
    Fma,
    /// The first, rounded to TF32.
    Tf32,
}

/// An index expression; values of all types are kept in 64 bits, so `Widen` vanishes.
pub(super) enum Index {
    /// A number.
    Const(u64),
    /// A variable.
    Var(usize),
    /// The thread.
    Thread,
    /// The block.
    Block,
    /// An operation on values of one type.
    Binary { op: BinOp, ty: Ty, left: Box<Index>, right: Box<Index> },
    /// A trap where the value does not fit 32 bits.
    Narrow(Box<Index>),
    /// A trap where the value does not fit 63 bits.
    Signed(Box<Index>),
}

/// A predicate.
pub(super) enum Test {
    /// Strictly below.
    Less(Index, Index),
    /// All, from left to right: a part is not looked at where an earlier one does not hold.
    All(Vec<Test>),
}
