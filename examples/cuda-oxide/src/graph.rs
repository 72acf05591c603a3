//! Graphs in CSR form for the kernels with index operands: rows whose degrees are spread in several
//! ways over so many edges. `graph.py` makes the same ones for the peers.

use mage::fill::{hash_value, pointers};

/// The seed of the edges that choose their rows.
const SEED: u32 = 5;

/// How the edges are spread over the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Degrees {
    /// As many for each row, but for one more or less.
    Even,
    /// Some rows have none.
    Gaps,
    /// By a power law: the row of rank r has edges in proportion to r^(-2/3), so that the number of
    /// rows of degree d falls as d^(-5/2). The ranks are scattered over the rows.
    Power,
    /// One row in the midst has all.
    Giant,
}

impl Degrees {
    /// All of them.
    pub const ALL: [Degrees; 4] = [Degrees::Even, Degrees::Gaps, Degrees::Power, Degrees::Giant];

    /// The name in a record.
    pub fn name(self) -> &'static str {
        match self {
            Degrees::Even => "even",
            Degrees::Gaps => "gaps",
            Degrees::Power => "power",
            Degrees::Giant => "giant",
        }
    }

    /// The row pointers.
    pub fn pointers(self, n_rows: usize, n_edges: usize) -> Vec<u32> {
        match self {
            Degrees::Even => (0..=n_rows).map(|row| share(row, n_rows, n_edges)).collect(),
            Degrees::Gaps => pointers(SEED, n_rows, n_edges as u64),
            Degrees::Power => power(n_rows, n_edges),
            Degrees::Giant => {
                (0..=n_rows).map(|row| if row > n_rows / 2 { n_edges as u32 } else { 0 }).collect()
            }
        }
    }
}

/// Where a row begins among rows of one length.
fn share(row: usize, n_rows: usize, n_edges: usize) -> u32 {
    (row as u64 * n_edges as u64 / n_rows.max(1) as u64) as u32
}

/// Each edge draws a uniform number u, and its row's rank is the share u^3 of the rows. Twenty-one
/// bits of u keep the cube within 63.
fn power(n_rows: usize, n_edges: usize) -> Vec<u32> {
    let mut degrees = vec![0_u32; n_rows];
    for edge in 0..n_edges as u32 {
        let uniform = u64::from(hash_value(edge, SEED) >> 11);
        let rank = (uniform.pow(3) >> 31) * n_rows as u64 >> 32;
        degrees[scattered(rank, n_rows as u64)] += 1;
    }
    let mut end = 0;
    let ends = degrees.iter().map(|degree| {
        end += degree;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

/// The row of a rank: the multiplier is a prime (Knuth, The Art of Computer Programming, volume 3,
/// section 6.4), so that no two ranks share a row.
fn scattered(rank: u64, n_rows: u64) -> usize {
    (rank * 2_654_435_761 % n_rows) as usize
}
