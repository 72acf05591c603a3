//! The host's steps as data: what is checked before anything is launched, which variant is taken,
//! and with what grid. The emulator runs them and `emit` prints them as the body of `launch`.
//! Arithmetic is checked: an operation that leaves 64 bits is `SizeOverflow`.

use super::BufferId;

/// An unsigned 64-bit host value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostExpr {
    /// A number.
    Const(u64),
    /// The extent of the label at this position in `Module::labels`.
    Extent(usize),
    /// How many parts of long rows a buffer of use `Listed` holds.
    Listed(BufferId),
    /// The product; 1 when empty.
    Product(Vec<HostExpr>),
    /// The quotient, rounded up; the divisor is not zero where it is reached.
    CeilDiv(Box<HostExpr>, Box<HostExpr>),
    /// The sum; 0 when empty.
    Sum(Vec<HostExpr>),
    /// The next multiple of a constant.
    RoundUp(Box<HostExpr>, u64),
    /// The value, or the constant where that is larger.
    Max(Box<HostExpr>, u64),
    /// The least of some values, of which there are two or more.
    Min(Vec<HostExpr>),
    /// The value where the condition holds, and 0, without a look at the value, elsewhere.
    Where(Box<HostPred>, Box<HostExpr>),
}

impl HostExpr {
    /// The number, for a constant.
    pub fn as_const(&self) -> Option<u64> {
        if let HostExpr::Const(number) = self { Some(*number) } else { None }
    }

    /// Positions of the labels whose extents it depends on, in order of first appearance.
    pub fn labels(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.collect_labels(&mut found);
        found
    }

    fn collect_labels(&self, into: &mut Vec<usize>) {
        match self {
            HostExpr::Const(_) | HostExpr::Listed(_) => {}
            HostExpr::Extent(label) => {
                if !into.contains(label) {
                    into.push(*label);
                }
            }
            HostExpr::Product(parts) | HostExpr::Sum(parts) | HostExpr::Min(parts) => {
                parts.iter().for_each(|part| part.collect_labels(into));
            }
            HostExpr::CeilDiv(value, divisor) => {
                value.collect_labels(into);
                divisor.collect_labels(into);
            }
            HostExpr::RoundUp(value, _) | HostExpr::Max(value, _) => value.collect_labels(into),
            HostExpr::Where(when, value) => {
                when.values().into_iter().for_each(|value| value.collect_labels(into));
                value.collect_labels(into);
            }
        }
    }

    /// The product, without factors of one; a number where all factors are and it fits.
    pub fn product(factors: impl IntoIterator<Item = HostExpr>) -> HostExpr {
        let mut factors: Vec<HostExpr> =
            factors.into_iter().filter(|factor| factor.as_const() != Some(1)).collect();
        let folded = factors
            .iter()
            .try_fold(1_u64, |product, factor| product.checked_mul(factor.as_const()?));
        match (folded, factors.len()) {
            (Some(number), _) => HostExpr::Const(number),
            (None, 1) => factors.remove(0),
            (None, _) => HostExpr::Product(factors),
        }
    }

    /// The quotient by a constant that is not zero, rounded up.
    pub fn ceil_div(self, divisor: u64) -> HostExpr {
        self.ceil_div_by(HostExpr::Const(divisor))
    }

    /// The quotient by a value that is not zero where it is reached, rounded up.
    pub fn ceil_div_by(self, divisor: HostExpr) -> HostExpr {
        match (self.as_const(), divisor.as_const()) {
            (_, Some(1)) => self,
            (Some(number), Some(divisor @ 2..)) => HostExpr::Const(number.div_ceil(divisor)),
            (_, _) => HostExpr::CeilDiv(Box::new(self), Box::new(divisor)),
        }
    }

    /// The value where all conditions hold, which is always where there is none; else 0.
    pub fn only_where(self, conditions: Vec<HostPred>) -> HostExpr {
        match conditions.len() {
            0 => self,
            _ => HostExpr::Where(Box::new(HostPred::All(conditions)), Box::new(self)),
        }
    }

    /// The value, or a constant where that is larger.
    pub fn max(self, least: u64) -> HostExpr {
        match self.as_const() {
            Some(number) => HostExpr::Const(number.max(least)),
            None => HostExpr::Max(Box::new(self), least),
        }
    }

    /// The least of some values; a number where all are.
    pub fn min(mut values: Vec<HostExpr>) -> HostExpr {
        let known: Option<Vec<u64>> = values.iter().map(HostExpr::as_const).collect();
        match (known.and_then(|known| known.into_iter().min()), values.len()) {
            (Some(number), _) => HostExpr::Const(number),
            (None, 1) => values.remove(0),
            (None, _) => HostExpr::Min(values),
        }
    }

    /// The sum; a number where all terms are and it fits.
    pub fn sum(terms: impl IntoIterator<Item = HostExpr>) -> HostExpr {
        let mut terms: Vec<HostExpr> =
            terms.into_iter().filter(|term| term.as_const() != Some(0)).collect();
        let folded = terms.iter().try_fold(0_u64, |sum, term| sum.checked_add(term.as_const()?));
        match (folded, terms.len()) {
            (Some(number), _) => HostExpr::Const(number),
            (None, 1) => terms.remove(0),
            (None, _) => HostExpr::Sum(terms),
        }
    }

    /// The next multiple of a constant that is not zero.
    pub fn round_up(self, multiple: u64) -> HostExpr {
        match self.as_const().and_then(|number| number.checked_next_multiple_of(multiple)) {
            Some(number) => HostExpr::Const(number),
            None => HostExpr::RoundUp(Box::new(self), multiple),
        }
    }
}

/// A condition that the host can decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostPred {
    /// At most the limit.
    AtMost(HostExpr, u64),
    /// The limit or more.
    AtLeast(HostExpr, u64),
    /// A multiple of the number.
    MultipleOf(HostExpr, u64),
    /// Zero.
    IsZero(HostExpr),
    /// Both are equal.
    Equal(HostExpr, HostExpr),
    /// The first is at most the second.
    NotAbove(HostExpr, HostExpr),
    /// The buffer's element count is this.
    LengthIs(BufferId, HostExpr),
    /// The buffer's element count is this or more; it is not where this cannot be said in 64
    /// bits.
    LengthAtLeast(BufferId, HostExpr),
    /// The buffer's address is a multiple of so many bytes; of a strided buffer the address of
    /// the element where the view begins.
    AlignedTo(BufferId, u64),
    /// Every element of the view of a strided buffer lies in the buffer.
    InBuffer(BufferId),
    /// The stride of a dimension of a strided buffer is 1.
    UnitStride(BufferId, usize),
    /// The stride of a dimension of a strided buffer is a multiple of the number, or of no account
    /// because the extent is 1 or 0.
    StrideMultipleOf(BufferId, usize, u64),
    /// The elements of an index buffer were found to be below this or less.
    IndicesBelow(BufferId, HostExpr),
    /// The elements of an index buffer were found to be row pointers that end at this.
    PointersInto(BufferId, HostExpr),
    /// All of them; true when empty.
    All(Vec<HostPred>),
}

impl HostPred {
    /// The values that it compares.
    pub fn values(&self) -> Vec<&HostExpr> {
        match self {
            HostPred::AtMost(expr, _)
            | HostPred::AtLeast(expr, _)
            | HostPred::MultipleOf(expr, _)
            | HostPred::IsZero(expr)
            | HostPred::LengthIs(_, expr)
            | HostPred::LengthAtLeast(_, expr)
            | HostPred::IndicesBelow(_, expr)
            | HostPred::PointersInto(_, expr) => vec![expr],
            HostPred::Equal(left, right) | HostPred::NotAbove(left, right) => vec![left, right],
            HostPred::AlignedTo(..)
            | HostPred::InBuffer(_)
            | HostPred::UnitStride(..)
            | HostPred::StrideMultipleOf(..) => Vec::new(),
            HostPred::All(all) => all.iter().flat_map(HostPred::values).collect(),
        }
    }
}

/// What `launch` says when a requirement does not hold. The rendered message names the label or
/// the buffer, both sides, and the limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostError {
    /// A label's extent is not below the limit that a coordinate has.
    ExtentLimit {
        /// Position in `Module::labels`.
        label: usize,
        /// The largest allowed extent.
        limit: u64,
    },
    /// The extent differs from the one that the option `extents` fixed.
    FixedExtent {
        /// Position in `Module::labels`.
        label: usize,
        /// The fixed extent.
        fixed: u64,
    },
    /// Two labels index one dimension of one tensor but differ.
    ExtentMismatch {
        /// Position in `Module::labels`.
        first: usize,
        /// Position in `Module::labels`.
        other: usize,
        /// The tensor both index.
        buffer: BufferId,
    },
    /// A product of extents leaves 64 bits, or the buffer would pass 2^63 bytes.
    SizeOverflow {
        /// The buffer whose size it is.
        buffer: BufferId,
    },
    /// The buffer's element count is not the product of its extents.
    LengthMismatch {
        /// The buffer.
        buffer: BufferId,
    },
    /// An element of the view of a strided buffer lies outside the buffer.
    OutOfBuffer {
        /// The buffer.
        buffer: BufferId,
    },
    /// The indices of an index buffer were found to be below more than a label's extent, or its
    /// row pointers to end elsewhere.
    IndexOutOfRange {
        /// The buffer.
        buffer: BufferId,
    },
    /// The workspace has fewer elements than the temporaries need.
    WorkspaceTooShort {
        /// The workspace.
        buffer: BufferId,
        /// The elements it must have.
        need: HostExpr,
    },
    /// A grid or a coordinate of merged labels would pass its limit.
    LaunchLimit {
        /// What passes the limit, in words: `blocks in the grid`, `the extent of ab`.
        what: String,
        /// The value, as an expression.
        need: HostExpr,
        /// The largest allowed value.
        limit: u64,
    },
}

/// One step of the host.
#[derive(Debug, Clone, PartialEq)]
pub enum HostStep {
    /// Ends with the error unless the condition holds. An overflow while deciding is the same
    /// error.
    Require {
        /// What must hold.
        that: HostPred,
        /// What is said otherwise.
        error: HostError,
    },
    /// Ends well, without a launch, where the condition holds: the output has no elements.
    ReturnIf(HostPred),
    /// Gives a value a name, under which the later steps of the same list show it.
    Let {
        /// A Rust identifier in snake case.
        name: String,
        /// The value.
        value: HostExpr,
    },
    /// Takes the first arm whose condition holds; the last arm's always does.
    Select(Vec<Arm>),
    /// Does the steps unless the condition holds: a temporary without elements needs no launch.
    Unless(HostPred, Vec<HostStep>),
    /// Launches a kernel on the caller's stream, after all earlier launches, with the buffers that
    /// it touches and its parameters.
    Launch {
        /// Position in `Module::kernels`.
        kernel: usize,
        /// Blocks of the one-dimensional grid; 1 to 2^31-1 by an earlier `Require`.
        blocks: HostExpr,
    },
}

/// One variant under a `Select`.
#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    /// The variant's name, for example `wide`.
    pub name: String,
    /// Whether it can run safely on these extents and buffers.
    pub eligible: HostPred,
    /// What it does.
    pub steps: Vec<HostStep>,
}
