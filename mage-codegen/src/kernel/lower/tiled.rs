//! Lowers a tiled contraction: stages in shared memory, the next steps on their way while this step's
//! products are summed in registers, and a predicated epilogue.

mod beside;
mod mma;
mod steps;

use mage_einsum::index::{Access, ModeId};

use super::builder::{Builder, Frame, reg};
use super::epilogue;
use super::exchange;
use super::grid;
use super::names::Names;
use super::part::Part;
use super::stage::{Step, Walk};
use super::total::Partial;
use crate::kernel::{
    Expr, HostExpr, Kernel, Place, RegId, SharedId, Space, Stmt, Ty, Value, Width,
};
use crate::schedule::{Epilogue, Launch, Schedule, Tiled, Variant, VariantKind, chunk_elems};

/// The kernel of one variant of a tile.
pub fn kernel(
    schedule: &Schedule,
    launch: &Launch,
    tile: (&Tiled, &Variant),
    names: &Names,
    version: &Version<'_>,
) -> Kernel {
    Lowering::new(schedule, launch, tile, names, version).kernel()
}

/// Which of the kernels of a contraction.
#[derive(Clone, Copy)]
pub struct Version<'p> {
    /// What its name adds.
    pub name: Option<&'static str>,
    /// The blocks of its grid.
    pub blocks: &'p HostExpr,
    /// Where a part's sums go; none where a block takes all steps.
    pub partial: Option<&'p Partial>,
}

struct Lowering<'p> {
    builder: Builder<'p>,
    schedule: &'p Schedule,
    launch: &'p Launch,
    tiled: &'p Tiled,
    variant: &'p Variant,
    factors: Vec<Access>,
    /// What the names of each factor's things begin with: its tensor, told apart where both
    /// factors are the same tensor.
    stems: [String; 2],
    target: Access,
    version: Version<'p>,
}

/// What the parts of a kernel share.
struct Parts {
    tiles: SharedId,
    stage: Expr,
    /// The running sums, those of a round where there are rounds.
    acc: RegId,
    /// The sums of all rounds: the running sums where there are none.
    sums: RegId,
    fragments: [RegId; 2],
    /// The thread's place in a stage, one a side.
    cells: [Expr; 2],
}

impl<'p> Lowering<'p> {
    fn new(
        schedule: &'p Schedule,
        launch: &'p Launch,
        (tiled, variant): (&'p Tiled, &'p Variant),
        names: &'p Names,
        version: &Version<'p>,
    ) -> Lowering<'p> {
        let program = &schedule.program;
        let statement = &program.statements[launch.statement];
        let factors: Vec<Access> = statement.factors().into_iter().cloned().collect();
        let [left, right] = [0, 1].map(|factor: usize| names.tensor(factors[factor].tensor));
        let again = if left == right { "_again" } else { "" };
        Lowering {
            builder: Builder::new(schedule, launch, names, Ty::U32),
            schedule,
            launch,
            tiled,
            variant,
            stems: [left.to_string(), format!("{right}{again}")],
            factors,
            target: schedule.target(launch).clone(),
            version: *version,
        }
    }

    fn kernel(mut self) -> Kernel {
        let tiled = self.tiled;
        let mut body = Vec::new();
        let (target, n_steps) = ((&self.target, self.version.partial), self.n_steps());
        let mut part = Part::bind(&mut self.builder, &mut body, target, n_steps);
        let digits = grid::digits(tiled);
        let origins = grid::bind(&mut self.builder, &mut body, &digits, part.block.clone());
        for (side, elems) in tiled.sides().into_iter().zip(self.variant.load_elems) {
            self.builder.reads(&self.factors[side.factor], elems);
        }
        for access in self.factors.iter().chain([&self.target]) {
            self.builder.bind_strides(&mut body, access);
        }
        self.builder.bind_epilogue_strides(&mut body);
        let owned = epilogue::bind_owned(&mut self.builder, &mut body, tiled);
        let tiles =
            self.builder.shared_of("tiles", tiled.stages * tiled.stage_elems(), tiled.dtype);
        let walks = self.walks(&mut body);
        let staged = (walks.as_slice(), tiles);
        let acc = match tiled.threads.fragments {
            true => self.tensor_cores(&mut body, staged, &origins, &mut part, &owned),
            false => self.multiply_adds(&mut body, staged, &origins, &mut part, &owned),
        };
        let store = epilogue::Store {
            tiled,
            variant: self.variant,
            target: &self.target,
            part: &part,
            origins: &origins,
            owned: &owned,
            acc,
        };
        match tiled.epilogue {
            Epilogue::Direct => epilogue::store(&mut self.builder, &mut body, &store),
            Epilogue::Exchanged(exchange) => {
                exchange::store(&mut self.builder, &mut body, &store, exchange, tiles);
            }
        }
        let frame = self.frame();
        self.builder.finish(frame, body)
    }

    /// Sums the products of all steps of a block, the next step's elements in registers meanwhile;
    /// the registers that hold the sums.
    fn multiply_adds(
        &mut self,
        body: &mut Vec<Stmt>,
        (walks, tiles): (&[Walk], SharedId),
        origins: &[(ModeId, Expr)],
        part: &mut Part,
        owned: &epilogue::Owned,
    ) -> RegId {
        let parts = self.parts(body, tiles, owned);
        part.end = self.builder.bind(body, "n_steps", part.end.clone());
        self.load(body, walks, origins, part, None);
        self.stage_beside(body, origins);
        for walk in walks {
            walk.store(&mut self.builder, body, (tiles, &Expr::u32(0)), "first");
        }
        body.push(Stmt::Barrier);
        self.mainloop(body, walks, origins, part, &parts);
        if self.tiled.settles() {
            body.push(Stmt::Barrier);
        }
        parts.sums
    }

    fn frame(&self) -> Frame {
        let kind = self.variant.kind;
        let how = match (self.version.partial, self.tiled.summing.round_steps()) {
            (Some(_), _) => "A part of the steps a block. ",
            (None, Some(_)) => "Steps in rounds. ",
            (None, None) => "",
        };
        let dtype = self.schedule.program.operand_dtype();
        let elems = if self.tiled.threads.fragments { chunk_elems(self.tiled.dtype) } else { 4 };
        let accesses = kind.accesses(dtype, elems);
        let part = (self.tiled.variants.len() > 1).then(|| kind.name());
        Frame {
            name: self.schedule.kernel_name(self.launch, self.version.name.into_iter().chain(part)),
            summary: format!("{how}{accesses}"),
            block_threads: self.tiled.threads.block_threads(),
            min_blocks: self.min_blocks(),
        }
    }

    /// Blocks a multiprocessor that registers are kept for. Elements on the way to the tensor cores
    /// one by one are held in registers meanwhile, where copies need none.
    fn min_blocks(&self) -> u32 {
        let blocks = self.tiled.min_blocks;
        match (self.tiled.threads.fragments, self.variant.kind) {
            (true, VariantKind::Narrow) => (blocks / 2).max(1),
            (true, VariantKind::Wide) | (false, _) => blocks,
        }
    }

    fn walks(&mut self, body: &mut Vec<Stmt>) -> Vec<Walk> {
        let tiled = self.tiled;
        let row_part = tiled.row.staging.channel_elems * tiled.batch.tile;
        let col = self.stems[tiled.col.factor].to_uppercase();
        let bases = [Expr::u32(0), Expr::named(&format!("{col}_BASE"), row_part)];
        let mut walks = Vec::new();
        for ((side, elems), base) in
            tiled.sides().into_iter().zip(self.variant.load_elems).zip(bases)
        {
            let access = self.factors[side.factor].clone();
            let factor = (&access, self.stems[side.factor].as_str());
            walks.push(Walk::new(&mut self.builder, body, tiled, side, factor, elems, base));
        }
        walks
    }

    fn parts(&mut self, body: &mut Vec<Stmt>, tiles: SharedId, owned: &epilogue::Owned) -> Parts {
        let map = &self.tiled.threads;
        let n_acc = map.thread_elems(0) * map.thread_elems(1);
        let acc = self.builder.registers("acc", n_acc);
        let sums = match self.tiled.summing.round_steps() {
            None => acc,
            Some(_) => self.builder.registers("sums", n_acc),
        };
        let fragments = [0, 1].map(|direction| {
            let side = self.tiled.sides()[direction];
            let stem = &self.stems[side.factor];
            self.builder.registers(&format!("{stem}_frag"), map.thread_elems(direction))
        });
        let cells = [0, 1].map(|direction| self.cell(body, direction, owned));
        let stage = self.stage(body);
        body.push(Stmt::Fill { reg: sums, value: 0.0 });
        for fragment in fragments {
            body.push(Stmt::Fill { reg: fragment, value: 0.0 });
        }
        Parts { tiles, stage, acc, sums, fragments, cells }
    }

    /// Where the current stage begins: a variable that flips between two stages, or 0.
    fn stage(&mut self, body: &mut Vec<Stmt>) -> Expr {
        if self.tiled.stages == 1 {
            return Expr::u32(0);
        }
        let stage = self.builder.var("stage", Ty::U32, true);
        body.push(Stmt::Let { var: stage, value: Expr::u32(0) });
        Expr::Var(stage)
    }

    /// Where a thread's first element of a side stands in a stage, for contracted position 0.
    fn cell(&mut self, body: &mut Vec<Stmt>, direction: usize, owned: &epilogue::Owned) -> Expr {
        let side = self.tiled.sides()[direction];
        let stem = &self.stems[side.factor];
        let upper = stem.to_uppercase();
        let channel = Expr::named(&format!("{upper}_CHANNEL"), side.staging.channel_elems);
        let row_part = self.tiled.row.staging.channel_elems * self.tiled.batch.tile;
        let base = match direction {
            0 => Expr::u32(0),
            _ => Expr::named(&format!("{upper}_BASE"), row_part),
        };
        let cell =
            base.plus(owned.channel.clone().times(channel)).plus(owned.sides[direction].clone());
        self.builder.bind(body, &format!("{stem}_cell"), cell)
    }

    /// Loads of the first step, or of the next one.
    fn load(
        &mut self,
        body: &mut Vec<Stmt>,
        walks: &[Walk],
        origins: &[(ModeId, Expr)],
        part: &Part,
        next: Option<&Expr>,
    ) {
        let suffix = if next.is_some() { "next" } else { "first" };
        let first = part.is_part().then_some(&part.begin);
        let mut origins = origins.to_vec();
        origins.extend(self.contracted_origins(body, next.or(first), suffix));
        let exists = self.step_exists(next, part);
        let step = Step { suffix, origins: &origins, exists };
        for walk in walks {
            walk.load(&mut self.builder, body, &step);
        }
    }

    fn mainloop(
        &mut self,
        body: &mut Vec<Stmt>,
        walks: &[Walk],
        origins: &[(ModeId, Expr)],
        part: &Part,
        parts: &Parts,
    ) {
        if self.tiled.stages == 1 {
            self.products(body, parts);
            return;
        }
        let step = self.builder.var("step", Ty::U32, false);
        let mut turn = Vec::new();
        let next = Expr::Var(step).plus(Expr::u32(1));
        let next = self.builder.bind(&mut turn, "next", next);
        self.load(&mut turn, walks, origins, part, Some(&next));
        self.products(&mut turn, parts);
        let flipped = parts.stage.clone().xor(Expr::named("STAGE", self.tiled.stage_elems()));
        if let Expr::Var(stage) = parts.stage {
            turn.push(Stmt::Assign { var: stage, value: flipped });
        }
        for walk in walks {
            walk.store(&mut self.builder, &mut turn, (parts.tiles, &parts.stage), "next");
        }
        turn.push(Stmt::Barrier);
        self.steps(body, (step, turn), part, [parts.acc, parts.sums]);
    }

    /// `acc += row fragment * column fragment` for every contracted position of the stage.
    fn products(&mut self, body: &mut Vec<Stmt>, parts: &Parts) {
        let tiled = self.tiled;
        let stem = tiled.contracted.mode.map_or("unit", |mode| self.builder.names.mode(mode));
        let depth = format!("{stem}_in");
        let sides = tiled.sides();
        let stems = sides.map(|side| (self.stems[side.factor].clone(), side));
        self.builder.unrolled(body, &depth, tiled.contracted.tile, |builder, body, at| {
            for (direction, (stem, side)) in stems.iter().enumerate() {
                let row =
                    Expr::named(&format!("{}_ROW", stem.to_uppercase()), side.staging.row_elems);
                let base = parts.stage.clone().plus(parts.cells[direction].clone());
                let base = base.plus(at.clone().times(row));
                fragment(builder, body, tiled, (direction, stem), parts, base);
            }
            accumulate(builder, body, tiled, parts);
        });
    }
}

fn fragment(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    tiled: &Tiled,
    (direction, stem): (usize, &str),
    parts: &Parts,
    base: Expr,
) {
    let map = &tiled.threads;
    let elems = map.quad_elems[direction];
    let width = Width::of(elems);
    let name = format!("{stem}_quad");
    builder.unrolled(body, &name, map.quads[direction], |_, body, quad| {
        let offset = base.plus(quad.clone().times(Expr::u32(map.quad_stride(direction))));
        body.push(Stmt::Load {
            to: reg(parts.fragments[direction], quad.times(Expr::u32(elems))),
            from: Place { space: Space::Shared(parts.tiles), offset },
            width,
            when: None,
        });
    });
}

fn accumulate(builder: &mut Builder<'_>, body: &mut Vec<Stmt>, tiled: &Tiled, parts: &Parts) {
    let [rows, cols] = [0, 1].map(|direction| tiled.threads.thread_elems(direction));
    builder.unrolled(body, "row", rows, |builder, body, row| {
        builder.unrolled(body, "col", cols, |_, body, col| {
            let acc = reg(parts.acc, row.clone().times(Expr::u32(cols)).plus(col.clone()));
            let [left, right] = parts.fragments;
            let value = Value::Fma(reg(left, row), reg(right, col), acc.clone());
            body.push(Stmt::Compute { to: acc, value });
        });
    });
}
