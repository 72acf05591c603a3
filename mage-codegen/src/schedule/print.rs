//! The text of a schedule: the loop nest from the grid to a register, what is staged, the
//! variants, and the reasons.

use std::fmt::Write;

use mage_einsum::index::{self, ModeId, Program, Statement};
use mage_einsum::reducer::Reducer;

use super::{
    Along, Cost, Deep, Elementwise, Epilogue, Family, Lanes, Launch, Long, Member, PerOutput,
    Range, Reduction, Rows, Schedule, Segments, Side, Split, Strategy, Summing, Tail, Tiled,
    Transpose, VariantKind, product_depth,
};
use crate::device::Device;

/// The whole schedule, as snapshots and `mage explain` show it.
pub fn print(schedule: &Schedule) -> String {
    let mut text = format!("schedule {} for {}\n", schedule.name, schedule.device.name);
    if let Some(path) = &schedule.path {
        let _ = write!(text, "\n{}", path.print(|_| None));
    }
    for launch in &schedule.launches {
        let _ = writeln!(text, "\n{}", nest(schedule, launch));
        text.push_str("why\n");
        for reason in &launch.reasons {
            let _ = writeln!(text, "  {}: {}", reason.decision, reason.because);
        }
    }
    text
}

/// The loop nest of one launch, one loop a line, outermost first.
pub fn nest(schedule: &Schedule, launch: &Launch) -> String {
    let program = &schedule.program;
    let statement = &program.statements[launch.statement];
    let mut nest = Nest { program, text: String::new(), base: 0, depth: 0 };
    if program.statements.len() > 1 {
        for position in launch.statements() {
            let line = index::print_line(program, &program.statements[position]);
            nest.line(&format!("step {position}: {line}"));
        }
    }
    match &launch.strategy {
        Strategy::Tiled(family) => nest.family(statement, family, schedule.device),
        Strategy::Transpose(transpose) => nest.transpose(statement, transpose),
        Strategy::Reduction(reduction) => nest.reduction(statement, reduction),
        Strategy::Rows(rows) => nest.rows(rows),
        Strategy::Segments(segments) => nest.segments(segments),
        Strategy::Elementwise(elementwise) => nest.elementwise(elementwise),
        Strategy::PerOutput(per_output) => nest.per_output(statement, per_output),
    }
    nest.text
}

struct Nest<'p> {
    program: &'p Program,
    text: String,
    /// Where loops begin.
    base: usize,
    depth: usize,
}

/// How a reduction takes a term.
fn taken(statement: &Statement) -> &'static str {
    match statement.reducer {
        Reducer::Sum if statement.is_sum_of_products() => "acc += product",
        Reducer::Sum | Reducer::Mean => "acc += term",
        Reducer::Max => "acc = max(acc, term)",
        Reducer::Min => "acc = min(acc, term)",
    }
}

impl Nest<'_> {
    fn name(&self, mode: ModeId) -> &str {
        &self.program.mode(mode).name
    }

    fn line(&mut self, line: &str) {
        let indent = "  ".repeat(self.depth);
        let _ = writeln!(self.text, "{indent}{line}");
    }

    fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    fn grid(&mut self, outer: &[ModeId]) {
        for mode in outer {
            let line = format!("grid    {} one by one", self.name(*mode));
            self.open(&line);
        }
    }

    fn split(&mut self, kind: &str, mode: ModeId, tile: u32, tail: Tail) {
        let name = self.name(mode);
        let tail = match tail {
            Tail::Exact => "exact",
            Tail::Predicated => "tail predicated",
        };
        let line = format!("{kind:<7} {name} in tiles of {tile}, {tail}");
        self.open(&line);
    }

    /// The mappings in parts and in rounds, where there are any, before the tiles for all extents.
    fn family(&mut self, statement: &Statement, family: &Family, device: &Device) {
        if let Some(Long { parts, tiles, overhead: _, overhead_outputs: _ }) =
            family.long.as_deref()
        {
            for member in tiles {
                let Member { size, tiled, .. } = member;
                let cost = member.least_cost().each;
                let least = match tiles.as_slice() {
                    [_] => String::new(),
                    [..] => format!(": {} tiles, where {cost} * tiles is least", size.name()),
                };
                self.version(&format!("{}, where it is done first{least}", parts.words()));
                self.open(&format!("grid    {} in {}", parts.unit.name(), parts.lengths()));
                self.tiled(statement, tiled);
                self.line("then  a second kernel adds the parts of each output in a fixed order");
            }
        }
        if let Some(Deep { most_steps, tiled }) = family.deep.as_deref() {
            self.version(&format!("more than {most_steps} steps"));
            self.tiled(statement, tiled);
        }
        let is_choice = !family.smaller.is_empty();
        for member in family.members() {
            if is_choice {
                let kinds = member.tiled.variants.iter().map(|variant| {
                    let Cost { each, alone } = member.cost(variant.kind);
                    let sms = device.n_sms;
                    let kind = variant.kind.name();
                    format!("{kind} where {each} * ceil(tiles / {sms}), at least {alone}, is least")
                });
                let kinds: Vec<String> = kinds.collect();
                self.version(&format!("{} tiles, {}", member.size.name(), kinds.join(", ")));
            } else if family.long.is_some() || family.deep.is_some() {
                self.version("all extents");
            }
            self.tiled(statement, &member.tiled);
            self.epilogue(&member.tiled);
        }
        (self.base, self.depth) = (0, 0);
        // The last member can always run, so it has every variant.
        self.variants(&family.smallest().tiled);
    }

    fn version(&mut self, extents: &str) {
        (self.base, self.depth) = (1, 0);
        self.line(&format!("for {extents}"));
        self.depth = self.base;
    }

    fn tiled(&mut self, statement: &Statement, tiled: &Tiled) {
        self.grid(&tiled.batch.outer);
        self.grid(&tiled.row.outer);
        self.grid(&tiled.col.outer);
        if let Some(mode) = tiled.batch.mode {
            self.split("grid", mode, tiled.batch.tile, tiled.batch.tail);
        }
        self.split("grid", tiled.row.mode, tiled.row.tile, tiled.row.tail);
        self.split("grid", tiled.col.mode, tiled.col.tile, tiled.col.tail);
        if let Some(most) = tiled.summing.round_steps() {
            self.open(&format!("serial  steps in rounds of {most}"));
        }
        for mode in &tiled.contracted.outer {
            let line = format!("serial  {} one by one", self.name(*mode));
            self.open(&line);
        }
        if let Some(mode) = tiled.contracted.mode {
            self.split("serial", mode, tiled.contracted.tile, tiled.contracted.tail);
        }
        self.stages(statement, tiled);
        self.threads(tiled);
    }

    fn stages(&mut self, statement: &Statement, tiled: &Tiled) {
        for side in tiled.sides() {
            let line = self.stage(statement, tiled, side);
            self.line(&line);
        }
        for access in &tiled.beside {
            let tensor = &self.program.tensor(access.tensor).name;
            let (mode, tile) = (self.name(tiled.col.mode), tiled.col.tile);
            let line = format!("stage   {tensor} as [{mode} {tile}], once, before the first step");
            self.line(&line);
        }
    }

    fn stage(&self, statement: &Statement, tiled: &Tiled, side: &Side) -> String {
        let tensor = &self.program.tensor(statement.factors()[side.factor].tensor).name;
        let mut place = String::new();
        if let Some(mode) = tiled.batch.mode {
            let _ = write!(place, "[{} {}]", self.name(mode), tiled.batch.tile);
        }
        let of_side = format!("[{} {}]", self.name(side.mode), side.tile);
        let of_contracted = tiled.contracted.mode.map_or_else(String::new, |mode| {
            format!("[{} {}]", self.name(mode), tiled.contracted.tile)
        });
        place += &match (side.staging.swizzle, side.staging.along) {
            (Some(_), Along::Contracted) => of_side + &of_contracted,
            (None, Along::Contracted) | (_, Along::Side | Along::Batch) => of_contracted + &of_side,
        };
        let along = match side.staging.along {
            Along::Side => Some(side.mode),
            Along::Contracted => tiled.contracted.mode,
            Along::Batch => tiled.batch.mode,
        };
        let along = along.map_or("nothing", |mode| self.name(mode));
        let rows = side.staging.row_elems;
        let swizzle = side.staging.swizzle;
        let swizzle = swizzle.map_or_else(String::new, |s| format!(", chunk ^ ({})", s.way()));
        format!(
            "stage   {tensor} as {place}, rows of {rows}{swizzle}, loaded along {along}, {}",
            tiled.stages_in_words()
        )
    }

    fn threads(&mut self, tiled: &Tiled) {
        let map = &tiled.threads;
        if let Some(mode) = tiled.batch.mode {
            let line = format!("warps   {} of {}", map.channels, self.name(mode));
            self.open(&line);
        }
        for (kind, counts, stride) in [
            ("warps", map.warps, [map.warp_elems(0), map.warp_elems(1)]),
            ("lanes", map.lanes, map.quad_elems),
        ] {
            let [row, col] = [tiled.row.mode, tiled.col.mode].map(|mode| self.name(mode));
            let paired = if kind == "lanes" && map.interleaved() { ", rows in pairs" } else { "" };
            let line = format!(
                "{kind:<7} {} of {row} by {}, {} of {col} by {}{paired}",
                counts[0], stride[0], counts[1], stride[1]
            );
            self.open(&line);
        }
        let depth = if map.fragments { product_depth(tiled.dtype) } else { 1 };
        if let Some(mode) = tiled.contracted.mode {
            let by = if depth == 1 { String::new() } else { format!(" by {depth}") };
            let line = format!("unroll  {} {}{by}", self.name(mode), tiled.contracted.tile);
            self.open(&line);
        }
        let [row, col] = [tiled.row.mode, tiled.col.mode].map(|mode| self.name(mode));
        let product = match map.fragments {
            true if tiled.summing == Summing::Apart => {
                format!("the sum of products of 16x8x{depth} by a warp")
            }
            true => format!("products of 16x8x{depth} by a warp"),
            false => "product".to_string(),
        };
        let line = format!(
            "regs    {} of {row} as {} by {}, {} of {col} as {} by {}: acc += {product}",
            map.thread_elems(0),
            map.quads[0],
            map.quad_stride(0),
            map.thread_elems(1),
            map.quads[1],
            map.quad_stride(1),
        );
        self.line(&line);
        self.depth = self.base;
        if tiled.settles() {
            self.line("barrier before the results");
        }
    }

    fn epilogue(&mut self, tiled: &Tiled) {
        let (Epilogue::Exchanged(exchange), Some(mode)) = (tiled.epilogue, tiled.batch.mode) else {
            return;
        };
        let line = format!(
            "store   along {}, through the stages, {} of a thread's {} at a time",
            self.name(mode),
            exchange.thread_rows,
            self.name(tiled.row.mode)
        );
        self.line(&line);
    }

    fn variants(&mut self, tiled: &Tiled) {
        for variant in &tiled.variants {
            let line = format!(
                "variant {}: loads of {} and {} elements, stores of {}",
                variant.kind.name(),
                variant.load_elems[0],
                variant.load_elems[1],
                variant.store_elems
            );
            self.line(&line);
        }
    }

    fn transpose(&mut self, statement: &Statement, transpose: &Transpose) {
        let (load, store) = (transpose.load, transpose.store);
        self.grid(&transpose.outer);
        self.split("grid", load.mode, transpose.tile, load.tail);
        self.split("grid", store.mode, transpose.tile, store.tail);
        let [load, store] = [load, store].map(|side| self.name(side.mode).to_string());
        let tensors = statement.factors().into_iter().map(|factor| factor.tensor);
        let tensors: Vec<&str> =
            tensors.map(|tensor| self.program.tensor(tensor).name.as_str()).collect();
        let (tile, row) = (transpose.tile, transpose.row_elems);
        let line = format!(
            "stage   {} as [{store} {tile}][{load} {tile}], rows of {row}, loaded along {load}, \
             stored along {store}",
            tensors.join(" ")
        );
        self.line(&line);
        let rows = transpose.rows_at_a_time();
        self.open(&format!("threads {tile} of a row, {rows} rows at a time"));
        self.line(&format!("unroll  {} rows a thread", tile / rows));
        self.depth = 0;
    }

    fn reduction(&mut self, statement: &Statement, reduction: &Reduction) {
        for split in &reduction.splits {
            self.open(&format!("for {}", split.range.words()));
            self.reduction_split(statement, reduction, split);
        }
        for kind in &reduction.kinds {
            let line =
                format!("variant {}: loads of {} elements", kind.name(), Reduction::elems(*kind));
            self.line(&line);
        }
    }

    /// One split, in threads and elements of the narrow variant.
    fn reduction_split(&mut self, statement: &Statement, reduction: &Reduction, split: &Split) {
        let kind = VariantKind::Narrow;
        let lane_mode = self.name(reduction.lane_mode).to_string();
        let (outer, terms) = (self.names(&reduction.outer), self.names(&reduction.terms));
        let (outputs, threads) = (split.block_outputs, reduction.output_threads(split, kind));
        match reduction.lanes {
            Lanes::Terms if outer.is_empty() => self.open("grid    the one output"),
            Lanes::Terms => self.open(&format!("grid    {outer} in blocks of {outputs}")),
            Lanes::Outputs => {
                self.grid(&reduction.outer);
                self.open(&format!("grid    {lane_mode} in tiles of {outputs}, tail predicated"));
                self.open(&format!(
                    "lanes   {} of {lane_mode}",
                    reduction.output_lanes(split, kind)
                ));
            }
        }
        if let Range::Long(parts) = split.range {
            self.open(&format!("grid    {terms} in {}", parts.lengths()));
        }
        self.open(&format!("threads {threads} of {terms}"));
        self.open(&format!("serial  {terms} by {}", threads * reduction.ahead));
        let taken = taken(statement);
        self.line(&format!("unroll  {} terms by {threads}: {taken}", reduction.ahead));
        self.depth = 0;
        if let Range::Long(_) = split.range {
            self.line("  then  a second kernel adds the parts of each output in a fixed order");
        }
    }

    fn names(&self, modes: &[ModeId]) -> String {
        let names: Vec<&str> = modes.iter().map(|mode| self.name(*mode)).collect();
        names.join(" ")
    }

    fn rows(&mut self, rows: &Rows) {
        for group in &rows.together {
            let steps: Vec<String> = group.clone().map(|step| step.to_string()).collect();
            self.line(&format!("steps {} in one pass and one exchange", steps.join(", ")));
        }
        let (all, col) = (self.names(&rows.row_modes), self.name(rows.col_mode).to_string());
        let all = if all.is_empty() { "the one row".to_string() } else { all };
        for width in &rows.widths {
            self.open(&format!("for {}", width.words()));
            self.open(&format!("grid    {all} in blocks of {}", width.block_rows));
            self.open(&format!("threads {} of {col}", width.row_threads));
            match width.thread_cols {
                Some(cols) => {
                    self.line(&format!("regs    {cols} of {col}, in turn through every statement"));
                }
                None => self.line(&format!("serial  {col} once for every statement")),
            }
            self.depth = 0;
        }
        for kind in &rows.kinds {
            self.line(&format!(
                "variant {}: {} columns an access",
                kind.name(),
                Rows::elems(*kind)
            ));
        }
    }

    fn segments(&mut self, segments: &Segments) {
        let Segments { segment, lane_mode, edge_mode, block_threads, ahead, .. } = *segments;
        let [row, lane, edge] =
            [segment.row, lane_mode, edge_mode].map(|mode| self.name(mode).to_string());
        for (position, lanes) in segments.row_lanes.iter().enumerate() {
            match segments.row_lanes.get(position + 1) {
                Some(_) => self.open(&format!("for {lane} up to {}", lanes * 4)),
                None => self.open("for everything else"),
            }
            self.open(&format!("grid    {lane} in tiles of {lanes} lanes, tail predicated"));
            self.open(&format!("grid    {row} in blocks of {}", block_threads / lanes));
            self.open(&format!(
                "lanes   {lanes} of {lane}, four neighbours each where accesses are wide"
            ));
            self.line(&format!("serial  {edge} of the row, {ahead} in flight"));
            self.depth = 0;
        }
        self.line(&format!(
            "rows of {0} of {edge} or more in parts: a block of its own reduces every {0} of a row, \
             and what is left beside the last, before; the lanes combine those of their row in \
             ascending order",
            segments.part_edges
        ));
        for kind in &segments.kinds {
            self.line(&format!(
                "variant {}: {} elements an access",
                kind.name(),
                Segments::elems(*kind)
            ));
        }
    }

    fn elementwise(&mut self, elementwise: &Elementwise) {
        let Elementwise { lane_mode, thread_rows, block_threads, .. } = *elementwise;
        let [lane, unrolled] =
            [lane_mode, elementwise.unrolled_mode()].map(|mode| self.name(mode).to_string());
        let outer: Vec<ModeId> =
            elementwise.outer.iter().copied().chain(elementwise.row_mode).collect();
        let outer = self.names(&outer);
        let outer = if outer.is_empty() { lane.clone() } else { format!("{outer} {lane}") };
        self.open(&format!("grid    {outer} in blocks of {block_threads} threads"));
        self.open(&format!("lanes   along {lane}"));
        self.line(&format!("unroll  {thread_rows} of {unrolled}, tail predicated"));
        self.depth = 0;
        for kind in &elementwise.kinds {
            let elems = Elementwise::elems(*kind);
            self.line(&format!("variant {}: {elems} elements an access", kind.name()));
        }
    }

    fn per_output(&mut self, statement: &Statement, per_output: &PerOutput) {
        let output = self.names(&statement.target.modes);
        self.open(&format!(
            "grid    {} in blocks of {}, tail predicated",
            if output.is_empty() { "the one output" } else { &output },
            per_output.block_threads
        ));
        self.open("threads one output each");
        for mode in &statement.reduced {
            let name = self.name(*mode).to_string();
            let of = match statement.segment {
                None => name,
                Some(segment) => {
                    let row = self.name(segment.row);
                    let pointers = &self.program.tensor(segment.pointers).name;
                    format!("{name} from {pointers}[{row}] to {pointers}[{row}+1]")
                }
            };
            self.open(&format!("serial  {of}"));
        }
        self.depth = 0;
    }
}
