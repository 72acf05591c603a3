//! Which element of a matrix is in which register of which lane, where the tensor cores multiply.

/// Lanes that hold the words of one row of a fragment.
const ROW_LANES: usize = 4;

/// The matrices that one instruction multiplies: 16 x `depth` times `depth` x 8. A lane holds four
/// registers of the row factor, two of the column factor and four sums; a register of a factor
/// holds one f32 or two halves (PTX ISA, "Matrix Fragments for mma.m16n8k16" and "mma.m16n8k8").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment {
    /// Elements of a register of a factor: 1 of f32, 2 of halves.
    pub word_elems: usize,
}

/// Where an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// The lane.
    pub lane: usize,
    /// The register, counted in elements: two a register for halves.
    pub elem: usize,
}

impl Fragment {
    /// Rows of the sums.
    pub const ROWS: usize = 16;
    /// Columns of the sums.
    pub const COLS: usize = 8;
    /// Sums of a lane.
    pub const SUMS: usize = 4;
    /// Registers of the row factor.
    pub const ROW_WORDS: usize = 4;
    /// Registers of the column factor.
    pub const COL_WORDS: usize = 2;

    /// The fragment of elements of so many bytes, 2 or 4.
    pub fn of_bytes(bytes: u64) -> Fragment {
        Fragment { word_elems: if bytes == 2 { 2 } else { 1 } }
    }

    /// Products of one sum.
    pub fn depth(self) -> usize {
        2 * ROW_LANES * self.word_elems
    }

    /// Where the row factor's element of a row and a depth is.
    pub fn row_factor(self, row: usize, depth: usize) -> Held {
        self.held(row, depth, row / 8 + 2 * self.half(depth))
    }

    /// Where the column factor's element of a depth and a column is.
    pub fn col_factor(self, depth: usize, col: usize) -> Held {
        self.held(col, depth, self.half(depth))
    }

    /// Where the sum of a row and a column is.
    pub fn sum(row: usize, col: usize) -> Held {
        Held { lane: row % 8 * ROW_LANES + col / 2, elem: row / 8 * 2 + col % 2 }
    }

    fn half(self, depth: usize) -> usize {
        depth / (ROW_LANES * self.word_elems)
    }

    fn held(self, line: usize, depth: usize, word: usize) -> Held {
        let place = depth % (ROW_LANES * self.word_elems);
        Held {
            lane: line % 8 * ROW_LANES + place / self.word_elems,
            elem: word * self.word_elems + place % self.word_elems,
        }
    }
}
