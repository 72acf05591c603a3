//! The options of a spec, `tile = 64, name = matmul`: one parser for macro, command line and spec
//! files. They decide nothing here; lowering takes the extents, `mage-codegen` the rest.

mod raw;
mod parse;
mod epilogue;
mod outputs;
mod print;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use crate::diagnostic::Span;
use crate::dtype::Dtype;
use crate::index::Layout;
use crate::precision::Precision;

pub use epilogue::Epilogue;
pub use parse::parse;

/// What the user asked for beside the notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The tile's extents; chosen where it is absent.
    pub tile: Option<Tile>,
    /// The name of the kernel's module, a snake-case Rust identifier.
    pub name: Option<String>,
    /// Extents known at compile time, by label.
    pub extents: BTreeMap<String, u32>,
    /// The device to plan for, by the name that `mage-codegen` knows it by.
    pub device: Option<String>,
    /// The element type of the operands.
    pub dtype: Dtype,
    /// The element type of the outputs; that of the operands where it is absent.
    pub out: Option<Dtype>,
    /// How exactly operands are multiplied.
    pub precision: Precision,
    /// Whether the result is added to what the output holds.
    pub accumulate: bool,
    /// How every operand lies in its buffer; the output is row-major.
    pub strides: Layout,
    /// The rank of each operand, from which follows what `...` stands for.
    pub ranks: Option<Vec<usize>>,
    /// The order in which operands are contracted: pairs of positions in the list of those that
    /// are left, as opt_einsum writes them. Chosen where it is absent.
    pub path: Option<Vec<(usize, usize)>>,
    /// The tensors that are returned, in the order in which a launch takes them; that of the last
    /// statement where this is absent.
    pub outputs: Option<Vec<String>>,
    /// What is computed from each result of a classic einsum before it is stored.
    pub epilogue: Option<Epilogue>,
    /// Where each value stands in the option text, by key; the extent of label `k` is under
    /// `extents.k`, the output `m` under `outputs.m`. Later levels point at it when they refuse a
    /// value.
    pub spans: BTreeMap<String, Span>,
}

/// The extents of a block's tile in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tile {
    /// `tile = 64`: M and N tiles of this extent, the K tile is chosen.
    Square(NonZeroU32),
    /// `tile = (m, n, k)`: all three.
    Triple {
        /// Extent along the modes of the left operand.
        m: NonZeroU32,
        /// Extent along the modes of the right operand.
        n: NonZeroU32,
        /// Extent along the contracted modes.
        k: NonZeroU32,
    },
}

impl Default for Options {
    fn default() -> Options {
        Options {
            tile: None,
            name: None,
            extents: BTreeMap::new(),
            device: None,
            dtype: Dtype::F32,
            out: None,
            precision: Precision::Full,
            accumulate: false,
            strides: Layout::RowMajor,
            ranks: None,
            path: None,
            outputs: None,
            epilogue: None,
            spans: BTreeMap::new(),
        }
    }
}

impl Options {
    /// The same options for operands of these ranks, as a library knows them from its arrays.
    pub fn with_ranks(&self, ranks: &[usize]) -> Options {
        Options { ranks: Some(ranks.to_vec()), ..self.clone() }
    }

    /// Where the value of `key` stands in the option text, if it is given.
    pub fn span_of(&self, key: &str) -> Option<Span> {
        self.spans.get(key).copied()
    }

    /// The canonical option text: options in a fixed order, none that equals its default.
    pub fn print(&self) -> String {
        print::print(self)
    }
}
