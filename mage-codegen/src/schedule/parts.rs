//! The types of a sum in parts: which sums are so long, and their blocks so few, that each block
//! should sum a part, and a second kernel the parts.

/// When the host splits a sum over blocks, and into parts of which length. How many parts there are
/// follows from the extents of the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// What lengths are counted in.
    pub unit: Unit,
    /// Sums of at least this length.
    pub min_len: u64,
    /// At most so many blocks without parts.
    pub max_blocks: u32,
    /// Blocks that all parts have together, or a few more.
    pub blocks: u32,
    /// The length of a part is a multiple of this.
    pub unit_len: u32,
    /// A part is no longer than about this, however many blocks that makes.
    pub max_len: Option<u32>,
}

/// What the length of a sum is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Terms of an output.
    Terms,
    /// Steps of a mainloop.
    Steps,
}

impl Unit {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Terms => "terms",
            Unit::Steps => "steps",
        }
    }
}

impl Parts {
    /// When, in words.
    pub fn words(&self) -> String {
        let Parts { unit, min_len, max_blocks, .. } = self;
        let unit = unit.name();
        format!("at least {min_len} {unit} in at most {max_blocks} blocks, with a workspace")
    }

    /// How, in words.
    pub fn lengths(&self) -> String {
        let Parts { unit_len, blocks, .. } = self;
        format!("parts of {unit_len} or a multiple, {blocks} blocks in all")
    }
}
