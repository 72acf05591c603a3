//! Statements of the notation, one after another, to statements of the program. A reduction that is
//! not the root of its statement becomes a statement of its own before it, with a temporary.

use std::collections::BTreeMap;

use super::roles::roles;
use super::sort::sort_tensors;
use super::{
    Access, Expr, Extent, Gather, Mode, ModeId, Operator, Part, Program, SameExtent, Segment,
    Statement, Tensor, TensorId, TensorKind,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::function::Function;
use crate::index::Layout;
use crate::notation::{self, Extreme, Index, Label, Number, Reduction, Sign};
use crate::options::Options;
use crate::reducer::Reducer;

/// What the statements so far have made.
pub(super) struct Lowering<'n> {
    source: &'n [notation::Statement],
    options: &'n Options,
    /// The names of the outputs, in order.
    outputs: &'n [String],
    modes: Vec<Mode>,
    /// In the order of their first appearance; `program` sorts them.
    tensors: Vec<Tensor>,
    statements: Vec<Statement>,
    same_extents: Vec<SameExtent>,
    /// For an output that is read and narrower than sums, what is read in its place.
    unrounded: BTreeMap<String, TensorId>,
}

/// What stands around an expression: the modes that its temporaries may keep, in order.
struct Around<'a> {
    kept: &'a [ModeId],
}

impl<'n> Lowering<'n> {
    /// Finds the labels of all statements.
    pub(super) fn new(
        source: &'n [notation::Statement],
        options: &'n Options,
        outputs: &'n [String],
    ) -> Lowering<'n> {
        let mut lowering = Lowering {
            source,
            options,
            outputs,
            modes: Vec::new(),
            tensors: Vec::new(),
            statements: Vec::new(),
            same_extents: Vec::new(),
            unrounded: BTreeMap::new(),
        };
        for label in source.iter().flat_map(|statement| statement.value.labels()) {
            lowering.add_mode(&label.name);
        }
        lowering
    }

    /// Lowers every statement.
    pub(super) fn program(mut self, text: &str) -> Result<Program, Diagnostic> {
        for statement in self.source {
            self.statement(statement)?;
        }
        let mut program = Program {
            notation: text.to_owned(),
            modes: self.modes,
            tensors: self.tensors,
            statements: self.statements,
            precision: self.options.precision,
            same_extents: self.same_extents,
        };
        sort_tensors(&mut program, self.outputs);
        Ok(program)
    }

    fn add_mode(&mut self, name: &str) {
        if self.modes.iter().any(|mode| mode.name == name) {
            return;
        }
        let fixed = self.options.extents.get(name);
        let extent = fixed.map_or(Extent::Runtime, |extent| Extent::Fixed(*extent));
        let parts = vec![Part { label: name.to_owned(), extent }];
        self.modes.push(Mode { name: name.to_owned(), extent, parts });
    }

    fn statement(&mut self, statement: &notation::Statement) -> Result<(), Diagnostic> {
        let labels: Vec<&Label> = statement.target.labels().collect();
        let modes = self.mode_ids(&labels)?;
        let reduced = match &statement.value {
            notation::Expr::Reduction(reduction, inner) => Some((reduction, inner.as_ref())),
            notation::Expr::Access(_)
            | notation::Expr::Number(_)
            | notation::Expr::Negative(_)
            | notation::Expr::Binary(..)
            | notation::Expr::Power(..)
            | notation::Expr::Call(..)
            | notation::Expr::Extreme(..) => None,
        };
        let value = match reduced {
            Some((reduction, inner)) => self.reduction(reduction, inner, &modes)?,
            None => Reduced::none(self.expr(&statement.value, &Around { kept: &modes })?),
        };
        self.write(&statement.target.tensor.name, modes, value);
        Ok(())
    }

    /// Writes a tensor of the notation. What later statements read of an output is what they would
    /// read of a temporary: where that is wider than the output, a temporary is written, and the
    /// output is a copy of it.
    fn write(&mut self, name: &str, modes: Vec<ModeId>, value: Reduced) {
        if !self.outputs.iter().any(|output| output == name) {
            let tensor = self.new_tensor(name.to_owned(), TensorKind::Temp, modes.clone());
            return self.push(Access::plain(tensor, modes), false, value);
        }
        let dtype = self.options.out.unwrap_or(self.options.dtype);
        let is_narrow = dtype != dtype.accumulator();
        let value = if is_narrow && notation::is_read(self.source, name) {
            let wide = self.name_like(&format!("{name}_unrounded"));
            let tensor = self.new_tensor(wide, TensorKind::Temp, modes.clone());
            self.unrounded.insert(name.to_owned(), tensor);
            let unrounded = Access::plain(tensor, modes.clone());
            self.push(unrounded.clone(), false, value);
            Reduced::none(Expr::Access(unrounded))
        } else {
            value
        };
        let tensor = self.new_tensor(name.to_owned(), TensorKind::Output, modes.clone());
        self.push(Access::plain(tensor, modes), self.options.accumulate, value);
    }

    fn push(&mut self, target: Access, accumulates: bool, reduced: Reduced) {
        let Reduced { reducer, modes, segment, value } = reduced;
        let roles = roles(&target, &value.accesses(), segment);
        let statement =
            Statement { target, accumulates, reducer, reduced: modes, segment, value, roles };
        self.statements.push(statement);
    }

    fn reduction(
        &mut self,
        Reduction { reducer, labels, range }: &Reduction,
        inner: &notation::Expr,
        kept: &[ModeId],
    ) -> Result<Reduced, Diagnostic> {
        let labels: Vec<&Label> = labels.iter().collect();
        let modes = self.mode_ids(&labels)?;
        let segment = match range {
            None => None,
            Some(range) => {
                let row = self.mode_ids(&[&range.row])?[0];
                let kind = TensorKind::Pointers { into: modes[0] };
                let pointers = self.read(&range.pointers, kind, vec![row])?;
                Some(Segment { pointers, row })
            }
        };
        let around = [kept, &modes].concat();
        let value = self.expr(inner, &Around { kept: &around })?;
        Ok(Reduced { reducer: *reducer, modes, segment, value })
    }

    fn expr(&mut self, expr: &notation::Expr, around: &Around<'_>) -> Result<Expr, Diagnostic> {
        Ok(match expr {
            notation::Expr::Access(access) => Expr::Access(self.access(access)?),
            notation::Expr::Number(number) => Expr::Number(*number),
            notation::Expr::Negative(inner) => match self.expr(inner, around)? {
                Expr::Number(number) => Expr::Number(Number::new(-number.value())),
                inner => Expr::Call(Function::Negate, Box::new(inner)),
            },
            notation::Expr::Binary(Sign::Times, left, right) => {
                let factors = [self.expr(left, around)?, self.expr(right, around)?];
                Expr::Product(factors.into_iter().flat_map(factors_of).collect())
            }
            notation::Expr::Binary(sign @ (Sign::Plus | Sign::Minus | Sign::Over), left, right) => {
                let operator = match sign {
                    Sign::Plus | Sign::Times => Operator::Add,
                    Sign::Minus => Operator::Subtract,
                    Sign::Over => Operator::Divide,
                };
                self.binary(operator, [left, right], around)?
            }
            notation::Expr::Extreme(Extreme::Max, left, right) => {
                self.binary(Operator::Max, [left, right], around)?
            }
            notation::Expr::Extreme(Extreme::Min, left, right) => {
                self.binary(Operator::Min, [left, right], around)?
            }
            notation::Expr::Power(base, exponent) => {
                power(self.expr(base, around)?, exponent.value())
            }
            notation::Expr::Call(function, inner) => {
                Expr::Call(*function, Box::new(self.expr(inner, around)?))
            }
            notation::Expr::Reduction(reduction, inner) => {
                let reduced = self.reduction(reduction, inner, around.kept)?;
                Expr::Access(self.temporary(reduced, around))
            }
        })
    }

    fn binary(
        &mut self,
        operator: Operator,
        [left, right]: [&notation::Expr; 2],
        around: &Around<'_>,
    ) -> Result<Expr, Diagnostic> {
        let (left, right) = (self.expr(left, around)?, self.expr(right, around)?);
        Ok(Expr::Binary(operator, Box::new(left), Box::new(right)))
    }

    /// Writes a reduction within an expression to a temporary over the modes that it leaves.
    fn temporary(&mut self, reduced: Reduced, around: &Around<'_>) -> Access {
        let mut used: Vec<ModeId> =
            reduced.value.accesses().iter().flat_map(|access| access.run_modes()).collect();
        used.extend(reduced.segment.map(|segment| segment.row));
        let is_left = |mode: &&ModeId| used.contains(mode) && !reduced.modes.contains(mode);
        let modes: Vec<ModeId> = around.kept.iter().filter(is_left).copied().collect();
        let name = self.free_name();
        let tensor = self.new_tensor(name, TensorKind::Temp, modes.clone());
        let target = Access::plain(tensor, modes);
        self.push(target.clone(), false, reduced);
        target
    }

    /// `t0`, `t1`, ...
    fn free_name(&self) -> String {
        let number = self.tensors.iter().filter(|tensor| tensor.kind == TensorKind::Temp).count();
        self.name_like(&format!("t{number}"))
    }

    /// The name, with a `_` behind where it is taken.
    fn name_like(&self, wish: &str) -> String {
        let is_written = |name: &str| {
            self.source.iter().any(|statement| {
                let accesses = statement.value.accesses();
                let named = accesses.into_iter().chain([&statement.target]);
                named.into_iter().any(|access| access.tensor.name == name)
            })
        };
        let mut name = wish.to_owned();
        while is_written(&name) || self.tensors.iter().any(|tensor| tensor.name == name) {
            name.push('_');
        }
        name
    }

    fn access(&mut self, access: &notation::Access) -> Result<Access, Diagnostic> {
        let mut modes = Vec::new();
        let mut gathers = Vec::new();
        for (dim, index) in access.indices.iter().enumerate() {
            match index {
                Index::Label(label) => modes.extend(self.mode_ids(&[label])?),
                Index::Through { tensor, labels } => {
                    let below = self.gathered(&tensor.name);
                    let labels: Vec<&Label> = labels.iter().collect();
                    let of_index = self.mode_ids(&labels)?;
                    let kind = TensorKind::Indices { below };
                    let indices = self.read(tensor, kind, of_index.clone())?;
                    modes.push(below);
                    gathers.push(Gather { dim, indices, modes: of_index });
                }
            }
        }
        let tensor = self.read(&access.tensor, TensorKind::Input, modes.clone())?;
        Ok(Access { tensor, modes, gathers })
    }

    /// The mode that an index operand selects from. It has no label in the notation, so it is
    /// called like the operand.
    fn gathered(&mut self, indices: &str) -> ModeId {
        let known = self.tensors.iter().find(|tensor| tensor.name == indices);
        if let Some(Tensor { kind: TensorKind::Indices { below }, .. }) = known {
            return *below;
        }
        let mut name = indices.to_owned();
        while self.modes.iter().any(|mode| mode.name == name) {
            name.push('_');
        }
        self.add_mode(&name);
        ModeId(self.modes.len() - 1)
    }

    /// The tensor `name`, which the first access makes unless a statement has written it. A later
    /// access under other modes says that those have the same extents.
    ///
    /// # Errors
    /// `IndexOperand` where an index operand stands for something else than before.
    fn read(
        &mut self,
        Label { name, span }: &Label,
        kind: TensorKind,
        modes: Vec<ModeId>,
    ) -> Result<TensorId, Diagnostic> {
        let named = || self.tensors.iter().position(|tensor| tensor.name == *name).map(TensorId);
        let Some(tensor) = self.unrounded.get(name).copied().or_else(named) else {
            return Ok(self.new_tensor(name.clone(), kind, modes));
        };
        let known = &self.tensors[tensor.0];
        if kind.is_index() && known.kind != kind || modes.len() != known.dims.len() {
            let message = format!("index operand `{name}` is read in two ways");
            let mistake = Diagnostic::new(Code::IndexOperand, message).at(*span);
            let mistake = mistake.place(format!("tensor `{name}`"));
            return Err(mistake.help("give each meaning an operand of its own"));
        }
        for (dim, (&first, &other)) in known.dims.iter().zip(&modes).enumerate() {
            let same = SameExtent { tensor, dim, first, other };
            if first != other && !self.same_extents.contains(&same) {
                self.same_extents.push(same);
            }
        }
        Ok(tensor)
    }

    fn new_tensor(&mut self, name: String, kind: TensorKind, dims: Vec<ModeId>) -> TensorId {
        let options = self.options;
        let (dtype, layout) = match kind {
            TensorKind::Input => (options.dtype, options.strides),
            TensorKind::Output => (options.out.unwrap_or(options.dtype), Layout::RowMajor),
            TensorKind::Temp | TensorKind::Indices { .. } | TensorKind::Pointers { .. } => {
                (options.dtype.accumulator(), Layout::RowMajor)
            }
        };
        self.tensors.push(Tensor { name, kind, dtype, layout, dims });
        TensorId(self.tensors.len() - 1)
    }

    /// The parser has checked that every label of the output and of a reduction is in a factor; a
    /// notation made by hand may lack it.
    fn mode_ids(&self, labels: &[&Label]) -> Result<Vec<ModeId>, Diagnostic> {
        let mode_id = |label: &&Label| {
            let found = self.modes.iter().position(|mode| mode.name == label.name);
            found.map(ModeId).ok_or_else(|| {
                let message = format!("label `{}` is in no operand", label.name);
                Diagnostic::new(Code::UnknownOutputLabel, message).at(label.span)
            })
        };
        labels.iter().map(mode_id).collect()
    }
}

/// The right side of a statement.
struct Reduced {
    reducer: Reducer,
    modes: Vec<ModeId>,
    segment: Option<Segment>,
    value: Expr,
}

impl Reduced {
    /// The value itself.
    fn none(value: Expr) -> Reduced {
        Reduced { reducer: Reducer::Sum, modes: Vec::new(), segment: None, value }
    }
}

fn factors_of(expr: Expr) -> Vec<Expr> {
    match expr {
        Expr::Product(factors) => factors,
        single => vec![single],
    }
}

/// The parser lets halves and whole numbers other than zero through.
fn power(base: Expr, exponent: f64) -> Expr {
    let base = Box::new(base);
    if exponent.abs() == 0.5 {
        return Expr::Call(if exponent > 0.0 { Function::Sqrt } else { Function::Rsqrt }, base);
    }
    let count = exponent.abs() as u32;
    let power = if count == 1 { *base } else { Expr::Power(base, count) };
    if exponent > 0.0 {
        return power;
    }
    let one = Box::new(Expr::Number(Number::new(1.0)));
    Expr::Binary(Operator::Divide, one, Box::new(power))
}
