//! The contraction path: a statement with three or more factors becomes statements of two, in an
//! order that is chosen from the extents or given by the user, with temporaries between them
//! (rule R17). It takes a program and gives one; what it decided is told in a [`PathReport`].

mod size;
mod pair;
mod choose;
mod given;
mod pairs;
mod count;
mod report;

pub use count::Count;
pub use pairs::pairs;
pub use report::{Order, PathReport, PathStep};
