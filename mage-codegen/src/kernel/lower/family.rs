//! Lowers a family of tiles: the kernels of every tile and variant, and the host's steps that take
//! one of them.

use mage_einsum::index::{Access, ModeId};

use super::builder::{buffer, host_extent};
use super::host::{NARROW_COORDINATES, grid_limit, require_limit};
use super::names::Names;
use super::{grid, tiled};
use crate::kernel::{Arm, HostExpr, HostPred, HostStep, Kernel, Module};
use crate::schedule::{Family, Launch, Member, Schedule, Tiled, Variant};

/// The kernels of all tiles and variants, and the steps that select one.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    family: &Family,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let host = Host { schedule, launch, names, module };
    let mut steps = host.limits(family);
    let mut kernels = Vec::new();
    let mut sizes = Vec::new();
    for (at, member) in family.members().enumerate() {
        let smaller = family.members().skip(at + 1);
        let preferred =
            smaller.map(|other| HostPred::NotAbove(host.time(member), host.time(other)));
        sizes.push(Arm {
            name: member.size.name().to_string(),
            eligible: HostPred::All(preferred.collect()),
            steps: host.variants(member, module.kernels.len() + kernels.len()),
        });
        kernels.extend(
            member
                .tiled
                .variants
                .iter()
                .map(|variant| tiled::kernel(schedule, launch, (family, member), variant, names)),
        );
    }
    steps.extend(selected(sizes));
    (kernels, steps)
}

/// One arm needs no select.
fn selected(mut arms: Vec<Arm>) -> Vec<HostStep> {
    match arms.len() {
        1 => arms.remove(0).steps,
        _ => vec![HostStep::Select(arms)],
    }
}

/// What the host's steps are made of.
struct Host<'p> {
    schedule: &'p Schedule,
    launch: &'p Launch,
    names: &'p Names,
    module: &'p Module,
}

impl Host<'_> {
    /// What a launch of any member must keep to.
    fn limits(&self, family: &Family) -> Vec<HostStep> {
        let mut steps: Vec<HostStep> = Vec::new();
        for member in family.members() {
            let size = (!family.smaller.is_empty()).then(|| member.size.name());
            steps.extend(grid_limit(self.schedule, self.launch, size, &self.blocks(member)));
        }
        let tiled = &family.largest.tiled;
        if !tiled.contracted.outer.is_empty() {
            let n_steps = self.steps_of(tiled);
            steps.extend(require_limit("steps of a block", n_steps, NARROW_COORDINATES));
        }
        steps
    }

    fn extent(&self, mode: ModeId) -> HostExpr {
        host_extent(&self.schedule.program, self.names, mode)
    }

    fn steps_of(&self, tiled: &Tiled) -> HostExpr {
        let outer = tiled.contracted.outer.iter().map(|mode| self.extent(*mode));
        let tiles = tiled
            .contracted
            .mode
            .map(|mode| self.extent(mode).ceil_div(u64::from(tiled.contracted.tile)));
        HostExpr::product(outer.chain(tiles))
    }

    fn blocks(&self, member: &Member) -> HostExpr {
        grid::blocks(self.schedule, &grid::digits(&member.tiled, self.names), self.names)
    }

    /// `Member::time` on the host.
    fn time(&self, member: &Member) -> HostExpr {
        let share = self.blocks(member).ceil_div(u64::from(self.schedule.device.n_sms));
        HostExpr::product([share, HostExpr::Const(u64::from(member.cost))])
    }

    /// The steps that take one of a tile's variants, whose kernels are numbered from `first` on.
    fn variants(&self, member: &Member, first: usize) -> Vec<HostStep> {
        let arms = member.tiled.variants.iter().enumerate().map(|(at, variant)| {
            let wide = self.wide_accesses(&member.tiled, variant);
            Arm {
                name: variant.kind.name().to_string(),
                eligible: self.eligible(&wide),
                steps: vec![HostStep::Launch { kernel: first + at, blocks: self.blocks(member) }],
            }
        });
        selected(arms.collect())
    }

    /// The accesses that a variant makes four elements wide, in the order of buffers.
    fn wide_accesses(&self, tiled: &Tiled, variant: &Variant) -> Vec<&Access> {
        let statement = &self.schedule.program.statements[self.launch.statement];
        let factors = statement.factors();
        let mut wide: Vec<&Access> = Vec::new();
        for (side, elems) in tiled.sides().into_iter().zip(variant.load_elems) {
            if elems == 4 {
                wide.push(factors[side.factor]);
            }
        }
        if variant.store_elems == 4 {
            wide.push(&statement.target);
        }
        wide.sort_by_key(|access| access.tensor);
        wide
    }

    /// A wide access needs its address to be a multiple of 16 bytes: the buffer's start is, every
    /// tile origin along the contiguous mode is a multiple of four, and so is every other stride
    /// when the contiguous extent is. A temporary starts as well aligned as the workspace.
    fn eligible(&self, wide: &[&Access]) -> HostPred {
        let mut all = Vec::new();
        for access in wide {
            if let Some(mode) = access.modes.last() {
                let multiple = HostPred::MultipleOf(self.extent(*mode), 4);
                if !all.contains(&multiple) {
                    all.push(multiple);
                }
            }
            let aligned = HostPred::AlignedTo(self.module.memory_of(buffer(access)), 16);
            if !all.contains(&aligned) {
                all.push(aligned);
            }
        }
        HostPred::All(all)
    }
}
