//! Lowers a transpose: a tile is loaded along the operand's contiguous mode, laid into shared
//! memory, and stored along the output's.

use mage_einsum::index::{Access, ModeId};

use super::builder::{Builder, Frame, Write, all, buffer, reg};
use super::coordinates;
use super::grid::{self, Digit};
use super::host::grid_limit;
use super::names::Names;
use crate::kernel::{
    Expr, HostStep, Kernel, Module, Place, Pred, RegId, SharedId, Space, Stmt, Ty, Width,
};
use crate::schedule::{Launch, Schedule, Tail, TileSide, Transpose};

/// The kernel and the steps that launch it.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    transpose: &Transpose,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let blocks = grid::blocks(schedule, &digits(transpose), names);
    let mut steps: Vec<HostStep> = Vec::new();
    steps.extend(grid_limit(schedule, launch, None, &blocks));
    steps.push(HostStep::Launch { kernel: module.kernels.len(), blocks });
    (vec![kernel(schedule, launch, transpose, names)], steps)
}

/// Neighbouring blocks load neighbouring tiles of the operand.
fn digits(transpose: &Transpose) -> Vec<Digit> {
    let mut digits: Vec<Digit> = [transpose.load, transpose.store]
        .map(|side| Digit::tiled(side.mode, transpose.tile))
        .into();
    digits.extend(transpose.outer.iter().rev().map(|mode| Digit::single(*mode)));
    digits
}

fn kernel(schedule: &Schedule, launch: &Launch, transpose: &Transpose, names: &Names) -> Kernel {
    let statement = &schedule.program.statements[launch.statement];
    let mut builder = Builder::new(schedule, launch, names, Ty::U64);
    let mut body = Vec::new();
    let origins = grid::bind(&mut builder, &mut body, &digits(transpose), Expr::Block);
    let factors = statement.factors();
    for access in factors.iter().copied().chain([&statement.target]) {
        builder.bind_strides(&mut body, access);
    }
    let thread = builder.thread(&mut body);
    let tile = Expr::named("TILE", transpose.tile);
    let lane = builder.bind(&mut body, "lane", thread.clone().modulo(tile.clone()));
    let row = builder.bind(&mut body, "row", thread.over(tile));
    let cells = builder.shared("cells", transpose.tile * transpose.row_elems);
    let mut moves = Moves { builder, transpose, origins, lane, row, cells };
    for factor in factors {
        moves.load(&mut body, factor);
    }
    body.push(Stmt::Barrier);
    moves.store(&mut body, &statement.target);
    let frame = Frame {
        name: schedule.kernel_name(launch, []),
        summary: "A tile through shared memory, for any extents and alignment.".to_string(),
        block_threads: transpose.block_threads,
        min_blocks: 1,
    };
    moves.builder.finish(frame, body)
}

struct Moves<'p> {
    builder: Builder<'p>,
    transpose: &'p Transpose,
    origins: Vec<(ModeId, Expr)>,
    /// The thread's place in a row of the tile, and its first row.
    lane: Expr,
    row: Expr,
    cells: SharedId,
}

impl Moves<'_> {
    /// Rows of the tile lie as the operand does. All loads come before the first store into shared
    /// memory, so that they are in flight together.
    fn load(&mut self, body: &mut Vec<Stmt>, factor: &Access) {
        let transpose = self.transpose;
        let passes = transpose.tile / transpose.rows_at_a_time();
        let name = format!("{}_value", self.builder.names.tensor(factor.tensor));
        let values = self.builder.registers(&name, passes);
        body.push(Stmt::Fill { reg: values, value: 0.0 });
        let (across, down) = (transpose.load, transpose.store);
        let across_at = self.position(body, across, self.lane.clone(), "load");
        let mut moved = Vec::new();
        let pass = self.builder.var("load_pass", Ty::U32, false);
        let down_at = self.position(&mut moved, down, self.row_of(&Expr::Var(pass)), "load");
        let offset = self.offset(factor, [(across.mode, &across_at), (down.mode, &down_at)]);
        moved.push(Stmt::Load {
            to: reg(values, Expr::Var(pass)),
            from: Place { space: Space::Global(buffer(factor)), offset },
            width: Width::One,
            when: self.exists([(across, &across_at), (down, &down_at)]),
        });
        body.push(Stmt::unrolled(pass, passes, moved));
        self.lay_down(body, values, passes);
    }

    fn lay_down(&mut self, body: &mut Vec<Stmt>, values: RegId, passes: u32) {
        let (row, lane, cells) = (self.row.clone(), self.lane.clone(), self.cells);
        let (step, row_elems) = (self.step(), self.row_elems());
        self.builder.unrolled(body, "pass", passes, |_, body, pass| {
            let at = row.plus(pass.clone().times(step)).times(row_elems).plus(lane);
            body.push(Stmt::Store {
                to: Place { space: Space::Shared(cells), offset: at },
                from: vec![reg(values, pass)],
                width: Width::One,
                when: None,
            });
        });
    }

    /// Columns of the tile lie as the output does.
    fn store(&mut self, body: &mut Vec<Stmt>, target: &Access) {
        let transpose = self.transpose;
        let passes = transpose.tile / transpose.rows_at_a_time();
        let (across, down) = (transpose.store, transpose.load);
        let across_at = self.position(body, across, self.lane.clone(), "store");
        let value = self.builder.registers("value", 1);
        let pass = self.builder.var("store_pass", Ty::U32, false);
        let mut moved = Vec::new();
        let down_at = self.position(&mut moved, down, self.row_of(&Expr::Var(pass)), "store");
        let cell = self.lane.clone().times(self.row_elems()).plus(self.row_of(&Expr::Var(pass)));
        let value = reg(value, Expr::u32(0));
        moved.push(Stmt::Fill { reg: value.array, value: 0.0 });
        moved.push(Stmt::Load {
            to: value.clone(),
            from: Place { space: Space::Shared(self.cells), offset: cell },
            width: Width::One,
            when: None,
        });
        let offset = self.offset(target, [(across.mode, &across_at), (down.mode, &down_at)]);
        let when = self.exists([(across, &across_at), (down, &down_at)]);
        let mut at = self.origins.clone();
        at.retain(|(mode, _)| ![across.mode, down.mode].contains(mode));
        at.extend([(across.mode, across_at), (down.mode, down_at)]);
        let write = Write { offset, at, from: vec![value], width: Width::One, when };
        self.builder.write(&mut moved, write);
        body.push(Stmt::unrolled(pass, passes, moved));
    }

    fn step(&self) -> Expr {
        Expr::named("STEP", self.transpose.rows_at_a_time())
    }

    fn row_elems(&self) -> Expr {
        Expr::named("ROW", self.transpose.row_elems)
    }

    fn row_of(&self, pass: &Expr) -> Expr {
        self.row.clone().plus(pass.clone().times(self.step()))
    }

    /// Binds the coordinate of `side` at a place in the tile.
    fn position(
        &mut self,
        body: &mut Vec<Stmt>,
        side: TileSide,
        in_tile: Expr,
        what: &str,
    ) -> Expr {
        let stem = self.builder.names.mode(side.mode).to_string();
        let at = coordinates::of(&self.builder, &self.origins, side.mode).plus(in_tile.widen());
        self.builder.bind(body, &format!("{stem}_{what}"), at)
    }

    fn offset(&self, access: &Access, at: [(ModeId, &Expr); 2]) -> Expr {
        self.builder.offset(access, |mode| match at.iter().find(|(id, _)| *id == mode) {
            Some((_, at)) => (*at).clone(),
            None => coordinates::of(&self.builder, &self.origins, mode),
        })
    }

    fn exists(&self, at: [(TileSide, &Expr); 2]) -> Option<Pred> {
        let predicated = at.into_iter().filter(|(side, _)| side.tail == Tail::Predicated);
        let preds =
            predicated.map(|(side, at)| at.clone().less(self.builder.extent(side.mode))).collect();
        all(preds)
    }
}
