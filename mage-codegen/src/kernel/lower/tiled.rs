//! Lowers a tiled contraction: two stages in shared memory, the next step's loads in flight while
//! this step's products are summed in registers, and a predicated epilogue.

use mage_einsum::index::{Access, ModeId, Statement};

use super::builder::{Builder, Frame, host_extent, reg};
use super::epilogue;
use super::grid;
use super::host::{NARROW_COORDINATES, grid_limit, require_limit};
use super::names::Names;
use super::stage::{Step, Walk};
use super::wide;
use crate::kernel::{
    Arm, Expr, HostExpr, HostStep, Kernel, Module, Place, Pred, RegId, SharedId, Space, Stmt, Ty,
    Value, Width,
};
use crate::schedule::{Launch, Schedule, Tail, Tiled, Variant};

/// The kernels of all variants and the steps that select one.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    tiled: &Tiled,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let blocks = grid::blocks(schedule, &grid::digits(tiled, names), names);
    let mut steps: Vec<HostStep> = Vec::new();
    steps.extend(grid_limit(schedule, launch, &blocks));
    if !tiled.contracted.outer.is_empty() {
        let n_steps = host_steps(schedule, tiled, names);
        steps.extend(require_limit("steps of a block", n_steps, NARROW_COORDINATES));
    }
    let mut kernels = Vec::new();
    let mut arms = Vec::new();
    for variant in &tiled.variants {
        let kernel = module.kernels.len() + kernels.len();
        let wide = wide_accesses(&schedule.program.statements[launch.statement], tiled, variant);
        arms.push(Arm {
            name: variant.kind.name().to_string(),
            eligible: wide::eligible(&schedule.program, names, module, &wide),
            steps: vec![HostStep::Launch { kernel, blocks: blocks.clone() }],
        });
        kernels.push(Lowering::new(schedule, launch, tiled, variant, names).kernel());
    }
    match arms.len() {
        1 => steps.extend(arms.remove(0).steps),
        _ => steps.push(HostStep::Select(arms)),
    }
    (kernels, steps)
}

fn host_steps(schedule: &Schedule, tiled: &Tiled, names: &Names) -> HostExpr {
    let extent = |mode: ModeId| host_extent(&schedule.program, names, mode);
    let mut counts: Vec<HostExpr> =
        tiled.contracted.outer.iter().map(|mode| extent(*mode)).collect();
    if let Some(mode) = tiled.contracted.mode {
        counts.push(extent(mode).ceil_div(u64::from(tiled.contracted.tile)));
    }
    HostExpr::product(counts)
}

/// The accesses that a variant makes four elements wide, in the order of buffers.
fn wide_accesses<'s>(
    statement: &'s Statement,
    tiled: &Tiled,
    variant: &Variant,
) -> Vec<&'s Access> {
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
}

/// What the parts of a kernel share.
struct Parts {
    tiles: SharedId,
    stage: Expr,
    acc: RegId,
    fragments: [RegId; 2],
    /// The thread's place in a stage, one a side.
    cells: [Expr; 2],
}

impl<'p> Lowering<'p> {
    fn new(
        schedule: &'p Schedule,
        launch: &'p Launch,
        tiled: &'p Tiled,
        variant: &'p Variant,
        names: &'p Names,
    ) -> Lowering<'p> {
        let program = &schedule.program;
        let statement = &program.statements[launch.statement];
        let modes: Vec<ModeId> = statement.roles.iter().map(|(mode, _)| *mode).collect();
        let factors: Vec<Access> = statement.factors().into_iter().cloned().collect();
        let [left, right] = [0, 1].map(|factor: usize| names.tensor(factors[factor].tensor));
        let again = if left == right { "_again" } else { "" };
        Lowering {
            builder: Builder::new(program, names, Ty::U32, &modes),
            schedule,
            launch,
            tiled,
            variant,
            stems: [left.to_string(), format!("{right}{again}")],
            factors,
            target: statement.target.clone(),
        }
    }

    fn kernel(mut self) -> Kernel {
        let tiled = self.tiled;
        let mut body = Vec::new();
        let digits = grid::digits(tiled, self.builder.names);
        let origins = grid::bind(&mut self.builder, &mut body, &digits);
        for (side, elems) in tiled.sides().into_iter().zip(self.variant.load_elems) {
            self.builder.reads(&self.factors[side.factor], elems);
        }
        for access in self.factors.iter().chain([&self.target]) {
            self.builder.bind_strides(&mut body, access);
        }
        let owned = epilogue::bind_owned(&mut self.builder, &mut body, tiled);
        let tiles = self.builder.shared("tiles", tiled.stages * tiled.stage_elems());
        let walks = self.walks(&mut body);
        let parts = self.parts(&mut body, tiles, &owned);

        let n_steps = self.n_steps(&mut body);
        self.load(&mut body, &walks, &origins, &n_steps, None);
        for walk in &walks {
            walk.store(&mut self.builder, &mut body, tiles, &Expr::u32(0), "first");
        }
        body.push(Stmt::Barrier);
        self.mainloop(&mut body, &walks, &origins, &n_steps, &parts);
        let store = epilogue::Store {
            tiled,
            variant: self.variant,
            target: &self.target,
            origins: &origins,
            owned: &owned,
            acc: parts.acc,
        };
        epilogue::store(&mut self.builder, &mut body, &store);
        let frame = self.frame();
        self.builder.finish(frame, body)
    }

    fn frame(&self) -> Frame {
        let kind = self.variant.kind;
        let part = (self.tiled.variants.len() > 1).then(|| kind.name());
        Frame {
            name: self.schedule.kernel_name(self.launch, part),
            summary: kind.accesses(self.schedule.program.operand_dtype()),
            block_threads: self.tiled.threads.block_threads(),
            min_blocks: self.tiled.min_blocks,
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
        let acc = self.builder.registers("acc", map.thread_elems(0) * map.thread_elems(1));
        let fragments = [0, 1].map(|direction| {
            let side = self.tiled.sides()[direction];
            let stem = &self.stems[side.factor];
            self.builder.registers(&format!("{stem}_frag"), map.thread_elems(direction))
        });
        let cells = [0, 1].map(|direction| self.cell(body, direction, owned));
        let stage = self.stage(body);
        body.push(Stmt::Fill { reg: acc, value: 0.0 });
        for fragment in fragments {
            body.push(Stmt::Fill { reg: fragment, value: 0.0 });
        }
        Parts { tiles, stage, acc, fragments, cells }
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

    /// Loads of the first step, or of the step after `step`.
    fn load(
        &mut self,
        body: &mut Vec<Stmt>,
        walks: &[Walk],
        origins: &[(ModeId, Expr)],
        n_steps: &Expr,
        step: Option<&Expr>,
    ) {
        let suffix = if step.is_some() { "next" } else { "first" };
        let next = step.map(|step| step.clone().plus(Expr::u32(1)));
        let next = next.map(|next| self.builder.bind(body, "next", next));
        let mut origins = origins.to_vec();
        origins.extend(self.contracted_origins(body, next.as_ref(), suffix));
        let exists = self.step_exists(next, n_steps);
        let step = Step { suffix, origins: &origins, exists };
        for walk in walks {
            walk.load(&mut self.builder, body, &step);
        }
    }

    /// A step past the last loads nothing. With a single predicated mode its own predicate says
    /// so; otherwise the step's number does.
    fn step_exists(&self, next: Option<Expr>, n_steps: &Expr) -> Option<Pred> {
        let contracted = &self.tiled.contracted;
        let told_by_predicate = contracted.tail == Tail::Predicated && contracted.outer.is_empty();
        let never_empty = contracted.outer.is_empty();
        match next {
            _ if told_by_predicate => None,
            Some(next) => Some(next.less(n_steps.clone())),
            None if never_empty => None,
            None => Some(Expr::u32(0).less(n_steps.clone())),
        }
    }

    /// The origin of the contracted tile and the coordinates of the modes around it; `None` is
    /// the first step, where all are zero.
    fn contracted_origins(
        &mut self,
        body: &mut Vec<Stmt>,
        step: Option<&Expr>,
        suffix: &str,
    ) -> Vec<(ModeId, Expr)> {
        let contracted = &self.tiled.contracted;
        let (Some(mode), Some(step)) = (contracted.mode, step) else {
            return Vec::new();
        };
        let names = self.builder.names;
        let stem = names.mode(mode).to_string();
        let tile = Expr::named(&grid::tile_name(names, mode), contracted.tile);
        let mut origins = Vec::new();
        let mut rest = step.clone();
        if !contracted.outer.is_empty() {
            let tiles = self.tiles_of(mode, contracted.tile);
            let tiles = self.builder.bind(body, &format!("{stem}_tiles_{suffix}"), tiles);
            let at = rest.clone().modulo(tiles.clone()).times(tile);
            origins.push((mode, self.builder.bind(body, &format!("{stem}_tile_{suffix}"), at)));
            rest = self.builder.bind(body, &format!("above_{stem}_{suffix}"), rest.over(tiles));
        } else {
            let at = rest.clone().times(tile);
            origins.push((mode, self.builder.bind(body, &format!("{stem}_tile_{suffix}"), at)));
        }
        for (position, outer) in contracted.outer.iter().enumerate().rev() {
            let stem = names.mode(*outer).to_string();
            let extent = self.builder.extent(*outer);
            let at = if position == 0 { rest.clone() } else { rest.clone().modulo(extent.clone()) };
            origins.push((*outer, self.builder.bind(body, &format!("{stem}_at_{suffix}"), at)));
            if position > 0 {
                let name = format!("above_{stem}_{suffix}");
                rest = self.builder.bind(body, &name, rest.over(extent));
            }
        }
        origins
    }

    fn tiles_of(&self, mode: ModeId, tile: u32) -> Expr {
        let extent = self.builder.extent(mode);
        match extent.as_const() {
            Some(fixed) => Expr::u32(u32::try_from(fixed).unwrap_or(u32::MAX).div_ceil(tile)),
            None => {
                let name = grid::tile_name(self.builder.names, mode);
                grid::ceil_div(&self.builder, extent, &name, tile)
            }
        }
    }

    fn n_steps(&mut self, body: &mut Vec<Stmt>) -> Expr {
        let contracted = &self.tiled.contracted;
        let tiles = match contracted.mode {
            None => Expr::u32(1),
            Some(mode) => self.tiles_of(mode, contracted.tile),
        };
        let outer = contracted.outer.iter();
        let steps = outer.fold(tiles, |steps, mode| steps.times(self.builder.extent(*mode)));
        self.builder.bind(body, "n_steps", steps)
    }

    fn mainloop(
        &mut self,
        body: &mut Vec<Stmt>,
        walks: &[Walk],
        origins: &[(ModeId, Expr)],
        n_steps: &Expr,
        parts: &Parts,
    ) {
        if self.tiled.stages == 1 {
            self.products(body, parts);
            return;
        }
        let step = self.builder.var("step", Ty::U32, false);
        let mut turn = Vec::new();
        self.load(&mut turn, walks, origins, n_steps, Some(&Expr::Var(step)));
        self.products(&mut turn, parts);
        let flipped = parts.stage.clone().xor(Expr::named("STAGE", self.tiled.stage_elems()));
        if let Expr::Var(stage) = parts.stage {
            turn.push(Stmt::Assign { var: stage, value: flipped });
        }
        for walk in walks {
            walk.store(&mut self.builder, &mut turn, parts.tiles, &parts.stage, "next");
        }
        turn.push(Stmt::Barrier);
        body.push(Stmt::For {
            var: step,
            begin: Expr::u32(0),
            end: n_steps.clone(),
            step: 1,
            unroll: false,
            body: turn,
        });
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
    let width = if elems == 4 { Width::Four } else { Width::One };
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
