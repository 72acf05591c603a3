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
use crate::schedule::{
    Cost, Deep, Family, Launch, Long, Member, Schedule, Tiled, Variant, VariantKind,
};

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
    steps.extend(named(schedule, family, names));
    let long = long.map(|(long, partial)| host.long(long, &partial, &mut kernels));
    arms.splice(0..0, long.into_iter().chain(deep));
    steps.extend(selected(arms));
    (kernels, steps)
}

/// The parts of a contraction, counted by the tile that there are fewest of, and taken where they
/// are done before the tiles whose blocks take all steps.
pub fn parts(
    schedule: &Schedule,
    launch: &Launch,
    family: &Family,
    names: &Names,
) -> Option<parts::Parts> {
    let long = family.long.as_deref()?;
    let costs = Costs { schedule, names };
    let n_steps = n_steps(schedule, &long.tiles.first()?.tiled, names);
    let mut parts = parts::Parts::new(&long.parts, n_steps, costs.fewest(long));
    let n_terms = costs.n_terms(&long.tiles.first()?.tiled);
    let share = HostExpr::product([costs.in_parts(long), n_terms.clone()]);
    let share = share.ceil_div(u64::from(schedule.device.n_sms));
    let of_outputs = costs.n_outputs(launch).ceil_div(u64::from(long.overhead_outputs));
    let in_parts = HostExpr::sum([share, of_outputs, HostExpr::Const(long.overhead.into())]);
    let whole = HostExpr::product([costs.whole(family, VariantKind::Wide), n_terms]);
    if in_parts.as_const().is_none() || whole.as_const().is_none() {
        parts.when.push(HostPred::NotAbove(in_parts, whole));
    }
    Some(parts)
}

/// The steps that give names to what tiles are chosen by.
fn named(schedule: &Schedule, family: &Family, names: &Names) -> Vec<HostStep> {
    let costs = Costs { schedule, names };
    let long = family.long.as_deref();
    let whole = costs.whole(family, VariantKind::Wide);
    let values = [
        ("whole_cost", Some(whole.clone())),
        (
            "narrow_cost",
            Some(costs.whole(family, VariantKind::Narrow)).filter(|cost| *cost != whole),
        ),
        ("fewest_blocks", long.map(|long| costs.fewest(long))),
        ("parts_cost", long.map(|long| costs.in_parts(long))),
    ];
    let steps = values.into_iter().filter_map(|(name, value)| {
        // Others are a tile's own or a number.
        let value = value.filter(|value| matches!(value, HostExpr::Min(_)))?;
        Some(HostStep::Let { name: name.to_string(), value })
    });
    steps.collect()
}

/// What tiles are chosen by, as host values.
struct Costs<'p> {
    schedule: &'p Schedule,
    names: &'p Names,
}

impl Costs<'_> {
    fn blocks(&self, tiled: &Tiled) -> HostExpr {
        grid::blocks(self.schedule, &grid::digits(tiled), self.names)
    }

    /// `Cost::time` on the host.
    fn time(&self, member: &Member, kind: VariantKind) -> HostExpr {
        let Cost { each, alone } = member.cost(kind);
        let share = self.blocks(&member.tiled).ceil_div(u64::from(self.schedule.device.n_sms));
        let share = HostExpr::product([share, HostExpr::Const(u64::from(each))]);
        share.max(u64::from(alone))
    }

    /// The least time of a member that has accesses of a kind; of any where none has.
    fn whole(&self, family: &Family, kind: VariantKind) -> HostExpr {
        let of_kind = family.members().filter(|member| has(member, kind));
        let times: Vec<HostExpr> = of_kind.map(|member| self.time(member, kind)).collect();
        match times.as_slice() {
            [] => HostExpr::min(
                family.members().map(|member| self.time(member, VariantKind::Narrow)).collect(),
            ),
            [..] => HostExpr::min(times),
        }
    }

    /// What all tiles of a member cost.
    fn in_all(&self, member: &Member) -> HostExpr {
        HostExpr::product([
            self.blocks(&member.tiled),
            HostExpr::Const(member.least_cost().each.into()),
        ])
    }

    /// The least cost of all tiles of one extent, whose parts are shared by all multiprocessors.
    fn in_parts(&self, long: &Long) -> HostExpr {
        HostExpr::min(long.tiles.iter().map(|member| self.in_all(member)).collect())
    }

    /// The least number of blocks.
    fn fewest(&self, long: &Long) -> HostExpr {
        let blocks = long
            .tiles
            .iter()
            .map(|Member { size, tiled, .. }| self.blocks(tiled).ceil_div(size.of_a_block()));
        HostExpr::min(blocks.collect())
    }

    /// The product of the output's extents, as the host checks it.
    fn n_outputs(&self, launch: &Launch) -> HostExpr {
        let program = &self.schedule.program;
        let modes = &program.statements[launch.statement].target.modes;
        HostExpr::product(modes.iter().map(|mode| host_extent(program, self.names, *mode)))
    }

    /// Terms of an output.
    fn n_terms(&self, tiled: &Tiled) -> HostExpr {
        let modes = tiled.contracted.outer.iter().chain(&tiled.contracted.mode);
        HostExpr::product(modes.map(|mode| host_extent(&self.schedule.program, self.names, *mode)))
    }
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
        self.costs().blocks(tiled)
    }

    fn costs(&self) -> Costs<'_> {
        Costs { schedule: self.schedule, names: self.names }
    }

    /// An arm for each variant of the only size; else one for each kind of accesses, with one for
    /// each size that has it.
    fn members(&self, family: &Family, kernels: &mut Vec<Kernel>) -> Vec<Arm> {
        if family.smaller.is_empty() {
            let blocks = self.blocks(&family.largest.tiled);
            let version = Version { name: None, blocks: &blocks, partial: None };
            return self.variants(&family.largest.tiled, &version, kernels);
        }
        let arms = [VariantKind::Wide, VariantKind::Narrow].map(|kind| {
            let (needs, arms) = self.of_kind(family, kind, kernels);
            (kind.name(), needs, arms)
        });
        match arms {
            [(_, _, wide), (_, _, narrow)] if wide.is_empty() => narrow,
            arms => {
                let arms = arms.into_iter().map(|(name, needs, arms)| Arm {
                    name: name.to_string(),
                    eligible: HostPred::All(needs),
                    steps: selected(arms),
                });
                arms.collect()
            }
        }
    }

    /// What accesses of a kind need, and an arm for each size that has them: the host takes the one
    /// that is done first.
    fn of_kind(
        &self,
        family: &Family,
        kind: VariantKind,
        kernels: &mut Vec<Kernel>,
    ) -> (Vec<HostPred>, Vec<Arm>) {
        let members: Vec<&Member> = family.members().filter(|member| has(member, kind)).collect();
        let (costs, mut needs, mut arms) = (self.costs(), Vec::new(), Vec::new());
        for (at, member) in members.iter().enumerate() {
            let (name, blocks) = (member.size.name(), self.blocks(&member.tiled));
            let version = Version { name: Some(name), blocks: &blocks, partial: None };
            let Some(made) = self.variant(&member.tiled, kind, &version, kernels) else { continue };
            if let HostPred::All(of_member) = made.eligible {
                for need in of_member {
                    if !needs.contains(&need) {
                        needs.push(need);
                    }
                }
            }
            let is_least = HostPred::NotAbove(costs.time(member, kind), costs.whole(family, kind));
            arms.push(Arm {
                name: name.to_string(),
                eligible: unless_last(is_least, at + 1 == members.len()),
                steps: made.steps,
            });
        }
        (needs, arms)
    }

    /// The arm in parts.
    fn long(&self, long: &Long, partial: &Partial, kernels: &mut Vec<Kernel>) -> Arm {
        let Host { schedule, launch, names, module } = *self;
        let mut arms = Vec::new();
        for (at, member) in long.tiles.iter().enumerate() {
            let parts = partial.parts.with_blocks(self.blocks(&member.tiled));
            let blocks = parts.all_blocks();
            let partial = Partial { parts, ..partial.clone() };
            let is_only = long.tiles.len() == 1;
            let name = if is_only { "long" } else { member.size.long_name() };
            let version = Version { name: Some(name), blocks: &blocks, partial: Some(&partial) };
            let variants = self.variants(&member.tiled, &version, kernels);
            if is_only {
                arms = variants;
                break;
            }
            let costs = self.costs();
            arms.push(Arm {
                name: member.size.name().to_string(),
                eligible: unless_last(
                    HostPred::NotAbove(costs.in_all(member), costs.in_parts(long)),
                    at + 1 == long.tiles.len(),
                ),
                steps: selected(variants),
            });
        }
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
        let kinds = tiled.variants.iter().map(|variant| variant.kind);
        kinds.filter_map(|kind| self.variant(tiled, kind, version, kernels)).collect()
    }

    /// The arm of a variant.
    fn variant(
        &self,
        tiled: &Tiled,
        kind: VariantKind,
        version: &Version<'_>,
        kernels: &mut Vec<Kernel>,
    ) -> Option<Arm> {
        let Host { schedule, launch, names, module } = *self;
        let variant = tiled.variants.iter().find(|variant| variant.kind == kind)?;
        let kernel = module.kernels.len() + kernels.len();
        let accesses = self.wide_accesses(tiled, variant);
        let wide = (accesses.as_slice(), version.partial);
        kernels.push(tiled::kernel(schedule, launch, (tiled, variant), names, version));
        Some(Arm {
            name: kind.name().to_string(),
            eligible: wide::eligible(&schedule.program, names, module, wide),
            steps: vec![HostStep::Launch { kernel, blocks: version.blocks.clone() }],
        })
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
            let beside = wide::beside(self.schedule, self.launch).into_iter();
            let beside = beside.filter(|access| !tiled.beside.contains(access));
            wide.extend(beside.map(|access| (access, variant.store_elems)));
            wide.push((self.schedule.target(self.launch), variant.store_elems));
        }
        wide.sort_by_key(|(access, _)| access.tensor);
        wide
    }
}

/// Whether a member has accesses of a kind.
fn has(member: &Member, kind: VariantKind) -> bool {
    member.tiled.variants.iter().any(|variant| variant.kind == kind)
}

/// The condition of an arm; the last one is for whatever is left.
fn unless_last(condition: HostPred, is_last: bool) -> HostPred {
    if is_last { HostPred::All(Vec::new()) } else { condition }
}

/// The name of a member's size, where there are several.
fn size(family: &Family, member: &Member) -> Option<&'static str> {
    (!family.smaller.is_empty()).then(|| member.size.name())
}
