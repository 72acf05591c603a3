//! The kernel of parts: a block reduces the edges of one part of a long row, which the list names.

use mage_einsum::index::ModeId;

use super::{Host, Row};
use crate::device::WARP_THREADS;
use crate::kernel::lower::builder::reg;
use crate::kernel::lower::point::{self, Point};
use crate::kernel::lower::reduce;
use crate::kernel::{ENTRY_ELEMS, Expr, Kernel, Place, Pred, SharedId, Space, Stmt, Ty, Width};
use crate::schedule::{LongRows, VariantKind};

/// A thread's place in its block.
struct Thread {
    /// Its warp, 32 bits.
    warp: Expr,
    /// Its lane, 32 bits.
    lane: Expr,
    /// Its first feature, and the first that it reads.
    feature: Expr,
    valid_feature: Expr,
}

/// The entry of a block's part in the list.
struct Entry {
    /// The row, where an access asks for it.
    row: Option<(ModeId, Expr)>,
    /// The first edge, and one past the last.
    first: Expr,
    beyond: Expr,
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
        let (thread, listed) = self.thread(&mut body);
        let entry = self.entry(&mut body, listed);
        for access in point::accesses(self.statement()) {
            self.builder.bind_strides(&mut body, &access);
        }
        let cells = self.builder.shared("partials", self.segments.part_threads * self.elems());
        self.take_edges(&mut body, &thread, &entry);
        self.leave(&mut body, &thread, (&entry, cells));
        let frame = self.frame_of(
            (None, self.segments.part_threads),
            "A block for each part of a long row, and for each tile.",
        );
        self.builder.finish(frame, body)
    }

    /// The thread's place, and the number of its part in the list.
    fn thread(&mut self, body: &mut Vec<Stmt>) -> (Thread, Expr) {
        let (elems, lane_mode) = (self.elems(), self.segments.lane_mode);
        let builder = &mut self.builder;
        let thread = builder.thread(body);
        let warp_threads = Expr::u32(WARP_THREADS);
        let lane = builder.bind(body, "lane", thread.clone().modulo(warp_threads.clone()));
        let warp = builder.bind(body, "warp", thread.over(warp_threads));
        let name = builder.names.mode(lane_mode).to_string();
        let tile = builder.named("TILE", WARP_THREADS * elems);
        let one = builder.number(1);
        let extent = builder.extent(lane_mode);
        let tiles = extent.clone().minus(one.clone()).over(tile.clone()).plus(one);
        let tiles = builder.bind(body, "tiles", tiles);
        let block = builder.bind(body, "block", Expr::Block.widen());
        let within = lane.clone().times(Expr::u32(elems)).widen();
        let feature = block.clone().modulo(tiles.clone()).times(tile).plus(within);
        let feature = builder.bind(body, &format!("{name}_out"), feature);
        let last = builder.bind(body, &format!("{name}_last"), extent.minus(builder.number(elems)));
        let valid_feature = feature.clone().min(last);
        let valid_feature = builder.bind(body, &format!("{name}_at"), valid_feature);
        (Thread { warp, lane, feature, valid_feature }, block.over(tiles))
    }

    /// Reads what an entry of the list says. The row is of no account to most products.
    fn entry(&mut self, body: &mut Vec<Stmt>, listed: Expr) -> Entry {
        let numbers = self.builder.named("ENTRY", ENTRY_ELEMS as u32);
        let at = self.builder.bind(body, "entry", listed.times(numbers));
        let row_mode = self.segments.segment.row;
        let accesses = point::accesses(self.statement());
        let asks = accesses.iter().any(|access| access.run_modes().contains(&row_mode));
        let stem = self.builder.names.mode(row_mode).to_string();
        let row = asks.then(|| (row_mode, self.listed(body, (&at, 0), &format!("{stem}_at"))));
        let first = self.listed(body, (&at, 1), "first");
        let beyond = self.listed(body, (&at, 2), "beyond");
        Entry { row, first, beyond }
    }

    fn listed(&mut self, body: &mut Vec<Stmt>, (entry, number): (&Expr, u64), name: &str) -> Expr {
        let var = self.builder.var(name, Ty::U32, false);
        let offset = entry.clone().plus(Expr::u64(number));
        let from = Place { space: Space::Global(self.list), offset };
        body.push(Stmt::LoadIndex { var, from });
        self.builder.coordinate(Expr::Var(var))
    }

    /// Each warp takes neighbouring edges, as many as are in flight, and the next ones behind those
    /// of all warps.
    fn take_edges(&mut self, body: &mut Vec<Stmt>, thread: &Thread, entry: &Entry) {
        let Entry { row, first, beyond } = entry;
        let ahead = self.segments.ahead;
        let n_warps = self.segments.part_threads / WARP_THREADS;
        let start = reduce::start(self.statement());
        body.push(Stmt::Fill { reg: self.acc, value: start });
        let feature = (self.segments.lane_mode, thread.valid_feature.clone());
        let point = Point::new(row.iter().cloned().chain([feature]).collect(), "at");
        self.load_constant(body, &point);
        let own = thread.warp.clone().times(Expr::u32(ahead)).widen();
        let begin = self.builder.bind(body, "own_begin", first.clone().plus(own));
        let stride = self.builder.named("STRIDE", n_warps * ahead);
        let count = beyond.clone().minus(first.clone());
        let whole = first.clone().plus(count.over(stride.clone()).times(stride));
        let whole = self.builder.bind(body, "whole", whole);
        self.turns(body, &point, [&begin, &whole], (n_warps * ahead, ahead));
        let rest = whole.plus(thread.warp.clone().widen());
        let rest = self.builder.bind(body, "own_rest", rest);
        self.turns(body, &point, [&rest, beyond], (n_warps, 1));
    }

    /// Combines the warps' results, the first warp's first, and leaves them in the workspace.
    fn leave(&mut self, body: &mut Vec<Stmt>, thread: &Thread, (entry, cells): (&Entry, SharedId)) {
        let (statement, elems, acc) = (self.statement(), self.elems(), self.acc);
        let n_warps = self.segments.part_threads / WARP_THREADS;
        let row = Expr::u32(WARP_THREADS * elems);
        let column = thread.lane.clone().times(Expr::u32(elems));
        let results =
            |array| (0..elems).map(|elem| reg(array, Expr::u32(elem))).collect::<Vec<_>>();
        let space = Space::Shared(cells);
        body.push(Stmt::Store {
            to: Place {
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
                from: Place { space, offset: warp.times(row).plus(column) },
                width: Width::of(elems),
                when: None,
            });
            builder.unrolled(then, "elem", elems, |_, then, elem| {
                reduce::combine(then, statement, &reg(acc, elem.clone()), reg(other, elem));
            });
        });
        let part = self.builder.named("PART", self.segments.part_edges);
        let to = self.result_of(entry.first.clone().over(part), &thread.feature);
        then.push(Stmt::Store { to, from: results(acc), width: Width::of(elems), when: None });
        let n_features = self.builder.extent(self.segments.lane_mode);
        let when = Pred::All(vec![
            thread.warp.clone().less(Expr::u32(1)),
            thread.feature.clone().less(n_features),
        ]);
        body.push(Stmt::If { when, then, otherwise: Vec::new() });
    }
}
