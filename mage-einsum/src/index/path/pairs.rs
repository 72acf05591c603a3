//! Program to program: the product of one statement becomes statements of two factors along a
//! path, with a temporary for each result but the last.

use super::choose::choose;
use super::count::Count;
use super::given;
use super::pair::pair;
use super::report::{Order, PathReport, PathStep};
use super::size::{Modes, Sizes, modes_of};
use crate::diagnostic::Diagnostics;
use crate::dtype::Dtype;
use crate::index::print::print_line;
use crate::index::roles::roles;
use crate::index::{
    Access, Expr, Layout, ModeId, Program, Statement, Tensor, TensorId, TensorKind,
};
use crate::options::Options;
use crate::reducer::Reducer;

/// Makes pairs of a program as lowered: every statement of the result has at most two factors.
///
/// The path is that of the option `path`, or chosen from the extents that are fixed. A mode that
/// one factor alone has and that is summed is summed before the product where that is cheaper, in
/// a statement of its own. A program of several statements, or of one that is no sum of products, is
/// left as it is: the order is the user's.
///
/// # Errors
/// `BadOption` for a path that does not contract the factors to one.
pub fn pairs(program: &Program, options: &Options) -> Result<(Program, PathReport), Diagnostics> {
    let naive = |statement: &Statement| Count::flops(program, statement);
    let naive_flops: Vec<Count> = program.statements.iter().map(naive).collect();
    let only = match program.statements.as_slice() {
        [statement] => Some(statement).filter(|statement| statement.is_sum_of_products()),
        [] | [_, _, ..] => None,
    };
    let Some(statement) = only else {
        let none = vec![None; program.statements.len()];
        let steps = steps(program, &none);
        let order = Order::Written;
        let report = PathReport { path: Vec::new(), order, naive_flops, steps };
        return Ok((program.clone(), report));
    };
    let sizes = Sizes::of(program);
    let factors: Vec<Modes> = statement.factors().into_iter().map(modes_of).collect();
    let (path, order) = match &options.path {
        Some(given) => (given::checked(given, factors.len(), options)?, Order::Given),
        None => choose(&factors, &modes_of(&statement.target), &sizes),
    };
    let mut sequence = Sequence::new(program, statement, &sizes);
    path.iter().for_each(|step| sequence.contract(*step));
    let (paired, pairs) = sequence.finish();
    let steps = steps(&paired, &pairs);
    Ok((paired, PathReport { path, order, naive_flops, steps }))
}

fn steps(program: &Program, pairs: &[Option<(usize, usize)>]) -> Vec<PathStep> {
    let step = |(statement, pair): (&Statement, &Option<(usize, usize)>)| PathStep {
        pair: *pair,
        statement: print_line(program, statement),
        flops: Count::flops(program, statement),
        elements: Count::elements(program, statement),
    };
    program.statements.iter().zip(pairs).map(step).collect()
}

/// A factor that is still to be contracted.
#[derive(Clone)]
struct Factor {
    access: Access,
    /// The first factor of the original product that is in it: products keep that order.
    first: usize,
}

/// The statements so far.
struct Sequence<'p> {
    program: &'p Program,
    original: &'p Statement,
    sizes: &'p Sizes,
    live: Vec<Factor>,
    temporaries: Vec<Tensor>,
    /// Without the one that writes the output.
    statements: Vec<Statement>,
    /// The step of the path that each statement is; none for a sum before a product.
    pairs: Vec<Option<(usize, usize)>>,
    /// The output's statement, once its factors are known.
    last: Option<Statement>,
}

impl<'p> Sequence<'p> {
    fn new(program: &'p Program, original: &'p Statement, sizes: &'p Sizes) -> Sequence<'p> {
        let factors = original.factors().into_iter().cloned().enumerate();
        let live: Vec<Factor> = factors.map(|(first, access)| Factor { access, first }).collect();
        Sequence {
            program,
            original,
            sizes,
            live,
            temporaries: Vec::new(),
            statements: Vec::new(),
            pairs: Vec::new(),
            last: None,
        }
    }

    /// Contracts the factors at two positions, the first before the second.
    fn contract(&mut self, step: (usize, usize)) {
        let (mut left, mut right) = {
            let right = self.live.remove(step.1);
            (self.live.remove(step.0), right)
        };
        if right.first < left.first {
            std::mem::swap(&mut left, &mut right);
        }
        let others = self.live.iter().flat_map(|factor| &factor.access.modes);
        let needed: Modes = others.chain(&self.original.target.modes).copied().collect();
        let (left_modes, right_modes) = (modes_of(&left.access), modes_of(&right.access));
        let plan = pair(&left_modes, &right_modes, &needed, self.sizes);
        let left = self.summed_first(left, &plan.left_first);
        let right = self.summed_first(right, &plan.right_first);
        if self.live.is_empty() {
            let factors = vec![left.access, right.access];
            self.last = Some(self.statement(self.original.target.clone(), factors));
            self.pairs.push(Some(step));
        } else {
            let modes = joint_order(&left.access, &right.access, &plan.kept);
            let factors = vec![left.access, right.access];
            let access = self.temporary(modes, factors, Some(step));
            self.live.push(Factor { access, first: left.first });
        }
    }

    /// `factor`, or its sum over `summed`.
    fn summed_first(&mut self, factor: Factor, summed: &Modes) -> Factor {
        if summed.is_empty() {
            return factor;
        }
        let mut modes: Vec<ModeId> = Vec::new();
        for mode in &factor.access.modes {
            if !summed.contains(mode) && !modes.contains(mode) {
                modes.push(*mode);
            }
        }
        let access = self.temporary(modes, vec![factor.access], None);
        Factor { access, first: factor.first }
    }

    /// Writes the product of `factors` to a temporary over `modes`.
    fn temporary(
        &mut self,
        modes: Vec<ModeId>,
        factors: Vec<Access>,
        step: Option<(usize, usize)>,
    ) -> Access {
        let n_inputs = self.program.tensors_of(TensorKind::Input).count();
        let tensor = TensorId(n_inputs + self.temporaries.len());
        self.temporaries.push(Tensor {
            name: self.free_name(),
            kind: TensorKind::Temp,
            dtype: self.temporary_dtype(),
            layout: Layout::RowMajor,
            dims: modes.clone(),
        });
        let access = Access::plain(tensor, modes);
        let statement = self.statement(access.clone(), factors);
        self.statements.push(statement);
        self.pairs.push(step);
        access
    }

    /// `t0`, `t1`, ..., with a `_` behind where a tensor has the name.
    fn free_name(&self) -> String {
        let mut name = format!("t{}", self.temporaries.len());
        while self.program.tensors.iter().any(|tensor| tensor.name == name) {
            name.push('_');
        }
        name
    }

    /// A temporary is held in the type that sums are accumulated in, so that only the output is
    /// rounded to a narrower one (rule R15).
    fn temporary_dtype(&self) -> Dtype {
        self.program.tensor(self.original.target.tensor).dtype.accumulator()
    }

    fn statement(&self, target: Access, factors: Vec<Access>) -> Statement {
        let roles = roles(&target, &factors.iter().collect::<Vec<_>>(), None);
        let is_summed = |mode: &ModeId| {
            !target.modes.contains(mode) && roles.iter().any(|(used, _)| used == mode)
        };
        let reduced = self.original.reduced.iter().copied().filter(is_summed).collect();
        let value = Expr::product(factors);
        Statement {
            target,
            accumulates: false,
            reducer: Reducer::Sum,
            reduced,
            segment: None,
            value,
            roles,
        }
    }

    /// The whole program, and the step of each of its statements.
    fn finish(self) -> (Program, Vec<Option<(usize, usize)>>) {
        let Some(mut last) = self.last else {
            // One factor has no step.
            return (self.program.clone(), vec![None]);
        };
        last.target.tensor.0 += self.temporaries.len();
        last.accumulates = self.original.accumulates;
        let (outputs, inputs): (Vec<Tensor>, Vec<Tensor>) =
            self.program.tensors.iter().cloned().partition(|tensor| match tensor.kind {
                TensorKind::Input | TensorKind::Indices { .. } | TensorKind::Pointers { .. } => {
                    false
                }
                TensorKind::Temp | TensorKind::Output => true,
            });
        let mut statements = self.statements;
        statements.push(last);
        let program = Program {
            tensors: inputs.into_iter().chain(self.temporaries).chain(outputs).collect(),
            statements,
            ..self.program.clone()
        };
        (program, self.pairs)
    }
}

/// The order of a temporary's modes: that of both factors where they agree, so that what was
/// contiguous stays so; where they disagree the left one's.
fn joint_order(left: &Access, right: &Access, kept: &Modes) -> Vec<ModeId> {
    let is_kept = |mode: &ModeId| kept.contains(mode);
    let mut order: Vec<ModeId> = Vec::new();
    let mut rest = right.modes.iter().copied().filter(is_kept).peekable();
    for mode in left.modes.iter().copied().filter(is_kept) {
        if right.modes.contains(&mode) {
            // What stands before a common mode on the right stands before it here too.
            while let Some(before) = rest.next_if(|next| !left.modes.contains(next)) {
                order.push(before);
            }
            rest.next_if_eq(&mode);
        }
        order.push(mode);
    }
    order.extend(rest);
    let mut seen = Modes::new();
    order.retain(|mode| seen.insert(*mode));
    order
}
