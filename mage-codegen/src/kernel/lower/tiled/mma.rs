//! The mainloop of the tensor cores: asynchronous copies bring the steps to come into the stages
//! that are free, while the warps load matrices from the current one and multiply them.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::ModeId;

use super::Lowering;
use crate::fragment::Fragment;
use crate::kernel::lower::builder::{Builder, reg};
use crate::kernel::lower::epilogue::Owned;
use crate::kernel::lower::part::Part;
use crate::kernel::lower::stage::{Step, Walk};
use crate::kernel::{Expr, Place, Pred, RegId, SharedId, Space, Stmt, Ty, Value, Width};
use crate::schedule::{Along, Side, Summing, chunk_elems, product_depth};

/// Rows or columns that one load of four matrices covers.
const LOAD_SIDE: u32 = 16;

/// Most products that are summed apart: more fragments at once leave no registers for sums.
const CHAIN: u32 = 2;

/// One factor's part of a product.
struct Factor {
    /// Its fragments for all products of one depth.
    fragment: RegId,
    /// Where this thread's first load is in a stage, without the factor's own beginning.
    cell: Expr,
    /// Where the factor begins in a stage.
    base: Expr,
    /// The name that its variables begin with.
    stem: String,
    /// Elements of a row of the stage, under a name.
    row: Expr,
}

/// Everything that a step needs.
struct Loop<'l> {
    tiles: SharedId,
    walks: &'l [Walk],
    origins: &'l [(ModeId, Expr)],
    part: &'l Part,
}

impl Lowering<'_> {
    /// Sums the products of all steps of a block; the registers that hold them.
    pub fn tensor_cores(
        &mut self,
        body: &mut Vec<Stmt>,
        (walks, tiles): (&[Walk], SharedId),
        origins: &[(ModeId, Expr)],
        part: &mut Part,
        owned: &Owned,
    ) -> RegId {
        let map = &self.tiled.threads;
        let n_sums = map.thread_elems(0) * map.thread_elems(1);
        let acc = self.builder.registers("acc", n_sums);
        let sums = match self.tiled.summing {
            Summing::Running | Summing::Apart => acc,
            Summing::Rounds(_) => self.builder.registers("sums", n_sums),
        };
        let apart = (self.tiled.summing == Summing::Apart)
            .then(|| self.builder.registers("apart", Fragment::SUMS as u32));
        let factors = [0, 1].map(|direction| self.factor(body, direction, owned));
        body.push(Stmt::Fill { reg: sums, value: 0.0 });
        for factor in &factors {
            body.push(Stmt::Fill { reg: factor.fragment, value: 0.0 });
        }
        part.end = self.builder.bind(body, "n_steps", part.end.clone());
        let steps = Loop { tiles, walks, origins, part };
        let ahead = self.tiled.stages - 1;
        let stage = |name: &str, elems| Expr::named(name, elems);
        let elems = self.tiled.stage_elems();
        self.prologue(body, &steps, ahead);
        let current = self.builder.var("stage", Ty::U32, true);
        body.push(Stmt::Let { var: current, value: Expr::u32(0) });
        let free = self.builder.var("free", Ty::U32, true);
        body.push(Stmt::Let { var: free, value: Expr::u32(ahead * elems) });

        let step = self.builder.var("step", Ty::U32, false);
        let mut turn = Vec::new();
        if walks.iter().any(Walk::copies) {
            turn.push(Stmt::AwaitCopies { pending: ahead - 1 });
        }
        turn.push(Stmt::Barrier);
        let next = Expr::Var(step).plus(Expr::u32(ahead));
        let next = self.builder.bind(&mut turn, "next", next);
        self.bring(&mut turn, &steps, (&next, "next"), &Expr::Var(free));
        self.multiply(&mut turn, tiles, (&factors, acc, apart), &Expr::Var(current));
        self.put(&mut turn, &steps, (&next, "next"), &Expr::Var(free));
        turn.push(Stmt::Assign { var: free, value: Expr::Var(current) });
        let following = Expr::Var(current).plus(stage("STAGE", elems));
        let following = following.modulo(stage("STAGES", self.tiled.stages * elems));
        turn.push(Stmt::Assign { var: current, value: following });
        self.steps(body, (step, turn), part, [acc, sums]);
        sums
    }

    /// Brings the first steps, one a stage but for the last stage.
    fn prologue(&mut self, body: &mut Vec<Stmt>, steps: &Loop<'_>, ahead: u32) {
        let stage = Expr::named("STAGE", self.tiled.stage_elems());
        let turn = |lowering: &mut Self, body: &mut Vec<Stmt>, at: Expr| {
            let first = steps.part.begin.clone().plus(at.clone());
            let first = lowering.builder.bind(body, "first", first);
            let stage = at.times(stage.clone());
            lowering.bring(body, steps, (&first, "first"), &stage);
            lowering.put(body, steps, (&first, "first"), &stage);
        };
        if ahead == 1 {
            return turn(self, body, Expr::u32(0));
        }
        let at = self.builder.var("ahead", Ty::U32, false);
        let mut inner = Vec::new();
        turn(self, &mut inner, Expr::Var(at));
        body.push(Stmt::unrolled(at, ahead, inner));
    }

    /// Brings the tiles of a step into a stage; what copies bring is a group of its own, which is
    /// empty where the step is none.
    fn bring(
        &mut self,
        body: &mut Vec<Stmt>,
        steps: &Loop<'_>,
        (step, suffix): (&Expr, &str),
        stage: &Expr,
    ) {
        let exists = self.step_exists(Some(step), steps.part);
        let mut then = Vec::new();
        let mut origins = steps.origins.to_vec();
        origins.extend(self.contracted_origins(&mut then, Some(step), suffix));
        let step = Step { suffix, origins: &origins, exists: None };
        for walk in steps.walks {
            match walk.holds_a_step() {
                true => walk.load(&mut self.builder, &mut then, &step),
                false => walk.bring(&mut self.builder, &mut then, &step, (steps.tiles, stage)),
            }
        }
        push_when(body, exists, then);
        if steps.walks.iter().any(Walk::copies) {
            body.push(Stmt::CommitCopies);
        }
    }

    /// Puts what registers hold of a step into its stage, behind the products that were made while
    /// it came.
    fn put(
        &mut self,
        body: &mut Vec<Stmt>,
        steps: &Loop<'_>,
        (step, suffix): (&Expr, &str),
        stage: &Expr,
    ) {
        let mut then = Vec::new();
        for walk in steps.walks.iter().filter(|walk| walk.holds_a_step()) {
            walk.store(&mut self.builder, &mut then, (steps.tiles, stage), suffix);
        }
        if !then.is_empty() {
            push_when(body, self.step_exists(Some(step), steps.part), then);
        }
    }

    fn factor(&mut self, body: &mut Vec<Stmt>, direction: usize, owned: &Owned) -> Factor {
        let (tiled, side) = (self.tiled, self.tiled.sides()[direction]);
        let stem = self.stems[side.factor].clone();
        let upper = stem.to_uppercase();
        let words = if direction == 0 { Fragment::ROW_WORDS } else { 2 * Fragment::COL_WORDS };
        let loads = tiled.threads.warp_elems(direction) / LOAD_SIDE;
        let n_words = self.chain() * loads * words as u32;
        let fragment = self.builder.registers_of(&format!("{stem}_frag"), n_words, tiled.dtype);
        let row = Expr::named(&format!("{upper}_ROW"), side.staging.row_elems);
        let cell = cell(tiled.dtype, side, (direction, owned), &row);
        let cell = self.builder.bind(body, &format!("{stem}_cell"), cell);
        let base = match direction {
            0 => Expr::u32(0),
            _ => Expr::named(&format!("{upper}_BASE"), tiled.row.staging.channel_elems),
        };
        Factor { fragment, cell, base, stem, row }
    }

    /// Products whose fragments are held at once: those that are summed apart.
    fn chain(&self) -> u32 {
        let products = self.tiled.contracted.tile / product_depth(self.tiled.dtype);
        match self.tiled.summing {
            Summing::Apart => products.min(CHAIN),
            Summing::Running | Summing::Rounds(_) => 1,
        }
    }

    /// Loads the fragments of each depth of a stage and multiplies them.
    fn multiply(
        &mut self,
        body: &mut Vec<Stmt>,
        tiles: SharedId,
        (factors, acc, apart): (&[Factor; 2], RegId, Option<RegId>),
        stage: &Expr,
    ) {
        let (tiled, chain) = (self.tiled, self.chain());
        let depth = product_depth(tiled.dtype);
        let stem = tiled.contracted.mode.map_or("unit", |mode| self.builder.names.mode(mode));
        let (name, inner) = (format!("{stem}_in"), format!("{stem}_link"));
        let turns = tiled.contracted.tile / depth / chain;
        self.builder.unrolled(body, &name, turns, |builder, body, at| {
            builder.unrolled(body, &inner, chain, |builder, body, link| {
                let along = at.times(Expr::u32(chain)).plus(link.clone());
                let along = along.times(Expr::u32(depth));
                for (direction, factor) in factors.iter().enumerate() {
                    let loads = tiled.threads.warp_elems(direction) / LOAD_SIDE;
                    let name = format!("{}_load", factor.stem);
                    builder.unrolled(body, &name, loads, |builder, body, load| {
                        let side = tiled.sides()[direction];
                        let beside = load.clone().times(Expr::u32(LOAD_SIDE));
                        let number = link.clone().times(Expr::u32(loads)).plus(load);
                        let to = number.times(Expr::u32(4));
                        let load = Load { to, beside, along: along.clone(), direction, tiles };
                        fragment(builder, body, (tiled.dtype, side), (factor, stage), load);
                    });
                }
            });
            products(builder, body, (tiled.threads.quads, chain), (factors, acc, apart));
        });
    }
}

fn push_when(body: &mut Vec<Stmt>, when: Option<Pred>, then: Vec<Stmt>) {
    match when {
        None => body.extend(then),
        Some(when) => body.push(Stmt::If { when, then, otherwise: Vec::new() }),
    }
}

/// One load of four words.
struct Load {
    /// The first register.
    to: Expr,
    /// From the warp's first row or column.
    beside: Expr,
    /// From the stage's first contracted position.
    along: Expr,
    direction: usize,
    tiles: SharedId,
}

/// The place of this thread's first load: of a load of matrices the row that the lane names, of
/// single elements the lane's first one. The chunks of its row have changed places.
fn cell(dtype: Dtype, side: &Side, (direction, owned): (usize, &Owned), row: &Expr) -> Expr {
    let number = Expr::u32;
    let lane = || owned.lane.clone();
    let (warp, chunk) = (owned.warps[direction].clone(), chunk_elems(dtype));
    let (line, place) = match (side.staging.along, dtype) {
        (Along::Side, Dtype::F32) => (lane().modulo(number(4)), warp.plus(lane().over(number(4)))),
        (along, _) => {
            // Matrices lie two by two; which is first, the one beside or the one along, depends on
            // which half of the fragment it is for.
            let beside_first = (direction == 0) == (along == Along::Contracted);
            let [line, second] = if beside_first {
                [lane().modulo(number(16)), lane().over(number(16))]
            } else {
                let upper = lane().over(number(16)).times(number(8));
                [lane().modulo(number(8)).plus(upper), lane().over(number(8)).modulo(number(2))]
            };
            let second = second.times(number(chunk));
            match along {
                Along::Side => (line, warp.plus(second)),
                Along::Contracted | Along::Batch => (warp.plus(line), second),
            }
        }
    };
    let first = line.times(row.clone());
    match side.staging.swizzle {
        None => first.plus(place),
        // Rows apart by 8 or by a warp's tile lie alike, so the lane alone tells how.
        Some(swizzle) => {
            let way = lane().over(number(swizzle.rows)).modulo(number(swizzle.period));
            first.plus(place.xor(way.times(number(swizzle.step * chunk))))
        }
    }
}

fn fragment(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    (dtype, side): (Dtype, &Side),
    (factor, stage): (&Factor, &Expr),
    load: Load,
) {
    let Load { to, beside, along, direction, tiles } = load;
    // What lies along a row flips bits of the cell that the thread's part of it leaves 0.
    let across = |flip: Expr, lines: Expr| {
        let flipped = if flip.as_const() == Some(0) {
            factor.cell.clone()
        } else {
            factor.cell.clone().xor(flip)
        };
        let first = stage.clone().plus(factor.base.clone()).plus(flipped);
        let offset = first.plus(lines.times(factor.row.clone()));
        Place { space: Space::Shared(tiles), offset }
    };
    match (side.staging.along, dtype) {
        (Along::Side, Dtype::F32) => {
            builder.unrolled(body, &format!("{}_word", factor.stem), 4, |_, body, word| {
                let (two, eight) = (Expr::u32(2), Expr::u32(8));
                // The words of a row factor are two rows of two depths, those of a column factor
                // two depths of two columns.
                let (outer, inner) = (word.clone().over(two.clone()), word.clone().modulo(two));
                let [beside_word, along_word] =
                    if direction == 0 { [inner, outer] } else { [outer, inner] };
                let flip = beside.plus(beside_word.times(eight));
                let lines = along.plus(along_word.times(Expr::u32(4)));
                let to = reg(factor.fragment, to.plus(word));
                let from = across(flip, lines);
                body.push(Stmt::Load { to: to.clone(), from, width: Width::One, when: None });
                body.push(Stmt::Compute { to: to.clone(), value: Value::Tf32(to) });
            });
        }
        (stored, _) => {
            let transposed = stored == Along::Side;
            let from = if transposed { across(beside, along) } else { across(along, beside) };
            let first = reg(factor.fragment, to.clone());
            body.push(Stmt::LoadMatrices { to: first, from, transposed });
            if dtype == Dtype::F32 {
                builder.unrolled(body, &format!("{}_word", factor.stem), 4, |_, body, word| {
                    let to = reg(factor.fragment, to.plus(word));
                    body.push(Stmt::Compute { to: to.clone(), value: Value::Tf32(to) });
                });
            }
        }
    }
}

/// Multiplies every row fragment by every column fragment; two rows of two columns are the sums of
/// one product. Where sums are apart, those of a chain of products start from zero, and f32
/// arithmetic adds them to the others.
fn products(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    (quads, chain): ([u32; 2], u32),
    (factors, acc, apart): (&[Factor; 2], RegId, Option<RegId>),
) {
    let [rows, cols] = [quads[0] / 2, quads[1]];
    let [left, right] = factors;
    let words = |number: Expr, words: usize| number.times(Expr::u32(words as u32));
    builder.unrolled(body, "row", rows, |builder, body, row| {
        builder.unrolled(body, "col", cols, |builder, body, col| {
            let first = words(row.clone().times(Expr::u32(cols)).plus(col.clone()), Fragment::SUMS);
            let to = match apart {
                None => reg(acc, first.clone()),
                Some(apart) => {
                    body.push(Stmt::Fill { reg: apart, value: 0.0 });
                    reg(apart, Expr::u32(0))
                }
            };
            builder.unrolled(body, "link", chain, |_, body, link| {
                let row = link.clone().times(Expr::u32(rows)).plus(row);
                let col = link.times(Expr::u32(cols)).plus(col);
                body.push(Stmt::Mma {
                    acc: to,
                    row: reg(left.fragment, words(row, Fragment::ROW_WORDS)),
                    col: reg(right.fragment, words(col, Fragment::COL_WORDS)),
                });
            });
            if let Some(apart) = apart {
                let n_sums = Fragment::SUMS as u32;
                builder.unrolled(body, "sum", n_sums, |_, body, sum| {
                    let to = reg(acc, first.plus(sum.clone()));
                    let value = Value::Add(to.clone(), reg(apart, sum));
                    body.push(Stmt::Compute { to, value });
                });
            }
        });
    });
}
