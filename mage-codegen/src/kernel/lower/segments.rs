//! Lowers reductions over the rows of a CSR matrix: for each number of lanes a row has, a kernel for
//! graphs without long rows and one that looks out for them.

mod edges;
mod long;

use mage_einsum::index::{Access, Segment, Statement};

use super::builder::{Builder, Frame, Write, host_extent, reg};
use super::coordinates;
use super::elementwise::reads;
use super::host::{grid_limit, selected};
use super::names::Names;
use super::point::{self, Point};
use super::value::Held;
use super::{reduce, wide};
use crate::kernel::{
    Arm, BufferId, Expr, HostExpr, HostPred, HostStep, Kernel, Module, Pred, RegId, Stmt, Ty, Width,
};
use crate::schedule::{Launch, Length, Schedule, Segments, VariantKind, lies_along};

/// The kernels, and the steps that select one.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    segments: &Segments,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let Some(segment) = schedule.program.statements[launch.statement].segment else {
        return (Vec::new(), Vec::new());
    };
    let host = Host { schedule, launch, segments, names, segment };
    let (mut kernels, mut arms, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for (position, lanes) in segments.row_lanes.iter().enumerate() {
        let mut variants = Vec::new();
        for kind in &segments.kinds {
            let blocks = host.blocks(*lanes, *kind);
            if position + 1 == segments.row_lanes.len() {
                steps.extend(grid_limit(schedule, launch, None, &blocks));
            }
            let of_length = [Length::Short, Length::Any].map(|length| {
                let kernel = module.kernels.len() + kernels.len();
                kernels.push(Row::new(&host, *lanes, *kind, length).kernel());
                Arm {
                    name: length.name().to_string(),
                    eligible: host.is_of(length),
                    steps: vec![HostStep::Launch { kernel, blocks: blocks.clone() }],
                }
            });
            variants.push(Arm {
                name: kind.name().to_string(),
                eligible: host.eligible(module, *kind),
                steps: selected(of_length.into()),
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
    segment: Segment,
}

impl Host<'_> {
    fn blocks(&self, lanes: u32, kind: VariantKind) -> HostExpr {
        let extent = |mode| host_extent(&self.schedule.program, self.names, mode);
        let tile = u64::from(lanes * Segments::elems(kind));
        let rows = u64::from(self.segments.block_threads / lanes);
        let tiles = extent(self.segments.lane_mode).ceil_div(tile);
        HostExpr::product([extent(self.segments.row_mode).ceil_div(rows), tiles])
    }

    fn is_of(&self, length: Length) -> HostPred {
        match length {
            Length::Any => HostPred::All(Vec::new()),
            Length::Short => {
                let pointers = BufferId(self.segment.pointers.0);
                HostPred::RowsAtMost(pointers, u64::from(self.segments.long_edges))
            }
        }
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
    segment: Segment,
    lanes: u32,
    kind: VariantKind,
    length: Length,
    /// What a lane's outputs become.
    acc: RegId,
    /// What is read and does not differ from edge to edge.
    constant: Vec<Held>,
}

/// Where a lane stands.
struct Place {
    /// Its lane group among those of the block, 32 bits.
    group: Expr,
    /// Its position in the group, 32 bits.
    lane: Expr,
    /// The block's first row, 64 bits.
    first_row: Expr,
    /// Its row, and the row that it reads: the last one where there is none.
    row: Expr,
    valid: Expr,
    /// Its first feature, and the first that it reads.
    feature: Expr,
    valid_feature: Expr,
}

impl<'p> Row<'p> {
    fn new(host: &Host<'p>, lanes: u32, kind: VariantKind, length: Length) -> Row<'p> {
        let Host { schedule, launch, segments, names, segment } = *host;
        let mut builder = Builder::new(schedule, launch, names, Ty::U64);
        let elems = Segments::elems(kind);
        for access in reads(&builder.statements.clone()) {
            if lies_along(&access, segments.lane_mode) {
                builder.reads(&access, elems);
            }
        }
        let acc = builder.registers("acc", elems);
        let constant = Vec::new();
        Row { builder, schedule, launch, segments, segment, lanes, kind, length, acc, constant }
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
        let end = match self.length {
            Length::Short => end,
            Length::Any => {
                // A long row has no edges here.
                let long = self.builder.named("LONG", self.segments.long_edges);
                let short = begin.clone().plus(long.clone());
                let end = self.short_end(&mut body, [&begin, &end, &short]);
                self.builder.bind(&mut body, "short_end", end)
            }
        };
        self.edges(&mut body, &point, [&begin, &end]);
        self.store(&mut body, &place);
        if self.length == Length::Any {
            self.long_rows(&mut body, &place);
        }
        let frame = self.frame();
        self.builder.finish(frame, body)
    }

    fn frame(&self) -> Frame {
        let several = self.segments.row_lanes.len() > 1;
        let lanes = format!("lanes{}", self.lanes);
        let kind = (self.segments.kinds.len() > 1).then(|| self.kind.name());
        let parts = several.then_some(lanes.as_str()).into_iter().chain(kind);
        let parts = parts.chain([self.length.name()]);
        let accesses = self.kind.accesses(self.schedule.program.operand_dtype(), 4);
        let long = self.segments.long_edges;
        let rows = match self.length {
            Length::Short => format!("rows of at most {long} terms"),
            Length::Any => "rows of any length".to_string(),
        };
        Frame {
            name: self.schedule.kernel_name(self.launch, parts),
            summary: format!("{} lanes a row, for {rows}. {accesses}", self.lanes),
            block_threads: self.segments.block_threads,
            min_blocks: 1,
        }
    }

    fn place(&mut self, body: &mut Vec<Stmt>) -> Place {
        let (lanes, elems) = (self.lanes, self.elems());
        let Segments { row_mode, lane_mode, block_threads, .. } = *self.segments;
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
        let first_row = builder.bind(body, &format!("{row}_first"), first_row);
        let at = first_row.clone().plus(group.clone().widen());
        let at = builder.bind(body, &format!("{row}_row"), at);
        let last = builder.extent(row_mode).minus(one);
        let last = builder.bind(body, &format!("{row}_last"), last);
        let valid = builder.bind(body, &format!("{row}_at"), at.clone().min(last));
        let within = lane.clone().times(Expr::u32(elems)).widen();
        let column = builder.bind(body, &format!("{feature}_out"), of_tile.plus(within));
        let last = extent.minus(builder.number(elems));
        let last = builder.bind(body, &format!("{feature}_last"), last);
        let valid_feature = builder.bind(body, &format!("{feature}_at"), column.clone().min(last));
        Place { group, lane, first_row, row: at, valid, feature: column, valid_feature }
    }

    /// The edges of a row.
    fn bounds(&mut self, body: &mut Vec<Stmt>, row: Expr, names: [&str; 2]) -> [Expr; 2] {
        let pointers = self.segment.pointers;
        let [begin, end] = names;
        [(begin, 0), (end, 1)].map(|(name, beyond)| {
            point::pointer(&mut self.builder, body, pointers, (row.clone(), beyond), name)
        })
    }

    /// The point of a lane's outputs in a row.
    fn point(&self, place: &Place, row: Expr) -> Point {
        let Segments { row_mode, lane_mode, .. } = *self.segments;
        Point::new(vec![(row_mode, row), (lane_mode, place.valid_feature.clone())], "at")
    }

    /// Stores the outputs of a lane's own row.
    fn store(&mut self, body: &mut Vec<Stmt>, place: &Place) {
        let Segments { row_mode, lane_mode, .. } = *self.segments;
        let at = vec![(row_mode, place.row.clone()), (lane_mode, place.feature.clone())];
        let mut when = vec![
            place.row.clone().less(self.builder.extent(row_mode)),
            place.feature.clone().less(self.builder.extent(lane_mode)),
        ];
        let mut then = Vec::new();
        if self.length == Length::Any {
            let [begin, end] = self.bounds(&mut then, place.valid.clone(), ["from", "to"]);
            let long = self.builder.named("LONG", self.segments.long_edges);
            let short = end.less(begin.plus(long).plus(Expr::u64(1)));
            let mut inner = Vec::new();
            self.write(&mut inner, at, None);
            then.push(Stmt::If { when: short, then: inner, otherwise: Vec::new() });
            let when = Pred::All(std::mem::take(&mut when));
            body.push(Stmt::If { when, then, otherwise: Vec::new() });
            return;
        }
        self.write(body, at, Some(Pred::All(when)));
    }

    fn write(
        &mut self,
        body: &mut Vec<Stmt>,
        at: Vec<(mage_einsum::index::ModeId, Expr)>,
        when: Option<Pred>,
    ) {
        let (elems, target) = (self.elems(), self.schedule.target(self.launch).clone());
        let builder = &mut self.builder;
        let offset = builder.offset(&target, |mode| coordinates::of(builder, &at, mode));
        let from = (0..elems).map(|elem| reg(self.acc, Expr::u32(elem))).collect();
        builder.write(body, Write { offset, at, from, width: Width::of(elems), when });
    }
}
