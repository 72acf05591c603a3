//! The type of a sum in parts: which sums are so long, and their blocks so few, that each block
//! should sum a part of the terms, and a second kernel the parts.

/// When the host splits a sum over blocks, and into parts of which length. How many parts there are
/// follows from the extents of the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// At least so many terms an output.
    pub min_terms: u64,
    /// At most so many blocks without parts.
    pub max_blocks: u32,
    /// Blocks that all parts have together, or a few more.
    pub blocks: u32,
    /// The terms of a part are a multiple of this.
    pub unit_terms: u32,
}

impl Parts {
    /// When, in words.
    pub fn words(&self) -> String {
        let Parts { min_terms, max_blocks, .. } = self;
        format!("at least {min_terms} terms in at most {max_blocks} blocks, with a workspace")
    }
}
