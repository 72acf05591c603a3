//! Statements of kernels.

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
    /// Four elements, 16 bytes or 8 where they are halves, aligned to as many.
    Four,
}

impl Width {
    /// The width of an access of 1 or 4 elements.
    pub fn of(elems: u32) -> Width {
        if elems == 4 { Width::Four } else { Width::One }
    }

    /// The number of elements.
    pub fn elems(self) -> u32 {
        match self {
            Width::One => 1,
            Width::Four => 4,
        }
    }
}

/// What a register can become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// The same value.
    Copy(Reg),
    /// The sum.
    Add(Reg, Reg),
    /// The product.
    Mul(Reg, Reg),
    /// `first * second + third`, rounded once.
    Fma(Reg, Reg, Reg),
}
