//! A statement of any form: at every point of its target the reduction, or the value, of its
//! expression, and what a kernel's rounding may do to it. Points are taken a line at a time.

use std::collections::BTreeSet;
use std::thread;

use ndarray::{ArrayD, IxDyn};

use super::accumulator;
use super::error::{Near, Rounding, Running};
use super::held::Held;
use super::node::{Arrays, Line, Node, Resolver};
use crate::binding::Extents;
use crate::diagnostic::{Code, Diagnostic};
use crate::dtype::Dtype;
use crate::function::Function;
use crate::index::{Centered, Expr, ModeId, Operator, Program, Statement, TensorId, centered};

/// Below so many points a thread costs more than it saves.
const POINTS_WORTH_A_THREAD: usize = 1 << 15;

/// The values of a statement and what they may be off by.
pub(super) fn evaluate(
    program: &Program,
    statement: &Statement,
    extents: &Extents,
    tensors: &[Held],
) -> Result<Held, Diagnostic> {
    let centered = centered(program);
    let arrays = Arrays::of(program, tensors);
    let resolver = Resolver { arrays: &arrays, centered: &centered };
    let node = match centered.iter().find(|mean| mean.is_mean_square(program, statement)) {
        Some(mean) => resolver.squared_deviation(mean),
        None => resolver.node(&statement.value),
    };
    let lines = Lines { program, statement, extents, arrays: &arrays, node };
    let (values, errors) = lines.evaluate()?;
    let mean = centered.iter().find(|mean| mean.mean == statement.target.tensor);
    let of_deviations = match mean {
        None => None,
        // The oracle's own mean is rounded as the kernel's then, and nothing corrects it.
        Some(_) if accumulator(program, statement) == Dtype::F64 => Some(errors.clone()),
        Some(mean) => {
            let arrays = Arrays::of(program, tensors).with(mean.mean, &values);
            let statement = &spread(statement, mean);
            let node = Resolver { arrays: &arrays, centered: &[] }.node(&statement.value);
            let lines = Lines { program, statement, extents, arrays: &arrays, node };
            Some(lines.evaluate()?.1)
        }
    };
    Ok(Held::with_errors(values, errors, of_deviations))
}

/// The mean absolute deviation: what it may be off by is what the correction may be, whose terms
/// are as large.
fn spread(statement: &Statement, mean: &Centered) -> Statement {
    let [of, at] = [&mean.of, &mean.at].map(|access| Box::new(Expr::Access(access.clone())));
    let deviation = Expr::Binary(Operator::Subtract, of, at);
    Statement { value: Expr::Call(Function::Abs, Box::new(deviation)), ..statement.clone() }
}

/// One statement at its extents.
struct Lines<'s> {
    program: &'s Program,
    statement: &'s Statement,
    extents: &'s Extents,
    arrays: &'s Arrays<'s>,
    node: Node,
}

impl Lines<'_> {
    fn extent(&self, mode: ModeId) -> usize {
        usize::try_from(self.extents.of_mode(self.program.mode(mode))).unwrap_or(usize::MAX)
    }

    fn evaluate(&self) -> Result<(ArrayD<f64>, ArrayD<f64>), Diagnostic> {
        let target = &self.statement.target.modes;
        let shape: Vec<usize> = target.iter().map(|mode| self.extent(*mode)).collect();
        let (line_modes, row_modes) = match self.line_of_target() {
            Some(_) => (1, target.len() - 1),
            None => (0, target.len()),
        };
        let row_len: usize = shape[row_modes..row_modes + line_modes].iter().product();
        let n_rows: usize = shape[..row_modes].iter().product();
        let mut values = vec![0.0; n_rows * row_len];
        let mut errors = values.clone();
        let rows_a_chunk = n_rows.div_ceil(self.n_threads(n_rows * row_len)).max(1);
        let chunk_len = (rows_a_chunk * row_len).max(1);
        thread::scope(|scope| {
            let chunks = values.chunks_mut(chunk_len).zip(errors.chunks_mut(chunk_len));
            for (chunk_idx, (values, errors)) in chunks.enumerate() {
                let first = chunk_idx * rows_a_chunk;
                scope.spawn(move || self.rows(first, row_len, (values, errors)));
            }
        });
        let array = |elements: Vec<f64>| {
            ArrayD::from_shape_vec(IxDyn(&shape), elements).map_err(|error| {
                Diagnostic::new(Code::SizeOverflow, format!("the output cannot be held: {error}"))
            })
        };
        Ok((array(values)?, array(errors)?))
    }

    fn n_threads(&self, n_outputs: usize) -> usize {
        let terms = self.statement.reduced.iter().map(|mode| self.extent(*mode));
        let n_points = terms.fold(n_outputs, usize::saturating_mul);
        if n_points < POINTS_WORTH_A_THREAD {
            return 1;
        }
        thread::available_parallelism().map_or(1, usize::from)
    }

    /// The target's last mode is the line's, unless a reduced one is longer or its row's segment is
    /// to be found there.
    fn line_of_target(&self) -> Option<ModeId> {
        let last = *self.statement.target.modes.last()?;
        let is_row = self.statement.segment.is_some_and(|segment| segment.row == last);
        let reduced = self.statement.reduced.last().filter(|_| self.statement.segment.is_none());
        let is_longer = reduced.is_some_and(|reduced| self.extent(*reduced) > self.extent(last));
        (!is_row && !is_longer).then_some(last)
    }

    fn rows(&self, first: usize, row_len: usize, (values, errors): (&mut [f64], &mut [f64])) {
        let target = &self.statement.target.modes;
        let line = self.line_of_target();
        let row_modes = &target[..target.len() - usize::from(line.is_some())];
        let mut at = vec![0; self.program.modes.len()];
        let rows = values.chunks_mut(row_len.max(1)).zip(errors.chunks_mut(row_len.max(1)));
        for (offset, (values, errors)) in rows.enumerate() {
            let mut rest = first + offset;
            for mode in row_modes.iter().rev() {
                at[mode.0] = rest % self.extent(*mode);
                rest /= self.extent(*mode);
            }
            let nears = match line {
                Some(mode) => self.outputs_of_line(&mut at, mode),
                None => vec![self.output(&mut at)],
            };
            for ((value, error), near) in values.iter_mut().zip(errors).zip(nears) {
                (*value, *error) = (near.value, near.error);
            }
        }
    }

    /// How many different terms a reduction can have: where all operands that differ along a mode are
    /// looked up, no more than there is to select from.
    fn most_distinct(&self) -> u64 {
        let accesses = self.statement.factors();
        let along = |mode: &ModeId| {
            if accesses.iter().any(|access| access.modes.contains(mode)) {
                return self.extent(*mode) as u64;
            }
            let looked_up = accesses.iter().flat_map(|access| {
                let gathers = access.gathers.iter().filter(|gather| gather.modes.contains(mode));
                gathers.map(|gather| (gather.indices, access.modes[gather.dim]))
            });
            let selected: BTreeSet<(TensorId, ModeId)> = looked_up.collect();
            let extents = selected.iter().map(|(_, dim)| self.extent(*dim) as u64);
            extents.fold(1, u64::saturating_mul)
        };
        self.statement.reduced.iter().map(along).fold(1, u64::saturating_mul)
    }

    /// The outputs along the target's last mode.
    fn outputs_of_line(&self, at: &mut [usize], mode: ModeId) -> Vec<Near> {
        let (rounding, len) = (self.rounding(), self.extent(mode));
        at[mode.0] = 0;
        let reduced = &self.statement.reduced;
        if reduced.is_empty() {
            let line = Line { at, mode: Some(mode), len };
            let part = self.node.values(&line, self.arrays, rounding);
            return (0..len).map(|point| part.at(point)).collect();
        }
        let mut sums = vec![Running::new(self.statement.reducer, self.most_distinct()); len];
        self.each_term(at, reduced, |at| {
            let line = Line { at, mode: Some(mode), len };
            let part = self.node.values(&line, self.arrays, rounding);
            sums.iter_mut().enumerate().for_each(|(point, sum)| sum.add(part.at(point)));
        });
        sums.into_iter().map(|sum| sum.finish(rounding)).collect()
    }

    /// One output, its terms along the last reduced mode.
    fn output(&self, at: &mut [usize]) -> Near {
        let rounding = self.rounding();
        let Some((mode, outer)) = self.statement.reduced.split_last() else {
            let line = Line { at, mode: None, len: 1 };
            return self.node.values(&line, self.arrays, rounding).at(0);
        };
        let (begin, end) = self.bounds(at, *mode);
        let mut sum = Running::new(self.statement.reducer, self.most_distinct());
        self.each_term(at, outer, |at| {
            at[mode.0] = begin;
            let line = Line { at, mode: Some(*mode), len: end - begin };
            let part = self.node.values(&line, self.arrays, rounding);
            (0..line.len).for_each(|point| sum.add(part.at(point)));
        });
        sum.finish(rounding)
    }

    /// Where a reduced mode begins and ends: everywhere, or in a row's segment.
    fn bounds(&self, at: &[usize], mode: ModeId) -> (usize, usize) {
        match self.statement.segment {
            None => (0, self.extent(mode)),
            Some(segment) => {
                let row = at[segment.row.0];
                let pointer = |row: usize| self.arrays.index(segment.pointers, row);
                (pointer(row), pointer(row + 1))
            }
        }
    }

    /// Goes through every position of `modes`, the last fastest.
    fn each_term(&self, at: &mut [usize], modes: &[ModeId], mut f: impl FnMut(&mut [usize])) {
        let bounds: Vec<(usize, usize)> = modes.iter().map(|mode| self.bounds(at, *mode)).collect();
        if bounds.iter().any(|(begin, end)| begin >= end) {
            return;
        }
        modes.iter().zip(&bounds).for_each(|(mode, (begin, _))| at[mode.0] = *begin);
        loop {
            f(at);
            let mut is_done = true;
            for (mode, (begin, end)) in modes.iter().zip(&bounds).rev() {
                at[mode.0] += 1;
                if at[mode.0] < *end {
                    is_done = false;
                    break;
                }
                at[mode.0] = *begin;
            }
            if is_done {
                return;
            }
        }
    }

    fn rounding(&self) -> Rounding {
        Rounding::of(accumulator(self.program, self.statement))
    }
}
