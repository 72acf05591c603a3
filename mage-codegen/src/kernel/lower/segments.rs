//! Lowers reductions over the rows of a CSR matrix: for each number of lanes a row has, a kernel that
//! takes all edges and one that leaves those of long rows to the kernel of their parts.

mod edges;
mod long;
mod cut;

use mage_einsum::index::{Access, Layout, Segment, Statement};

use super::builder::{Builder, Frame, Write, host_extent, reg};
use super::coordinates;
use super::elementwise::reads;
use super::host::{grid_limit, selected};
use super::names::Names;
use super::parts::{self, Parts};
use super::point::{self, Point};
use super::value::Held;
use super::{reduce, wide};
use crate::device::WARP_THREADS;
use crate::kernel::{
    Arm, Buffer, BufferId, BufferUse, ENTRY_ELEMS, Expr, HostExpr, HostPred, HostStep, IndexUse,
    Kernel, Module, Pred, RegId, Stmt, Ty, Width,
};
use crate::schedule::{Launch, LongRows, Schedule, Segments, Strategy, VariantKind, lies_along};

/// The kernels, and the steps that select one.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    segments: &Segments,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let tensors = [schedule.target(launch).tensor, segments.segment.pointers];
    let [sums, list] = tensors.map(|tensor| parts::buffer(module, names, tensor));
    let host = Host { schedule, launch, segments, names, sums, list };
    let (mut arms, mut steps) = (Vec::new(), Vec::new());
    let mut kernels: Vec<Kernel> =
        segments.kinds.iter().map(|kind| Row::of_parts(&host, *kind).parts_kernel()).collect();
    for (position, lanes) in segments.row_lanes.iter().enumerate() {
        let mut variants = Vec::new();
        for (of_kind, kind) in segments.kinds.iter().enumerate() {
            let blocks = host.blocks(*lanes, *kind);
            if position + 1 == segments.row_lanes.len() {
                steps.extend(grid_limit(schedule, launch, None, &blocks));
            }
            let first = module.kernels.len();
            let whole = first + kernels.len();
            kernels.extend([LongRows::Whole, LongRows::Parts].map(|long| {
                Row::new(&host, (*lanes, segments.row_lanes.len() > 1), *kind, long).kernel()
            }));
            let launched = |kernel: usize| HostStep::Launch { kernel, blocks: blocks.clone() };
            let of_parts =
                HostStep::Launch { kernel: first + of_kind, blocks: host.part_blocks(*kind) };
            let arm = |name: &str, eligible: HostPred, steps: Vec<HostStep>| Arm {
                name: name.to_string(),
                eligible,
                steps,
            };
            variants.push(Arm {
                name: kind.name().to_string(),
                eligible: host.eligible(module, *kind),
                steps: selected(vec![
                    arm("short", host.has_no_long_rows(), vec![launched(whole)]),
                    arm("parts", host.has_room(module, *kind), vec![of_parts, launched(whole + 1)]),
                    arm("whole", HostPred::All(Vec::new()), vec![launched(whole)]),
                ]),
            });
        }
        let is_last = position + 1 == segments.row_lanes.len();
        let features = host_extent(&schedule.program, names, segments.lane_mode);
        arms.push(Arm {
            name: format!("lanes{lanes}"),
            eligible: match is_last {
                true => HostPred::All(Vec::new()),
                false => HostPred::AtMost(features, u64::from(lanes * 4)),
            },
            steps: selected(variants),
        });
    }
    steps.extend(selected(arms));
    (kernels, steps)
}

struct Host<'p> {
    schedule: &'p Schedule,
    launch: &'p Launch,
    segments: &'p Segments,
    names: &'p Names,
    /// The buffer of the parts' results, each with all features.
    sums: BufferId,
    /// The list of the parts.
    list: BufferId,
}

/// The results of parts in the workspace.
pub fn parts(schedule: &Schedule, segments: &Segments, names: &Names) -> Parts {
    let n_edges = host_extent(&schedule.program, names, segments.edge_mode);
    Parts::of_edges(n_edges, segments.part_edges)
}

/// Adds the lists of the parts of long rows, one for each buffer of row pointers.
pub fn list_parts(schedule: &Schedule, names: &Names, module: &mut Module) {
    for launch in &schedule.launches {
        let Strategy::Segments(segments) = &launch.strategy else { continue };
        let pointers = BufferId(segments.segment.pointers.0);
        let ident = &names.parts()[pointers.0];
        if module.buffers.iter().any(|buffer| buffer.ident == *ident) {
            continue;
        }
        let (list, whole) = (BufferId(module.buffers.len()), &module.buffers[pointers.0]);
        let entry = HostExpr::Const(ENTRY_ELEMS as u64);
        module.buffers.push(Buffer {
            name: format!("{}_parts", whole.name),
            ident: ident.clone(),
            parts: Some(HostExpr::product([HostExpr::Listed(list), entry])),
            dims: Vec::new(),
            dtype: whole.dtype,
            index: Some(IndexUse::Parts { pointers, part_elems: segments.part_edges }),
            layout: Layout::RowMajor,
            usage: BufferUse::Listed,
        });
    }
}

impl Host<'_> {
    fn blocks(&self, lanes: u32, kind: VariantKind) -> HostExpr {
        let extent = |mode| host_extent(&self.schedule.program, self.names, mode);
        let tile = u64::from(lanes * Segments::elems(kind));
        let rows = u64::from(self.segments.block_threads / lanes);
        let tiles = extent(self.segments.lane_mode).ceil_div(tile);
        HostExpr::product([extent(self.segments.segment.row).ceil_div(rows), tiles])
    }

    /// Blocks of the kernel of parts.
    fn part_blocks(&self, kind: VariantKind) -> HostExpr {
        let extent = |mode| host_extent(&self.schedule.program, self.names, mode);
        let tile = u64::from(WARP_THREADS * Segments::elems(kind));
        let tiles = extent(self.segments.lane_mode).ceil_div(tile);
        HostExpr::product([HostExpr::Listed(self.list), tiles])
    }

    fn has_no_long_rows(&self) -> HostPred {
        HostPred::IsZero(HostExpr::Listed(self.list))
    }

    /// Whether the workspace has room for the results of all parts, and begins where these accesses
    /// may, and the grid has blocks enough.
    fn has_room(&self, module: &Module, kind: VariantKind) -> HostPred {
        let memory = module.memory_of(self.sums);
        let workspace = module.workspace.iter();
        let room =
            workspace.map(|known| HostPred::LengthAtLeast(known.buffer, known.elems.clone()));
        let bytes = self.schedule.program.accumulator().size_bytes();
        let aligned = match kind {
            VariantKind::Narrow => None,
            VariantKind::Wide => {
                Some(HostPred::AlignedTo(memory, u64::from(Segments::elems(kind)) * bytes))
            }
        };
        let (blocks, limit) =
            (self.part_blocks(kind), u64::from(self.schedule.device.capability.grid_blocks));
        // Parts alone are few: a part has many edges, and those have a number of 32 bits.
        let tiles_are_many = !matches!(blocks, HostExpr::Listed(_));
        let few = tiles_are_many.then_some(HostPred::AtMost(blocks, limit));
        HostPred::All(room.chain(aligned).chain(few).collect())
    }

    fn eligible(&self, module: &Module, kind: VariantKind) -> HostPred {
        match kind {
            VariantKind::Narrow => return HostPred::All(Vec::new()),
            VariantKind::Wide => {}
        }
        let statements = &self.schedule.program.statements;
        let of_launch: Vec<&Statement> =
            self.launch.statements().map(|at| &statements[at]).collect();
        let mut wide = reads(&of_launch);
        wide.retain(|access| lies_along(access, self.segments.lane_mode));
        wide.push(self.schedule.target(self.launch).clone());
        let wide: Vec<(&Access, u32)> = wide.iter().map(|access| (access, 4)).collect();
        wide::eligible(&self.schedule.program, self.names, module, (&wide, None))
    }
}

/// One kernel in the making.
struct Row<'p> {
    builder: Builder<'p>,
    schedule: &'p Schedule,
    launch: &'p Launch,
    segments: &'p Segments,
    lanes: u32,
    /// What the kernel's name says beside the accesses.
    what: String,
    kind: VariantKind,
    long: LongRows,
    sums: BufferId,
    list: BufferId,
    /// What a lane's outputs become.
    acc: RegId,
    /// What is read and does not differ from edge to edge.
    constant: Vec<Held>,
}

/// Where a lane stands.
struct Place {
    /// Its row, and the row that it reads: the last one where there is none.
    row: Expr,
    valid: Expr,
    /// Its first feature, and the first that it reads.
    feature: Expr,
    valid_feature: Expr,
}

impl<'p> Row<'p> {
    fn new(
        host: &Host<'p>,
        (lanes, is_one_of_several): (u32, bool),
        kind: VariantKind,
        long: LongRows,
    ) -> Row<'p> {
        let Host { schedule, launch, segments, names, sums, list } = *host;
        let mut builder = Builder::new(schedule, launch, names, Ty::U64);
        let elems = Segments::elems(kind);
        for access in reads(&builder.statements.clone()) {
            if lies_along(&access, segments.lane_mode) {
                builder.reads(&access, elems);
            }
        }
        let acc = builder.registers("acc", elems);
        let constant = Vec::new();
        let what = if is_one_of_several { format!("lanes{lanes}") } else { String::new() };
        Row {
            builder,
            schedule,
            launch,
            segments,
            lanes,
            what,
            kind,
            long,
            sums,
            list,
            acc,
            constant,
        }
    }

    fn statement(&self) -> &'p Statement {
        self.builder.statements[0]
    }

    fn elems(&self) -> u32 {
        Segments::elems(self.kind)
    }

    fn kernel(mut self) -> Kernel {
        let mut body = Vec::new();
        let place = self.place(&mut body);
        for statement in self.builder.statements.clone() {
            for access in point::accesses(statement).iter().chain([&statement.target]) {
                self.builder.bind_strides(&mut body, access);
            }
        }
        let start = reduce::start(self.statement());
        body.push(Stmt::Fill { reg: self.acc, value: start });
        let [begin, end] = self.bounds(&mut body, place.valid.clone(), ["begin", "end"]);
        let point = self.point(&place, place.valid.clone());
        self.load_constant(&mut body, &point);
        match self.long {
            LongRows::Whole => self.edges(&mut body, &point, [&begin, &end]),
            LongRows::Parts => self.parts_or_edges(&mut body, &place, &point, [&begin, &end]),
        }
        self.store(&mut body, &place);
        let frame = self.frame();
        self.builder.finish(frame, body)
    }

    fn frame(&self) -> Frame {
        let long = match self.long {
            LongRows::Whole => None,
            LongRows::Parts => Some("cut"),
        };
        let rows = match self.long {
            LongRows::Whole => "",
            LongRows::Parts => ", which combine the parts of a long one",
        };
        let threads = self.segments.block_threads;
        self.frame_of((long, threads), &format!("{} lanes a row{rows}.", self.lanes))
    }

    fn frame_of(&self, (long, block_threads): (Option<&str>, u32), summary: &str) -> Frame {
        let what = Some(self.what.as_str()).filter(|what| !what.is_empty());
        let kind = (self.segments.kinds.len() > 1).then(|| self.kind.name());
        let parts = what.into_iter().chain(kind).chain(long);
        let accesses = self.kind.accesses(self.schedule.program.operand_dtype(), 4);
        Frame {
            name: self.schedule.kernel_name(self.launch, parts),
            summary: format!("{summary} {accesses}"),
            block_threads,
            min_blocks: 1,
        }
    }

    fn place(&mut self, body: &mut Vec<Stmt>) -> Place {
        let (lanes, elems) = (self.lanes, self.elems());
        let Segments { segment: Segment { row: row_mode, .. }, lane_mode, block_threads, .. } =
            *self.segments;
        let builder = &mut self.builder;
        let thread = builder.thread(body);
        let named = Expr::named("ROW_LANES", lanes);
        let group = builder.bind(body, "group", thread.clone().over(named.clone()));
        let lane = builder.bind(body, "lane", thread.modulo(named));
        let [row, feature] = [row_mode, lane_mode].map(|mode| builder.names.mode(mode).to_string());
        let tile = builder.named("TILE", lanes * elems);
        let extent = builder.extent(lane_mode);
        let one = builder.number(1);
        let tiles = extent.clone().minus(one.clone()).over(tile.clone()).plus(one.clone());
        let tiles = builder.bind(body, "tiles", tiles);
        let block = builder.bind(body, "block", Expr::Block.widen());
        let of_tile = block.clone().modulo(tiles.clone()).times(tile);
        let first_row = block.over(tiles).times(builder.named("ROWS", block_threads / lanes));
        let at = first_row.plus(group.widen());
        let at = builder.bind(body, &format!("{row}_row"), at);
        let last = builder.extent(row_mode).minus(one);
        let last = builder.bind(body, &format!("{row}_last"), last);
        let valid = builder.bind(body, &format!("{row}_at"), at.clone().min(last));
        let within = lane.times(Expr::u32(elems)).widen();
        let column = builder.bind(body, &format!("{feature}_out"), of_tile.plus(within));
        let last = extent.minus(builder.number(elems));
        let last = builder.bind(body, &format!("{feature}_last"), last);
        let valid_feature = builder.bind(body, &format!("{feature}_at"), column.clone().min(last));
        Place { row: at, valid, feature: column, valid_feature }
    }

    /// The edges of a row.
    fn bounds(&mut self, body: &mut Vec<Stmt>, row: Expr, names: [&str; 2]) -> [Expr; 2] {
        let pointers = self.segments.segment.pointers;
        let [begin, end] = names;
        [(begin, 0), (end, 1)].map(|(name, beyond)| {
            point::pointer(&mut self.builder, body, pointers, (row.clone(), beyond), name)
        })
    }

    /// The point of a lane's outputs in a row.
    fn point(&self, place: &Place, row: Expr) -> Point {
        let Segments { segment, lane_mode, .. } = *self.segments;
        Point::new(vec![(segment.row, row), (lane_mode, place.valid_feature.clone())], "at")
    }

    /// Stores the outputs of a lane's own row.
    fn store(&mut self, body: &mut Vec<Stmt>, place: &Place) {
        let Segments { segment: Segment { row: row_mode, .. }, lane_mode, .. } = *self.segments;
        let at = vec![(row_mode, place.row.clone()), (lane_mode, place.feature.clone())];
        let when = Some(Pred::All(vec![
            place.row.clone().less(self.builder.extent(row_mode)),
            place.feature.clone().less(self.builder.extent(lane_mode)),
        ]));
        let (elems, target) = (self.elems(), self.schedule.target(self.launch).clone());
        let builder = &mut self.builder;
        let offset = builder.offset(&target, |mode| coordinates::of(builder, &at, mode));
        let from = (0..elems).map(|elem| reg(self.acc, Expr::u32(elem))).collect();
        builder.write(body, Write { offset, at, from, width: Width::of(elems), when });
    }
}
