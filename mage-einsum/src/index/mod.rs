//! Level 2, the index IR: what the notation means. A [`Program`] is a list of statements over
//! tensors and modes. It comes from `notation` by [`lower`] and goes to `mage-codegen`'s schedule
//! and to the oracle.

mod program;
mod roles;
mod tied;
mod lower;
mod verify;
mod merge;
mod print;

pub use lower::lower;
pub use merge::merge;
pub use print::{print, print_line, print_statement};
pub use program::{
    Access, Dtype, Expr, Extent, Mode, ModeId, Part, Program, Role, SameExtent, Statement, Tensor,
    TensorId, TensorKind,
};
pub(crate) use tied::unequal_extents;
pub use verify::verify;
