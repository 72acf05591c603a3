//! Lowers a family of tiles: the kernels of every version, tile and variant, and the host's steps
//! that take one of them.

use mage_einsum::index::{Access, ModeId};

use super::builder::host_extent;
use super::host::{NARROW_COORDINATES, grid_limit, require_limit, selected};
use super::names::Names;
use super::tiled::{self, Version};
use super::total::{self, Partial};
use super::{grid, parts, wide};
use crate::kernel::{Arm, HostExpr, HostPred, HostStep, Kernel, Module};
use crate::schedule::{Deep, Family, Launch, Long, Member, Schedule, Tiled, Variant};

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
    let mut arms = host.members(family, &mut kernels);
    let deep = family.deep.as_ref().map(|deep| host.deep(deep, &mut kernels));
    let partial = Partial::of(schedule, launch, names, module);
    let long = family.long.as_ref().zip(partial);
    let long = long.map(|(long, partial)| host.long(&long.tiled, &partial, &mut kernels));
    arms.splice(0..0, long.into_iter().chain(deep));
    steps.extend(selected(arms));
    (kernels, steps)
}

/// The parts of a contraction.
pub fn parts(schedule: &Schedule, long: &Long, names: &Names) -> parts::Parts {
    let n_blocks = grid::blocks(schedule, &grid::digits(&long.tiled), names);
    parts::Parts::new(&long.parts, n_steps(schedule, &long.tiled, names), n_blocks)
}

fn n_steps(schedule: &Schedule, tiled: &Tiled, names: &Names) -> HostExpr {
    let extent = |mode: ModeId| host_extent(&schedule.program, names, mode);
    let outer = tiled.contracted.outer.iter().map(|mode| extent(*mode));
    let tile = u64::from(tiled.contracted.tile);
    let tiles = tiled.contracted.mode.map(|mode| extent(mode).ceil_div(tile));
    HostExpr::product(outer.chain(tiles))
}

/// What the host's steps are made of.
struct Host<'p> {
    schedule: &'p Schedule,
    launch: &'p Launch,
    names: &'p Names,
    module: &'p Module,
}

impl Host<'_> {
    /// What a launch of any version must keep to. One in parts has few blocks by its condition.
    fn limits(&self, family: &Family) -> Vec<HostStep> {
        let mut steps: Vec<HostStep> = Vec::new();
        let mut limited = Vec::new();
        let deep = family.deep.iter().map(|deep| (Some("deep"), &deep.tiled));
        let members = family.members().map(|member| (size(family, member), &member.tiled));
        for (version, tiled) in members.chain(deep) {
            let blocks = self.blocks(tiled);
            if !limited.contains(&blocks) {
                steps.extend(grid_limit(self.schedule, self.launch, version, &blocks));
                limited.push(blocks);
            }
        }
        let tiled = &family.largest.tiled;
        if !tiled.contracted.outer.is_empty() {
            let n_steps = n_steps(self.schedule, tiled, self.names);
            steps.extend(require_limit("steps of a block", n_steps, NARROW_COORDINATES));
        }
        steps
    }

    fn blocks(&self, tiled: &Tiled) -> HostExpr {
        grid::blocks(self.schedule, &grid::digits(tiled), self.names)
    }

    /// `Member::time` on the host.
    fn time(&self, member: &Member) -> HostExpr {
        let share = self.blocks(&member.tiled).ceil_div(u64::from(self.schedule.device.n_sms));
        HostExpr::product([share, HostExpr::Const(u64::from(member.cost))])
    }

    /// An arm for each size, or for each variant of the only one.
    fn members(&self, family: &Family, kernels: &mut Vec<Kernel>) -> Vec<Arm> {
        let mut arms = Vec::new();
        for (at, member) in family.members().enumerate() {
            let name = size(family, member);
            let blocks = self.blocks(&member.tiled);
            let version = Version { name, blocks: &blocks, partial: None };
            let variants = self.variants(&member.tiled, &version, kernels);
            let Some(name) = name else { return variants };
            let smaller = family.members().skip(at + 1);
            let mut eligible: Vec<HostPred> = smaller
                .map(|other| HostPred::NotAbove(self.time(member), self.time(other)))
                .collect();
            // A member that cannot run on all accesses leaves others to a smaller one.
            if let [only] = variants.as_slice()
                && let HostPred::All(needs) = &only.eligible
            {
                eligible.extend(needs.iter().cloned());
            }
            arms.push(Arm {
                name: name.to_string(),
                eligible: HostPred::All(eligible),
                steps: selected(variants),
            });
        }
        arms
    }

    /// The arm in parts.
    fn long(&self, tiled: &Tiled, partial: &Partial, kernels: &mut Vec<Kernel>) -> Arm {
        let Host { schedule, launch, names, module } = *self;
        let blocks = partial.parts.all_blocks();
        let version = Version { name: Some("long"), blocks: &blocks, partial: Some(partial) };
        let arms = self.variants(tiled, &version, kernels);
        let mut steps: Vec<HostStep> = partial.parts.named().collect();
        steps.extend(selected(arms));
        steps.push(total::step(module.kernels.len() + kernels.len(), partial));
        kernels.push(total::kernel(schedule, launch, names, partial));
        Arm { name: "long".to_string(), eligible: partial.parts.eligible(module), steps }
    }

    /// The arm in rounds.
    fn deep(&self, deep: &Deep, kernels: &mut Vec<Kernel>) -> Arm {
        let Deep { most_steps, tiled } = deep;
        let blocks = self.blocks(tiled);
        let version = Version { name: Some("deep"), blocks: &blocks, partial: None };
        let n_steps = n_steps(self.schedule, tiled, self.names);
        Arm {
            name: "deep".to_string(),
            eligible: HostPred::AtLeast(n_steps, u64::from(*most_steps) + 1),
            steps: selected(self.variants(tiled, &version, kernels)),
        }
    }

    /// An arm for each variant.
    fn variants(
        &self,
        tiled: &Tiled,
        version: &Version<'_>,
        kernels: &mut Vec<Kernel>,
    ) -> Vec<Arm> {
        let Host { schedule, launch, names, module } = *self;
        let mut arms = Vec::new();
        for variant in &tiled.variants {
            let kernel = module.kernels.len() + kernels.len();
            let accesses = self.wide_accesses(tiled, variant);
            let wide = (accesses.as_slice(), version.partial);
            arms.push(Arm {
                name: variant.kind.name().to_string(),
                eligible: wide::eligible(&schedule.program, names, module, wide),
                steps: vec![HostStep::Launch { kernel, blocks: version.blocks.clone() }],
            });
            kernels.push(tiled::kernel(schedule, launch, (tiled, variant), names, version));
        }
        arms
    }

    /// The accesses that a variant makes several elements wide, in the order of buffers.
    fn wide_accesses(&self, tiled: &Tiled, variant: &Variant) -> Vec<(&Access, u32)> {
        let statement = &self.schedule.program.statements[self.launch.statement];
        let factors = statement.factors();
        let mut wide: Vec<(&Access, u32)> = Vec::new();
        for (side, elems) in tiled.sides().into_iter().zip(variant.load_elems) {
            if elems > 1 {
                wide.push((factors[side.factor], elems));
            }
        }
        if variant.store_elems > 1 {
            wide.push((&statement.target, variant.store_elems));
        }
        wide.sort_by_key(|(access, _)| access.tensor);
        wide
    }
}

/// The name of a member's size, where there are several.
fn size(family: &Family, member: &Member) -> Option<&'static str> {
    (!family.smaller.is_empty()).then(|| member.size.name())
}
