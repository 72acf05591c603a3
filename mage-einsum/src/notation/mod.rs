//! Level 1, the notation: the text of a contraction and what stands where in it. [`parse`] makes
//! it from text, the index IR is lowered from it.

mod syntax;
mod parse;
mod classic;
mod lexeme;
mod statement;
mod expression;
mod check;
mod order;
mod mend;
mod ellipsis;
mod desugar;
mod print;

pub(crate) use desugar::desugar;
pub(crate) use ellipsis::spelled_out;
pub(crate) use expression::expression;
pub(crate) use order::{is_read, unread};
pub use parse::parse;
pub use print::print;
pub(crate) use print::print_bare;
pub use syntax::{
    Access, Classic, Expr, Extreme, Form, Index, Item, Label, Notation, Number, Range, Reduction,
    Sign, Statement, Term,
};
