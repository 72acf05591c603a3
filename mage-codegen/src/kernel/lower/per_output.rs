//! Lowers the one-output-a-thread strategy: a flat output index taken apart into coordinates, and
//! a reduction in two levels whose order does not depend on the run.

use mage_einsum::index::{Access, ModeId};

use super::builder::{Builder, Frame, buffer, host_extent, reg};
use super::host::{grid_limit, require_limit};
use super::names::Names;
use crate::kernel::{
    Expr, HostExpr, HostStep, Kernel, Module, Place, Reg, RegId, Space, Stmt, Ty, Value, Width,
};
use crate::schedule::{Launch, PerOutput, Schedule};

/// Most terms of an output element: the chunk's end, one chunk past the last term, fits 64 bits.
const MOST_TERMS: u64 = 1 << 62;

/// The kernel and the steps that launch it.
pub fn lower(
    schedule: &Schedule,
    launch: &Launch,
    per_output: &PerOutput,
    names: &Names,
    module: &Module,
) -> (Vec<Kernel>, Vec<HostStep>) {
    let program = &schedule.program;
    let statement = &program.statements[launch.statement];
    let modes: Vec<ModeId> = statement.roles.iter().map(|(mode, _)| *mode).collect();
    let builder = Builder::new(program, names, Ty::U64, &modes);
    let lowering = Lowering { builder, schedule, launch, per_output };
    let kernel = lowering.kernel();

    let product = |modes: &[ModeId]| {
        HostExpr::product(modes.iter().map(|mode| host_extent(program, names, *mode)))
    };
    let threads = u64::from(per_output.block_threads);
    let blocks = product(&statement.target.modes).ceil_div(threads);
    let mut steps = Vec::new();
    steps.extend(grid_limit(schedule, launch, &blocks));
    let terms = product(&statement.reduced);
    steps.extend(require_limit("terms of an output element", terms, MOST_TERMS));
    steps.push(HostStep::Launch { kernel: module.kernels.len(), blocks });
    (vec![kernel], steps)
}

struct Lowering<'p> {
    builder: Builder<'p>,
    schedule: &'p Schedule,
    launch: &'p Launch,
    per_output: &'p PerOutput,
}

impl Lowering<'_> {
    fn kernel(mut self) -> Kernel {
        let statement = &self.schedule.program.statements[self.launch.statement];
        let factors: Vec<Access> = statement.factors().into_iter().cloned().collect();
        let mut body = Vec::new();
        let acc = self.builder.registers("acc", 1);
        let flat = Expr::Block
            .widen()
            .times(Expr::named("THREADS", self.per_output.block_threads).widen())
            .plus(Expr::Thread.widen());
        let output = self.builder.bind(&mut body, "output", flat);
        let n_outputs = self.product(&statement.target.modes);
        let n_outputs = self.builder.bind(&mut body, "n_outputs", n_outputs);

        let mut then = Vec::new();
        let target_coordinates =
            self.coordinates(&mut then, &statement.target.modes, output.clone());
        for access in factors.iter().chain([&statement.target]) {
            self.builder.bind_strides(&mut then, access);
        }
        then.push(Stmt::Fill { reg: acc, value: 0.0 });
        if statement.reduced.is_empty() {
            self.term(&mut then, &factors, acc, &target_coordinates);
        } else {
            self.chunks(&mut then, &factors, acc, &target_coordinates);
        }
        then.push(Stmt::Store {
            to: Place { space: Space::Global(buffer(&statement.target)), offset: output.clone() },
            from: vec![reg(acc, Expr::u32(0))],
            width: Width::One,
            when: None,
        });
        body.push(Stmt::If { when: output.less(n_outputs), then, otherwise: Vec::new() });
        let frame = Frame {
            name: self.schedule.kernel_name(self.launch, None),
            summary: "One thread an output element, for any extents.".to_string(),
            block_threads: self.per_output.block_threads,
            min_blocks: 1,
        };
        self.builder.finish(frame, body)
    }

    fn product(&self, modes: &[ModeId]) -> Expr {
        modes.iter().fold(Expr::u64(1), |product, mode| product.times(self.builder.extent(*mode)))
    }

    /// Takes a flat index apart, the last mode fastest.
    fn coordinates(
        &mut self,
        body: &mut Vec<Stmt>,
        modes: &[ModeId],
        flat: Expr,
    ) -> Vec<(ModeId, Expr)> {
        let mut coordinates = Vec::new();
        let mut rest = flat;
        for (position, mode) in modes.iter().enumerate().rev() {
            let stem = self.builder.names.mode(*mode).to_string();
            let extent = self.builder.extent(*mode);
            let here =
                if position == 0 { rest.clone() } else { rest.clone().modulo(extent.clone()) };
            let at = self.builder.bind(body, &format!("{stem}_at"), here);
            coordinates.push((*mode, at));
            if position > 0 {
                rest = self.builder.bind(body, &format!("above_{stem}"), rest.over(extent));
            }
        }
        coordinates
    }

    /// Sums chunks of terms into `part` and the parts into `acc`.
    fn chunks(
        &mut self,
        body: &mut Vec<Stmt>,
        factors: &[Access],
        acc: RegId,
        outer: &[(ModeId, Expr)],
    ) {
        let statement = &self.schedule.program.statements[self.launch.statement];
        let chunk_terms = self.per_output.chunk_terms;
        let terms = self.product(&statement.reduced);
        let n_terms = self.builder.bind(body, "n_terms", terms);
        let part = self.builder.registers("part", 1);
        let chunk = self.builder.var("chunk", Ty::U64, false);
        let term = self.builder.var("term", Ty::U64, false);

        let mut in_term = Vec::new();
        let mut at = self.coordinates(&mut in_term, &statement.reduced, Expr::Var(term));
        at.extend(outer.iter().cloned());
        self.term(&mut in_term, factors, part, &at);

        let mut in_chunk = vec![Stmt::Fill { reg: part, value: 0.0 }];
        let chunk_len = Expr::named("CHUNK", chunk_terms).widen();
        let chunk_end = Expr::Var(chunk).plus(chunk_len).min(n_terms.clone());
        let chunk_end = self.builder.bind(&mut in_chunk, "chunk_end", chunk_end);
        in_chunk.push(Stmt::For {
            var: term,
            begin: Expr::Var(chunk),
            end: chunk_end,
            step: 1,
            unroll: false,
            body: in_term,
        });
        let (total, part) = (reg(acc, Expr::u32(0)), reg(part, Expr::u32(0)));
        in_chunk.push(Stmt::Compute { to: total.clone(), value: Value::Add(total.clone(), part) });
        body.push(Stmt::For {
            var: chunk,
            begin: Expr::u64(0),
            end: n_terms,
            step: chunk_terms,
            unroll: false,
            body: in_chunk,
        });
    }

    /// `sum += product of the factors`, the last multiplication fused with the addition.
    fn term(
        &mut self,
        body: &mut Vec<Stmt>,
        factors: &[Access],
        sum: RegId,
        coordinates: &[(ModeId, Expr)],
    ) {
        let sum = reg(sum, Expr::u32(0));
        let values: Vec<Reg> =
            factors.iter().map(|factor| self.load(body, factor, coordinates)).collect();
        let Some((last, first)) = values.split_last() else {
            return;
        };
        let Some((start, between)) = first.split_first() else {
            let value = Value::Add(sum.clone(), last.clone());
            body.push(Stmt::Compute { to: sum, value });
            return;
        };
        for factor in between {
            let value = Value::Mul(start.clone(), factor.clone());
            body.push(Stmt::Compute { to: start.clone(), value });
        }
        let value = Value::Fma(start.clone(), last.clone(), sum.clone());
        body.push(Stmt::Compute { to: sum, value });
    }

    fn load(
        &mut self,
        body: &mut Vec<Stmt>,
        factor: &Access,
        coordinates: &[(ModeId, Expr)],
    ) -> Reg {
        let name = format!("{}_value", self.builder.names.tensor(factor.tensor));
        let to = reg(self.builder.registers(&name, 1), Expr::u32(0));
        let at = |mode: ModeId| {
            let found = coordinates.iter().find(|(id, _)| *id == mode);
            found.map_or_else(|| Expr::u64(0), |(_, at)| at.clone())
        };
        let offset = self.builder.offset(factor, at);
        body.push(Stmt::Fill { reg: to.array, value: 0.0 });
        body.push(Stmt::Load {
            to: to.clone(),
            from: Place { space: Space::Global(buffer(factor)), offset },
            width: Width::One,
            when: None,
        });
        to
    }
}
