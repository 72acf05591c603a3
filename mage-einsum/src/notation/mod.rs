//! Level 1, the notation: the text of a contraction and what stands where in it. [`parse`] makes
//! it from text, the index IR is lowered from it.

mod syntax;
mod parse;
mod classic;
mod lexeme;
mod statement;
mod check;
mod mend;
mod ellipsis;
mod desugar;
mod print;

pub(crate) use desugar::desugar;
pub(crate) use ellipsis::spelled_out;
pub use parse::parse;
pub use print::print;
pub use syntax::{Access, Classic, Form, Item, Label, Notation, Statement, Term};
