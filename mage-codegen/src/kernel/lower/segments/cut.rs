//! The kernel of parts: a block reduces those edges of a part that belong to long rows. There are at
//! most two of these, that of the part's first edge and that of its last, since a long row has more
//! edges than a part.

use super::{Host, Place, Row};
use crate::device::WARP_THREADS;
use crate::kernel::lower::builder::{Frame, reg};
use crate::kernel::lower::point;
use crate::kernel::lower::reduce;
use crate::kernel::{Expr, Kernel, Pred, SharedId, Space, Stmt, Ty, Width};
use crate::schedule::{LongRows, Segments, VariantKind};

/// Turns of the search for a row: pointers are numbers of 32 bits, and so many halve that range.
const SEARCH_TURNS: u32 = 32;

/// A thread's place in its block.
struct Thread {
    /// Its warp, 32 bits.
    warp: Expr,
    /// Its lane, 32 bits.
    lane: Expr,
}

/// The edges of a part.
struct Part {
    number: Expr,
    begin: Expr,
    end: Expr,
}

impl<'p> Row<'p> {
    /// The kernel of parts in the making.
    pub fn of_parts(host: &Host<'p>, kind: VariantKind) -> Row<'p> {
        let row = Row::new(host, (WARP_THREADS, false), kind, LongRows::Parts);
        Row { what: "parts".to_string(), ..row }
    }

    /// The kernel.
    pub fn parts_kernel(mut self) -> Kernel {
        let mut body = Vec::new();
        let thread = self.builder.thread(&mut body);
        let warp = Expr::u32(WARP_THREADS);
        let lane = self.builder.bind(&mut body, "lane", thread.clone().modulo(warp.clone()));
        let warp = self.builder.bind(&mut body, "warp", thread.over(warp));
        let thread = Thread { warp, lane };
        let (part, feature) = self.part(&mut body, &thread);
        for access in point::accesses(self.statement()) {
            self.builder.bind_strides(&mut body, &access);
        }
        let cells = self.builder.shared("partials", self.segments.part_threads * self.elems());
        let which = self.builder.var("which", Ty::U64, false);
        let mut turn = Vec::new();
        self.result(&mut turn, (&part, Expr::Var(which)), (&thread, &feature), cells);
        let both = [Expr::u64(0), Expr::u64(2)];
        body.push(Stmt::serial(which, both, 1, turn));
        let frame = self.parts_frame();
        self.builder.finish(frame, body)
    }

    fn parts_frame(&self) -> Frame {
        let summary = format!(
            "A block for {} terms, of which it reduces those of long rows.",
            self.segments.part_edges
        );
        self.frame_of((None, self.segments.part_threads), &summary)
    }

    /// The block's part, and the first feature of the thread.
    fn part(&mut self, body: &mut Vec<Stmt>, thread: &Thread) -> (Part, [Expr; 2]) {
        let elems = self.elems();
        let Segments { lane_mode, edge_mode, part_edges, .. } = *self.segments;
        let builder = &mut self.builder;
        let name = builder.names.mode(lane_mode).to_string();
        let tile = builder.named("TILE", WARP_THREADS * elems);
        let one = builder.number(1);
        let extent = builder.extent(lane_mode);
        let tiles = extent.clone().minus(one.clone()).over(tile.clone()).plus(one);
        let tiles = builder.bind(body, "tiles", tiles);
        let block = builder.bind(body, "block", Expr::Block.widen());
        let within = thread.lane.clone().times(Expr::u32(elems)).widen();
        let feature = block.clone().modulo(tiles.clone()).times(tile).plus(within);
        let feature = builder.bind(body, &format!("{name}_out"), feature);
        let last = builder.bind(body, &format!("{name}_last"), extent.minus(builder.number(elems)));
        let valid = builder.bind(body, &format!("{name}_at"), feature.clone().min(last));
        let number = builder.bind(body, "part", block.over(tiles));
        let edges = builder.named("PART", part_edges);
        let begin = builder.bind(body, "part_begin", number.clone().times(edges.clone()));
        let end = begin.clone().plus(edges).min(builder.extent(edge_mode));
        let end = builder.bind(body, "part_end", end);
        (Part { number, begin, end }, [feature, valid])
    }

    /// The row that an edge belongs to: the last whose pointer is not above it.
    fn row_of(&mut self, body: &mut Vec<Stmt>, edge: &Expr) -> Expr {
        let [low, high] = ["low", "high"].map(|name| self.builder.var(name, Ty::U64, true));
        body.push(Stmt::Let { var: low, value: Expr::u64(0) });
        let n_rows = self.builder.extent(self.segments.row_mode);
        body.push(Stmt::Let { var: high, value: n_rows });
        let mut search = Vec::new();
        let middle = Expr::Var(low).plus(Expr::Var(high)).over(Expr::u64(2));
        let middle = self.builder.bind(&mut search, "middle", middle);
        let pointers = self.segment.pointers;
        let place = (middle.clone(), 0);
        let pointer =
            point::pointer(&mut self.builder, &mut search, pointers, place, "middle_begin");
        search.push(Stmt::If {
            when: edge.clone().less(pointer),
            then: vec![Stmt::Assign { var: high, value: middle.clone() }],
            otherwise: vec![Stmt::Assign { var: low, value: middle }],
        });
        let turn = self.builder.var("turn", Ty::U32, false);
        let turns = [Expr::u32(0), Expr::named("SEARCH_TURNS", SEARCH_TURNS)];
        body.push(Stmt::serial(turn, turns, 1, search));
        Expr::Var(low)
    }

    /// One of the two results of a part, where there is a long row for it.
    fn result(
        &mut self,
        body: &mut Vec<Stmt>,
        (part, which): (&Part, Expr),
        (thread, feature): (&Thread, &[Expr; 2]),
        cells: SharedId,
    ) {
        let last = part.end.clone().minus(part.begin.clone()).minus(Expr::u64(1));
        let edge = part.begin.clone().plus(which.clone().times(last));
        let edge = self.builder.bind(body, "edge", edge);
        let row = self.row_of(body, &edge);
        let [begin, end] = self.bounds(body, row.clone(), ["begin", "end"]);
        let long = self.builder.named("PART", self.segments.part_edges);
        let mut then = Vec::new();
        let first = begin.clone().plus(part.begin.clone().saturating_minus(begin.clone()));
        let first = self.builder.bind(&mut then, "first", first);
        let beyond = self.builder.bind(&mut then, "beyond", end.clone().min(part.end.clone()));
        let place = Place {
            row: row.clone(),
            valid: row,
            feature: feature[0].clone(),
            valid_feature: feature[1].clone(),
        };
        self.take_edges(&mut then, &place, (thread, [&first, &beyond]));
        self.leave(&mut then, &place, (part, &which), (thread, cells));
        // The second result is that of a row which begins behind the part's first edge: where the
        // last edge belongs to the row of the first one, there is none.
        let bound = begin.clone().plus(Expr::u64(1).minus(which.clone()));
        let is_own = which.times(part.begin.clone()).less(bound);
        let when = Pred::All(vec![begin.plus(long).less(end), is_own]);
        body.push(Stmt::If { when, then, otherwise: Vec::new() });
    }

    /// Each warp takes neighbouring edges, as many as are in flight, and the next ones behind those
    /// of all warps.
    fn take_edges(
        &mut self,
        body: &mut Vec<Stmt>,
        place: &Place,
        (thread, [begin, end]): (&Thread, [&Expr; 2]),
    ) {
        let ahead = self.segments.ahead;
        let n_warps = self.segments.part_threads / WARP_THREADS;
        let start = reduce::start(self.statement());
        body.push(Stmt::Fill { reg: self.acc, value: start });
        let point = self.point(place, place.valid.clone());
        self.load_constant(body, &point);
        let own = thread.warp.clone().times(Expr::u32(ahead)).widen();
        let first = self.builder.bind(body, "own_begin", begin.clone().plus(own));
        let stride = self.builder.named("STRIDE", n_warps * ahead);
        let count = end.clone().minus(begin.clone());
        let whole = begin.clone().plus(count.over(stride.clone()).times(stride));
        let whole = self.builder.bind(body, "whole", whole);
        self.turns(body, &point, [&first, &whole], (n_warps * ahead, ahead));
        let rest = whole.plus(thread.warp.clone().widen());
        let rest = self.builder.bind(body, "own_rest", rest);
        self.turns(body, &point, [&rest, end], (n_warps, 1));
    }

    /// Combines the warps' results, the first warp's first, and leaves them in the workspace.
    fn leave(
        &mut self,
        body: &mut Vec<Stmt>,
        place: &Place,
        (part, which): (&Part, &Expr),
        (thread, cells): (&Thread, SharedId),
    ) {
        let (statement, elems, acc) = (self.statement(), self.elems(), self.acc);
        let n_warps = self.segments.part_threads / WARP_THREADS;
        let row = Expr::u32(WARP_THREADS * elems);
        let column = thread.lane.clone().times(Expr::u32(elems));
        let results =
            |array| (0..elems).map(|elem| reg(array, Expr::u32(elem))).collect::<Vec<_>>();
        let space = Space::Shared(cells);
        body.push(Stmt::Store {
            to: crate::kernel::Place {
                space,
                offset: thread.warp.clone().times(row.clone()).plus(column.clone()),
            },
            from: results(acc),
            width: Width::of(elems),
            when: None,
        });
        body.push(Stmt::Barrier);
        let mut then = vec![Stmt::Fill { reg: acc, value: reduce::start(statement) }];
        let other = self.builder.registers("of_warp", elems);
        then.push(Stmt::Fill { reg: other, value: 0.0 });
        self.builder.unrolled(&mut then, "from_warp", n_warps, |builder, then, warp| {
            then.push(Stmt::Load {
                to: reg(other, Expr::u32(0)),
                from: crate::kernel::Place { space, offset: warp.times(row).plus(column) },
                width: Width::of(elems),
                when: None,
            });
            builder.unrolled(then, "elem", elems, |_, then, elem| {
                reduce::combine(then, statement, &reg(acc, elem.clone()), reg(other, elem));
            });
        });
        let number = part.number.clone().times(Expr::u64(2)).plus(which.clone());
        let to = self.result_of(number, &place.feature);
        then.push(Stmt::Store { to, from: results(acc), width: Width::of(elems), when: None });
        let n_features = self.builder.extent(self.segments.lane_mode);
        let when = Pred::All(vec![
            thread.warp.clone().less(Expr::u32(1)),
            place.feature.clone().less(n_features),
        ]);
        body.push(Stmt::If { when, then, otherwise: Vec::new() });
        // The cells are free for the other result.
        body.push(Stmt::Barrier);
    }
}
