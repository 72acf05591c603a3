//! Levels 1 and 2 of Mage: einsum notation and its index IR, with the option parser, the
//! diagnostics and the CPU oracle. Nothing here knows of GPUs or of tokens.
//!
//! The line through this crate: [`notation::parse`] reads text, [`index::lower`] gives it meaning,
//! [`oracle::evaluate`] says what the right values are.
//!
//! ```
//! use mage_einsum::{index, notation, options::Options, oracle};
//! use ndarray::array;
//!
//! let notation = notation::parse("ik,kj->ij")?;
//! let program = index::lower(&notation, &Options::default())?;
//! assert_eq!(index::print_statement(&program), "out[i,j] = sum(k) A[i,k] * B[k,j]");
//!
//! let (a, b) = (array![[1.0, 2.0]].into_dyn(), array![[3.0], [4.0]].into_dyn());
//! let product = oracle::evaluate(&program, &[a.view(), b.view()])?;
//! assert_eq!(product[0].values, array![[11.0]].into_dyn());
//! # Ok::<(), mage_einsum::diagnostic::Diagnostics>(())
//! ```

#![allow(
    clippy::result_large_err,
    reason = "a diagnostic is made once a run, so what it says matters more than its size"
)]

pub mod diagnostic;
mod token;
pub mod spec;
pub mod options;
pub mod dtype;
pub mod function;
pub mod reducer;
pub mod precision;
pub mod notation;
pub mod index;
pub mod binding;
pub mod fill;
pub mod view;
pub mod oracle;
pub mod tolerance;
