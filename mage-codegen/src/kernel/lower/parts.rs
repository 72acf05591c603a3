//! A sum in parts on the host: for which extents, how many parts and how long each is. The first
//! kernel leaves a partial sum of each output for each part in the workspace, `total` adds them up.

use mage_einsum::index::TensorId;

use super::names::Names;
use super::{family, reduction, segments};
use crate::kernel::{Buffer, BufferId, HostExpr, HostPred, HostStep, Module};
use crate::schedule::{self, Launch, Schedule, Strategy, Unit};

/// What the host computes for a sum in parts.
#[derive(Clone)]
pub struct Parts {
    /// All of the extents' conditions that fixed extents leave open.
    pub when: Vec<HostPred>,
    /// Blocks of one part.
    pub n_blocks: HostExpr,
    /// What parts are counted in.
    unit: Unit,
    /// Terms or steps of a part; the last one may have fewer.
    pub part_len: HostExpr,
    /// How many parts there are.
    pub n_parts: HostExpr,
}

/// The parts of a launch, where its schedule has any.
pub fn of(schedule: &Schedule, launch: &Launch, names: &Names) -> Option<Parts> {
    match &launch.strategy {
        Strategy::Reduction(reduction) => reduction::parts(schedule, reduction, names),
        Strategy::Tiled(family) => family::parts(schedule, launch, family, names),
        Strategy::Segments(segments) => Some(segments::parts(schedule, segments, names)),
        Strategy::Transpose(_)
        | Strategy::Rows(_)
        | Strategy::Elementwise(_)
        | Strategy::PerOutput(_) => None,
    }
}

/// The labels of a part's results: all of the target, or the features of a row.
pub fn dims(schedule: &Schedule, launch: &Launch, names: &Names, target: &Buffer) -> Vec<usize> {
    match &launch.strategy {
        Strategy::Segments(segments) => {
            names.labels_of(&schedule.program, segments.lane_mode).collect()
        }
        Strategy::Reduction(_)
        | Strategy::Tiled(_)
        | Strategy::Transpose(_)
        | Strategy::Rows(_)
        | Strategy::Elementwise(_)
        | Strategy::PerOutput(_) => target.dims.clone(),
    }
}

/// The partial sums of a tensor's elements in the workspace, or the list of the parts of a tensor's
/// rows. Where there are none, it is a buffer that does not exist, which the verifier refuses.
pub fn buffer(module: &Module, names: &Names, tensor: TensorId) -> BufferId {
    let ident = &names.parts()[tensor.0];
    let mut buffers = module.buffers.iter();
    BufferId(buffers.position(|buffer| buffer.ident == *ident).unwrap_or(usize::MAX))
}

impl Parts {
    /// The values for sums of `count` terms or steps that take `n_blocks` blocks without parts. No
    /// part is empty, and all parts together have few blocks more than the schedule asks for.
    pub fn new(parts: &schedule::Parts, count: HostExpr, n_blocks: HostExpr) -> Parts {
        let long = HostPred::AtLeast(count.clone(), parts.min_len);
        let few = HostPred::AtMost(n_blocks.clone(), u64::from(parts.max_blocks));
        let conditions = [(long, count.as_const()), (few, n_blocks.as_const())];
        let open = conditions.into_iter().filter(|(_, known)| known.is_none());
        // Where there are no outputs there are no blocks; then nothing is launched.
        let most_parts = HostExpr::Const(u64::from(parts.blocks));
        let most_parts = most_parts.ceil_div_by(n_blocks.clone().max(1));
        let more_parts = parts.max_len.map(|most| count.clone().ceil_div(u64::from(most)));
        let most_parts = HostExpr::sum([most_parts].into_iter().chain(more_parts));
        let part_len = count.clone().ceil_div_by(most_parts).round_up(u64::from(parts.unit_len));
        Parts {
            when: open.map(|(condition, _)| condition).collect(),
            n_blocks,
            n_parts: count.ceil_div_by(part_len.clone()),
            part_len,
            unit: parts.unit,
        }
    }

    /// The values for edges of which rows have parts of a fixed length or more: there are no more
    /// parts than have room among all edges, and none where there are fewer edges than one has.
    pub fn of_edges(n_edges: HostExpr, part_edges: u32) -> Parts {
        let long = HostPred::AtLeast(n_edges.clone(), u64::from(part_edges));
        let is_open = n_edges.as_const().is_none();
        let n_parts = n_edges.ceil_div(u64::from(part_edges));
        Parts {
            when: is_open.then_some(long).into_iter().collect(),
            n_blocks: n_parts.clone(),
            unit: Unit::Terms,
            part_len: HostExpr::Const(part_edges.into()),
            n_parts,
        }
    }

    /// The same with another number of blocks a part.
    pub fn with_blocks(&self, n_blocks: HostExpr) -> Parts {
        Parts { n_blocks, ..self.clone() }
    }

    /// Blocks of all parts.
    pub fn all_blocks(&self) -> HostExpr {
        HostExpr::product([self.n_parts.clone(), self.n_blocks.clone()])
    }

    /// The condition under which the host takes the sum in parts: the workspace has room.
    pub fn eligible(&self, module: &Module) -> HostPred {
        let workspace = module.workspace.iter();
        let room =
            workspace.map(|known| HostPred::LengthAtLeast(known.buffer, known.elems.clone()));
        HostPred::All(self.when.iter().cloned().chain(room).collect())
    }

    /// The name of a part's length.
    pub fn len_name(&self) -> &'static str {
        match self.unit {
            Unit::Terms => "part_terms",
            Unit::Steps => "part_steps",
        }
    }

    /// The steps that give names to the values.
    pub fn named(&self) -> impl Iterator<Item = HostStep> {
        let values = [(self.len_name(), &self.part_len), ("n_parts", &self.n_parts)];
        let open = values.into_iter().filter(|(_, value)| value.as_const().is_none());
        open.map(|(name, value)| HostStep::Let { name: name.to_string(), value: value.clone() })
    }
}
