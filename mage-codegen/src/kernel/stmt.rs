//! Statements of kernels.

use mage_einsum::function::Function;

use super::{BufferId, Expr, Pred, RegId, SharedId, VarId};

/// One step of every thread.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt {
    /// Gives a variable its first value. `mutable` variables may be assigned later.
    Let {
        /// The variable; its name is new in the kernel.
        var: VarId,
        /// Its value.
        value: Expr,
    },
    /// Changes a mutable variable.
    Assign {
        /// A variable that a `Let` gave a value.
        var: VarId,
        /// The new value.
        value: Expr,
    },
    /// Gives every register of an array a value; stands before any other use of the array, and
    /// may stand again (inside a loop, as the start of a partial sum).
    Fill {
        /// The array.
        reg: RegId,
        /// The value of each element.
        value: f32,
    },
    /// `for var in (begin..end).step_by(step)`. An unrolled loop has constant bounds.
    For {
        /// The loop's variable, fresh in every turn.
        var: VarId,
        /// First value.
        begin: Expr,
        /// One past the last value.
        end: Expr,
        /// Distance from turn to turn; at least 1.
        step: u32,
        /// Whether the source asks for complete unrolling.
        unroll: bool,
        /// What a turn does.
        body: Vec<Stmt>,
    },
    /// Runs `then` in the threads where `when` holds, `otherwise` in the others.
    If {
        /// The condition.
        when: Pred,
        /// Where it holds.
        then: Vec<Stmt>,
        /// Where it does not.
        otherwise: Vec<Stmt>,
    },
    /// Orders all shared accesses of the block before it against those after; reached by all
    /// threads or none.
    Barrier,
    /// Reads `width` consecutive elements into consecutive registers; where `when` does not hold,
    /// nothing is read and the registers become zero.
    Load {
        /// First register.
        to: Reg,
        /// First element.
        from: Place,
        /// How many, in one access.
        width: Width,
        /// The predicate of an edge access.
        when: Option<Pred>,
    },
    /// Gives a variable, which is 32 bits and not mutable, the element of an index buffer: a
    /// number below the extent that the buffer's elements are below, or a row pointer, because the
    /// host has required it.
    LoadIndex {
        /// The variable; its name is new in the kernel.
        var: VarId,
        /// The element.
        from: Place,
    },
    /// Writes `width` consecutive registers to consecutive elements; where `when` does not hold,
    /// nothing is written.
    Store {
        /// First element.
        to: Place,
        /// The registers, as many as the width has elements, in order.
        from: Vec<Reg>,
        /// How many, in one access.
        width: Width,
        /// The predicate of an edge access.
        when: Option<Pred>,
    },
    /// `to` becomes what `from` is in the thread of the same warp whose lane differs in the bits of
    /// `lane_mask`; reached by all 32 threads of a warp or none.
    ShuffleXor {
        /// The register that is written.
        to: Reg,
        /// The register that the other lane reads.
        from: Reg,
        /// 1 to 31.
        lane_mask: u32,
    },
    /// Starts to copy `elems` consecutive elements, 16 bytes or 4, from global to shared memory;
    /// where `when` does not hold, nothing is read and zeros are written. The copy goes on beside
    /// what its thread does next, until the thread waits for its group.
    Copy {
        /// First element, in shared memory.
        to: Place,
        /// First element, in global memory; its type is that of `to`.
        from: Place,
        /// How many.
        elems: u32,
        /// The predicate of an edge copy.
        when: Option<Pred>,
    },
    /// Makes a group of the copies that the thread has started since it made the last one.
    CommitCopies,
    /// Waits until no more than so many of the thread's youngest groups go on. What they copied is
    /// there for this thread, and behind a barrier for the others.
    AwaitCopies {
        /// Groups that may go on.
        pending: u32,
    },
    /// Reads four matrices of eight rows of 16 bytes from shared memory into four consecutive
    /// registers, one a matrix; reached by all 32 threads of a warp or none. Lane `l` says where
    /// row `l % 8` of matrix `l / 8` is. It gets of every matrix what stands in row `l / 4` at the
    /// place of a word, `l % 4`: one f32 or two halves. Transposed, which halves can be, it gets
    /// the two that stand there when rows and columns are exchanged (PTX ISA, "ldmatrix").
    LoadMatrices {
        /// The first of four registers.
        to: Reg,
        /// The row that this lane names.
        from: Place,
        /// Whether rows and columns are exchanged.
        transposed: bool,
    },
    /// `acc += row * col` by the tensor cores, where a warp holds three matrices together: 16x8
    /// sums in f32, and two factors of 16 rows and 8 columns whose depth is 16 for halves and 8
    /// for f32, which must be rounded to TF32 before. Each product is exact; sums are cut off to
    /// f32, not rounded, and more than once. Reached by all 32 threads of a warp or none. Which
    /// element is in which lane: [`Fragment`](crate::fragment::Fragment).
    Mma {
        /// The first of four sums.
        acc: Reg,
        /// The first of four registers of the row factor.
        row: Reg,
        /// The first of two registers of the column factor.
        col: Reg,
    },
    /// `to = value` in registers.
    Compute {
        /// The register that is written.
        to: Reg,
        /// The value, rounded once.
        value: Value,
    },
}

impl Stmt {
    /// A loop from `begin` to below `end`.
    pub fn serial(var: VarId, [begin, end]: [Expr; 2], step: u32, body: Vec<Stmt>) -> Stmt {
        Stmt::For { var, begin, end, step, unroll: false, body }
    }

    /// An unrolled loop from 0 to below `turns`.
    pub fn unrolled(var: VarId, turns: u32, body: Vec<Stmt>) -> Stmt {
        let (begin, end) = (Expr::u32(0), Expr::u32(turns));
        Stmt::For { var, begin, end, step: 1, unroll: true, body }
    }
}

/// One register of an array; `at` is made of literals and unrolled loop variables (32 bits).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reg {
    /// The array.
    pub array: RegId,
    /// The element.
    pub at: Expr,
}

/// A place in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Which memory.
    pub space: Space,
    /// In elements from the array's start: 64 bits in global memory, with a sign in a strided
    /// buffer, and 32 bits in shared memory. A four-wide access starts at a multiple of 4.
    pub offset: Expr,
}

/// A memory and an array in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// A buffer of the module.
    Global(BufferId),
    /// A shared array of the kernel.
    Shared(SharedId),
}

/// Elements in one access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// One element.
    One,
    /// Two elements, 8 bytes or 4 where they are halves, aligned to as many.
    Two,
    /// Four elements, 16 bytes or 8 where they are halves, aligned to as many.
    Four,
}

impl Width {
    /// The width of an access of 1, 2 or 4 elements.
    pub fn of(elems: u32) -> Width {
        match elems {
            2 => Width::Two,
            4 => Width::Four,
            _ => Width::One,
        }
    }

    /// The number of elements.
    pub fn elems(self) -> u32 {
        match self {
            Width::One => 1,
            Width::Two => 2,
            Width::Four => 4,
        }
    }
}

/// What a register can become.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// The same value.
    Copy(Reg),
    /// A number, rounded to the register's type.
    Number(f64),
    /// The value of an index expression without a sign, rounded to the register's type.
    Index(Expr),
    /// The sum.
    Add(Reg, Reg),
    /// The first less the second.
    Sub(Reg, Reg),
    /// The product.
    Mul(Reg, Reg),
    /// The first over the second.
    Div(Reg, Reg),
    /// The larger one; NaN where one of both is (IEEE 754-2019, 9.6, "maximum"). Of two zeros,
    /// either.
    Max(Reg, Reg),
    /// The smaller one; NaN where one of both is (the same, "minimum"). Of two zeros, either.
    Min(Reg, Reg),
    /// A function of one number. A kernel's result lies as near to it as
    /// [`Function::relative_roundoffs`] and [`Function::absolute_error`] say.
    Call(Function, Reg),
    /// `first * second + third`, rounded once.
    Fma(Reg, Reg, Reg),
    /// The nearest number with the 11 significant bits of TF32, of two the larger one (PTX ISA,
    /// "cvt", `.rna`).
    Tf32(Reg),
}
