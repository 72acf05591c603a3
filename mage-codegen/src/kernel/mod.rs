//! Level 4, the kernel IR: the host's steps and typed kernels with memory spaces, predicates and
//! barriers. A [`Module`] comes from the schedule by [`lower`]; the emulator defines what it means
//! and `emit` turns it into Rust one node at a time.

mod module;
mod host;
mod long_rows;
mod expr;
mod stmt;
pub mod function;
pub mod lower;
mod describe;
mod wording;
pub(crate) mod walk;
mod verify;
mod print;

pub(crate) use describe::describe;
pub use expr::{BinOp, Expr, Pred, Ty, VarId};
pub use function::has_kernel;
pub use host::{Arm, HostError, HostExpr, HostPred, HostStep};
pub use long_rows::{ENTRY_ELEMS, parts_of_long_rows, parts_of_long_rows_source};
pub use module::{
    Buffer, BufferId, BufferUse, IndexUse, Kernel, Label, Module, Param, ParamValue, Provenance,
    REGION_ELEMS, RegArray, RegId, Region, SharedArray, SharedId, Var, Workspace,
};
pub use print::{host_expr, print, workspace_extent};
pub use stmt::{Place, Reg, Space, Stmt, Value, Width};
pub use verify::verify;
pub use wording::{Piece, code, wording};
