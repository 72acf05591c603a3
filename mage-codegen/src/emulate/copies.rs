//! Asynchronous copies on their way into shared memory: which thread started them, and in which of
//! its groups.

use super::mask::Mask;

/// Most elements of a copy: 16 bytes of halves.
pub(super) const MOST_ELEMS: usize = 8;

/// What a copy brings, where.
#[derive(Clone, Copy)]
pub(super) struct Landing {
    /// The thread that started it.
    pub lane: usize,
    /// Position in `Program::shared`.
    pub array: usize,
    /// The first cell.
    pub place: usize,
    /// How many cells.
    pub elems: usize,
    /// Their values, from the first on.
    pub values: [f64; MOST_ELEMS],
}

/// The copies of a block that nobody waited for yet.
pub(super) struct Copies {
    /// Each with the number of its thread's group.
    flying: Vec<(u32, Landing)>,
    /// Groups that each thread has made.
    made: Vec<u32>,
}

impl Copies {
    /// None.
    pub fn new(n_threads: usize) -> Copies {
        Copies { flying: Vec::new(), made: vec![0; n_threads] }
    }

    /// Forgets all.
    pub fn enter(&mut self) {
        self.flying.clear();
        self.made.fill(0);
    }

    /// A copy is under way, in the group that its thread makes next.
    pub fn start(&mut self, landing: Landing) {
        self.flying.push((self.made[landing.lane], landing));
    }

    /// Each of the running threads makes a group.
    pub fn commit(&mut self, mask: &Mask) {
        mask.each(|lane| self.made[lane] += 1);
    }

    /// Takes out the copies of the running threads' groups but for the youngest ones.
    pub fn land(&mut self, pending: u32, mask: &Mask) -> Vec<Landing> {
        let is_due = |(group, landing): &(u32, Landing)| {
            let runs = mask.is_full() || mask.lanes().binary_search(&landing.lane).is_ok();
            runs && *group < self.made[landing.lane].saturating_sub(pending)
        };
        let landed = self.flying.iter().filter(|one| is_due(one)).map(|(_, one)| *one).collect();
        let flying = self.flying.iter().filter(|one| !is_due(one)).copied().collect();
        self.flying = flying;
        landed
    }
}
