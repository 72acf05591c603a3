//! Level 2, the index IR: what the notation means. A [`Program`] is a list of statements over
//! tensors and modes. It comes from `notation` by [`lower`] and goes to `mage-codegen`'s schedule
//! and to the oracle.

mod program;
mod roles;
mod tied;
mod ranks;
mod outputs;
mod lower;
mod lowering;
mod sort;
mod verify;
mod merge;
mod print;
mod path;
mod unify;
mod center;
mod grad;

pub use center::{Centered, center, centered};
pub use grad::{Gradient, gradients};
pub use lower::lower;
pub use merge::merge;
pub use path::{Count, Order, PathReport, PathStep, pairs};
pub use print::{expr, print, print_line, print_statement};
pub use program::{
    Access, Expr, Extent, Gather, Layout, Mode, ModeId, Operator, Part, Program, Role, SameExtent,
    Segment, Statement, Tensor, TensorId, TensorKind,
};
pub(crate) use ranks::{labels_of, ranks_fit};
pub(crate) use tied::unequal_extents;
pub use unify::unify;
pub use verify::verify;
