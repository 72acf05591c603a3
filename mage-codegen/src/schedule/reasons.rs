//! The reasons of a tiled launch, in words: what was decided for its family of tiles, and why.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::{ModeId, Program, Statement};
use mage_einsum::options::Options;
use mage_einsum::precision::Precision;

use super::choose_deep::MOST_TERMS;
use super::choose_staging::contiguous_mode;
use super::mma::product_depth;
use super::{
    Along, Deep, Epilogue, Family, Long, Member, Reason, Resources, Side, Summing, Tiled,
    choose_family,
};
use crate::device::{Device, SECTOR_BYTES};

/// A statement with the names of its modes.
#[derive(Clone, Copy)]
pub struct Named<'p> {
    /// The program.
    pub program: &'p Program,
    /// One of its statements.
    pub statement: &'p Statement,
}

impl<'p> Named<'p> {
    fn mode(self, mode: ModeId) -> &'p str {
        &self.program.mode(mode).name
    }
}

/// Why the family is as it is, one entry a decision.
pub fn reasons(
    named: Named<'_>,
    family: &Family,
    options: &Options,
    device: &Device,
) -> Vec<Reason> {
    let tiled = &family.largest.tiled;
    let mut reasons = tiles(family, options, device);
    reasons.push(orientation(named, tiled));
    reasons.extend(mainloop(named, tiled));
    reasons.extend(apart(tiled));
    reasons.extend(channels(named, tiled));
    reasons.extend(tiled.sides().map(|side| staging(named, tiled, side)));
    reasons.extend(exchange(named, tiled));
    reasons.extend(beside(named, tiled));
    reasons.extend(settles(named, tiled));
    reasons.extend(family.long.as_deref().map(|version| long(version, device)));
    reasons.extend(family.deep.as_deref().map(deep));
    reasons.extend(registers(family, device));
    reasons
}

fn tiles(family: &Family, options: &Options, device: &Device) -> Vec<Reason> {
    let (choice, asked) = match (&options.tile, family.smaller.as_slice()) {
        (Some(_), _) => (None, "asked for; "),
        (None, []) => (None, "no tile was asked for; "),
        (None, _) => (Some(choose_family::reason(family, device)), ""),
    };
    let tile = |tiled: &Tiled| Reason {
        decision: format!("tile {}x{}x{}", tiled.row.tile, tiled.col.tile, tiled.contracted.tile),
        because: format!(
            "{asked}{} threads own {}x{} outputs each; {} of {} bytes",
            tiled.threads.block_threads(),
            tiled.threads.thread_elems(0),
            tiled.threads.thread_elems(1),
            tiled.stages_in_words(),
            tiled.stage_bytes(),
        ),
    };
    choice.into_iter().chain(family.members().map(|member| tile(&member.tiled))).collect()
}

fn orientation(named: Named<'_>, tiled: &Tiled) -> Reason {
    let name = |mode| named.mode(mode);
    Reason {
        decision: format!(
            "rows are `{}`, columns are `{}`",
            name(tiled.row.mode),
            name(tiled.col.mode)
        ),
        because: match contiguous_mode(&named.statement.target) {
            Some(mode) if mode == tiled.col.mode => {
                format!("`{}` is contiguous in the output, so stores go along columns", name(mode))
            }
            Some(mode) => format!("`{}`, contiguous in the output, is neither", name(mode)),
            None => "no mode is contiguous in the output".to_string(),
        },
    }
}

/// Why the tensor cores multiply, or why not where they could.
fn mainloop(named: Named<'_>, tiled: &Tiled) -> Option<Reason> {
    let operands = named.program.operand_dtype();
    let because = |why: &str| why.to_string();
    if !tiled.threads.fragments {
        let could =
            operands != operands.accumulator() || named.program.precision == Precision::Tf32;
        return could.then(|| Reason {
            decision: "fused multiply-adds sum in f32".to_string(),
            because: because(
                "the tensor cores take two factors of one type with a contracted mode, no batch mode \
                 that is contiguous in them or in the output, and tiles of powers of two: sides from \
                 16 on, depths from 16 on for halves and from 8 on for f32",
            ),
        });
    }
    let depth = product_depth(tiled.dtype);
    let (what, why) = match tiled.dtype {
        Dtype::F32 => ("tf32", "the precision asked for allows it"),
        Dtype::F16 | Dtype::BF16 | Dtype::F64 => (operands.name(), "their products are exact"),
    };
    Some(Reason {
        decision: format!("the tensor cores multiply {what}, {depth} terms at once"),
        because: format!(
            "{why}, and they sum in f32; copies of the next steps go on meanwhile, which takes {}",
            tiled.stages_in_words()
        ),
    })
}

/// Why the tensor cores do not go on with a sum.
fn apart(tiled: &Tiled) -> Option<Reason> {
    (tiled.summing == Summing::Apart).then(|| Reason {
        decision: "the products of a stage are summed apart".to_string(),
        because: "the tensor cores cut sums off where f32 arithmetic rounds, and lose a little in one \
                  direction with every step: so they begin from zero, and what comes of it is added \
                  by f32 arithmetic"
            .to_string(),
    })
}

fn channels(named: Named<'_>, tiled: &Tiled) -> Option<Reason> {
    let mode = tiled.batch.mode?;
    Some(Reason {
        decision: format!("{} channels of `{}` a block", tiled.batch.tile, named.mode(mode)),
        because: format!(
            "`{}` is contiguous and in every operand: {} of them are a {SECTOR_BYTES}-byte sector",
            named.mode(mode),
            u64::from(SECTOR_BYTES) / named.program.operand_dtype().size_bytes()
        ),
    })
}

fn staging(named: Named<'_>, tiled: &Tiled, side: &Side) -> Reason {
    let factor = named.statement.factors()[side.factor];
    let tensor = &named.program.tensor(factor.tensor).name;
    let (walked, how) = match side.staging.along {
        Along::Side => (Some(side.mode), "copied as it lies"),
        Along::Contracted if side.staging.swizzle.is_some() => {
            (tiled.contracted.mode, "copied as it lies")
        }
        Along::Contracted => (tiled.contracted.mode, "transposed on the way, rows padded by 4"),
        Along::Batch => (tiled.batch.mode, "taken apart by channel, rows padded by 4"),
    };
    let how = match side.staging.swizzle {
        None => how.to_string(),
        Some(swizzle) => format!("{how}, chunk c of a row in place c ^ ({})", swizzle.way()),
    };
    let walked = walked.map_or("nothing", |mode| named.mode(mode));
    let because = if side.staging.contiguous {
        let banks = match side.staging.swizzle {
            None => "",
            Some(_) => "; what a warp reads at once comes from all banks",
        };
        format!(
            "`{walked}` is contiguous in `{tensor}`, so the loads of a warp share sectors{banks}"
        )
    } else {
        format!("no tiled mode is contiguous in `{tensor}`; every load is of one element")
    };
    Reason { decision: format!("`{tensor}` is loaded along `{walked}` and {how}"), because }
}

fn exchange(named: Named<'_>, tiled: &Tiled) -> Option<Reason> {
    let output = named.program.tensor(named.statement.target.tensor);
    match tiled.epilogue {
        Epilogue::Direct => None,
        Epilogue::Exchanged(_) => Some(Reason {
            decision: "outputs change threads in shared memory before they are stored".to_string(),
            because: format!(
                "a thread has one `{}`, which is contiguous in the output: stores of its own \
                 would use {} of the {SECTOR_BYTES} bytes of a sector",
                named.mode(tiled.batch.mode?),
                output.dtype.size_bytes()
            ),
        }),
    }
}

fn beside(named: Named<'_>, tiled: &Tiled) -> Option<Reason> {
    let names: Vec<String> = tiled
        .beside
        .iter()
        .map(|access| format!("`{}`", named.program.tensor(access.tensor).name))
        .collect();
    (!names.is_empty()).then(|| Reason {
        decision: format!("{} staged before the steps", names.join(", ")),
        because: format!(
            "all rows of a tile read the same at its columns of `{}`, and what is loaded after the \
             steps takes registers from the sums",
            named.mode(tiled.col.mode)
        ),
    })
}

/// Source: evidence/2026-12-01-h200, changes.md: `batched_family` from 420 to 375 us.
fn settles(named: Named<'_>, tiled: &Tiled) -> Option<Reason> {
    let modes: Vec<String> =
        tiled.batch.outer.iter().map(|mode| format!("`{}`", named.mode(*mode))).collect();
    tiled.settles().then(|| Reason {
        decision: "a barrier between the last step and the results".to_string(),
        because: format!(
            "with {} on the grid the addresses of results take more registers, and without the \
             barrier the assembler computes them while sums need these",
            modes.join(", ")
        ),
    })
}

fn long(version: &Long, device: &Device) -> Reason {
    let Long { parts, tiles, overhead, overhead_outputs } = version;
    let sides = |member: &Member| format!("{}x{}", member.tiled.row.tile, member.tiled.col.tile);
    let costs = |member: &Member| member.least_cost().each.to_string();
    let choice = match tiles.as_slice() {
        [_] => "",
        [..] => ", the least of these",
    };
    let are_halves = tiles.iter().any(|member| member.size.of_a_block() > 1);
    let half = if are_halves { "; two flat tiles count as one block" } else { "" };
    Reason {
        decision: format!("tile {} in parts over blocks", choose_family::list(tiles, sides)),
        because: format!(
            "one block a tile leaves multiprocessors idle where tiles are few; parts keep all {} \
             busy, and take {} times the number of tiles{choice}, divided by {}, and for the second \
             launch {overhead} and one for each {overhead_outputs} outputs, divided by the terms: \
             they are chosen where that is less than what whole sums take, for {}{half}",
            device.n_sms,
            choose_family::list(tiles, costs),
            device.n_sms,
            parts.words(),
        ),
    }
}

fn deep(Deep { most_steps, tiled }: &Deep) -> Reason {
    let rounds = tiled
        .summing
        .round_steps()
        .map_or_else(String::new, |most| format!(" in rounds of {most}"));
    Reason {
        decision: format!(
            "tile {}x{}{rounds} for more than {most_steps} steps",
            tiled.row.tile, tiled.col.tile
        ),
        because: format!(
            "a running sum of more than {MOST_TERMS} terms would be rounded too often; the sum of \
             all rounds takes registers of its own"
        ),
    }
}

fn registers(family: &Family, device: &Device) -> Vec<Reason> {
    let of_member = family.members().map(|member| {
        let resources = Resources::of(&member.tiled, device);
        let size = match family.smaller.as_slice() {
            [] => String::new(),
            [..] => format!("{} tiles: ", member.size.name()),
        };
        Reason {
            decision: format!(
                "{size}registers for {} blocks a multiprocessor",
                member.tiled.min_blocks
            ),
            because: format!(
                "about {} registers a thread and {} bytes of shared memory, bound by {} on the {}",
                resources.registers,
                resources.shared_bytes,
                resources.residency.bound_by,
                device.name
            ),
        }
    });
    of_member.collect()
}
