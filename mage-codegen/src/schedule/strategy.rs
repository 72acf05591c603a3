//! A schedule and the strategies it can choose from.

use std::ops::RangeInclusive;

use mage_einsum::index::{Access, PathReport, Program, Statement, TensorId, TensorKind};

use super::{Elementwise, Family, Reduction, Rows, Segments, Transpose};
use crate::device::Device;

/// How a program is run: its launches in order, each covering one statement or more.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// The canonical program, with adjacent modes merged; the levels below read nothing above.
    pub program: Program,
    /// How the product became a sequence of pairs, and what that costs; `None` where one launch
    /// takes it as written.
    pub path: Option<PathReport>,
    /// A Rust identifier for the whole, from the option `name` or from notation and tile.
    pub name: String,
    /// The options as text, kept for headers.
    pub options: String,
    /// The device it was chosen for.
    pub device: &'static Device,
    /// In order; together they cover every statement once.
    pub launches: Vec<Launch>,
}

impl Schedule {
    /// What the last statement of a launch writes.
    pub fn target(&self, launch: &Launch) -> &Access {
        &self.program.statements[launch.last].target
    }

    /// What a launch writes to memory, in the order of its statements.
    pub fn stored(&self, launch: &Launch) -> Vec<&Access> {
        let targets = launch.statements().map(|at| &self.program.statements[at].target);
        targets.filter(|target| !self.is_in_registers(target.tensor)).collect()
    }

    /// Whether a temporary never leaves the registers of its launch.
    pub fn is_in_registers(&self, tensor: TensorId) -> bool {
        let is_inner = |launch: &Launch| {
            let inner = launch.statement..launch.last;
            inner.into_iter().any(|at| self.program.statements[at].target.tensor == tensor)
        };
        self.program.tensor(tensor).kind == TensorKind::Temp && self.launches.iter().any(is_inner)
    }

    /// Whether a launch reads what an earlier one wrote there.
    pub fn is_read_back(&self, tensor: TensorId) -> bool {
        let reads = |launch: &Launch| {
            let mut statements = launch.statements().map(|at| &self.program.statements[at]);
            let factors = statements.clone().flat_map(Statement::factors);
            factors.into_iter().any(|factor| factor.tensor == tensor)
                && !statements.any(|statement| statement.target.tensor == tensor)
        };
        self.launches.iter().any(reads)
    }

    /// The entry name of a launch's kernel, or what it begins with where the launch has several:
    /// each then adds its own `parts`, such as `wide`.
    pub fn kernel_name<'n>(
        &self,
        launch: &Launch,
        parts: impl IntoIterator<Item = &'n str>,
    ) -> String {
        let mut name = self.name.clone();
        if self.launches.len() > 1 {
            name.push_str(&format!("_step{}", launch.statement));
        }
        parts.into_iter().fold(name, |name, part| format!("{name}_{part}"))
    }
}

/// One kernel launch (or one of several variants of it).
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    /// Position of its first statement in the program.
    pub statement: usize,
    /// Position of its last one. What those before write is read from registers; outputs among it are
    /// stored as well.
    pub last: usize,
    /// How it is mapped.
    pub strategy: Strategy,
    /// Why, one entry a decision, in the order they were taken.
    pub reasons: Vec<Reason>,
}

impl Launch {
    /// A launch of one statement.
    pub fn of(statement: usize, strategy: Strategy, reasons: Vec<Reason>) -> Launch {
        Launch { statement, last: statement, strategy, reasons }
    }

    /// Positions of its statements, in order.
    pub fn statements(&self) -> RangeInclusive<usize> {
        self.statement..=self.last
    }
}

/// A decision and why it was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What was decided, for example `tile 64x64x16`.
    pub decision: String,
    /// Why.
    pub because: String,
}

/// The mappings there are.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there is one a launch, so its size is of no account")]
pub enum Strategy {
    /// A block computes a tile of the output from stages in shared memory; the host takes a tile
    /// of the family.
    Tiled(Family),
    /// A block moves a tile of a permutation through shared memory.
    Transpose(Transpose),
    /// Several threads share the terms of an output.
    Reduction(Reduction),
    /// A row goes through several statements in registers.
    Rows(Rows),
    /// Rows of a CSR matrix, each reduced by neighbouring lanes that walk its features.
    Segments(Segments),
    /// Lanes walk the output's last mode; nothing is reduced.
    Elementwise(Elementwise),
    /// A thread computes one output element from global memory.
    PerOutput(PerOutput),
}

/// One thread an output element, whatever the statement: coalesced where the operands lie as the
/// output does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerOutput {
    /// Threads a block.
    pub block_threads: u32,
}
