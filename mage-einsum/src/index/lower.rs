//! Notation to [`Program`]: labels become modes with extents, names become tensors, and every mode
//! gets its role. No `char` goes further than this file.

use super::ranks::ranks_fit;
use super::roles::roles;
use super::tied::unequal_extents;
use super::{
    Access, Expr, Extent, Layout, Mode, ModeId, Part, Program, SameExtent, Statement, Tensor,
    TensorId, TensorKind,
};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Source, Span};
use crate::notation::{self, Form, Label, Notation};
use crate::options::Options;

/// Gives `notation` its meaning under `options`.
///
/// # Errors
/// The mistakes of an ellipsis and of `ranks` that do not fit, `StatementUnsupported` for more than
/// one statement, `BadOption` for an extent of an unknown label, `ExtentMismatch` where fixed
/// extents of one dimension differ.
pub fn lower(notation: &Notation, options: &Options) -> Result<Program, Diagnostics> {
    let statement = match &notation.form {
        Form::Classic(classic) => {
            let spelled_out = notation::spelled_out(classic, options.ranks.as_deref());
            notation::desugar(
                &spelled_out.map_err(|mistakes| at_option(mistakes, options, "ranks"))?,
            )
        }
        Form::Index(statements) => only_statement(statements)?.clone(),
    };
    let modes = modes(&statement, options);
    known_extents(&modes, options)?;
    let tensor = |access: &notation::Access, kind: TensorKind| -> Result<Tensor, Diagnostics> {
        let dims = mode_ids(&access.labels, &modes)?;
        let (dtype, layout) = match kind {
            TensorKind::Input => (options.dtype, options.strides),
            TensorKind::Temp => (options.dtype.accumulator(), Layout::RowMajor),
            TensorKind::Output => (options.out.unwrap_or(options.dtype), Layout::RowMajor),
        };
        Ok(Tensor { name: access.tensor.name.clone(), kind, dtype, layout, dims })
    };
    let mut tensors = Vec::new();
    let mut same_extents = Vec::new();
    let mut factors = Vec::new();
    for factor in &statement.factors {
        let read = tensor(factor, TensorKind::Input)?;
        let modes = read.dims.clone();
        factors.push(Access { tensor: input(read, &mut tensors, &mut same_extents), modes });
    }
    let output = tensor(&statement.target, TensorKind::Output)?;
    let target = Access { tensor: TensorId(tensors.len()), modes: output.dims.clone() };
    tensors.push(output);
    let roles = roles(&target, &factors.iter().collect::<Vec<_>>());
    let reduced = mode_ids(&statement.reduced, &modes)?;
    let value = Expr::product(factors);
    let accumulates = options.accumulate;
    let statements = vec![Statement { target, accumulates, reduced, value, roles }];
    let program = Program {
        notation: notation.text.clone(),
        modes,
        tensors,
        statements,
        precision: options.precision,
        same_extents,
    };
    if let Some(ranks) = &options.ranks {
        ranks_fit(&program, ranks).map_err(|mistakes| at_option(mistakes, options, "ranks"))?;
    }
    fixed_extents_agree(&program).map_err(|mistakes| at_option(mistakes, options, "extents"))?;
    Ok(program)
}

/// Points what has no place in the notation at the value of an option.
fn at_option(Diagnostics(mistakes): Diagnostics, options: &Options, key: &str) -> Diagnostics {
    let located = |mistake: Diagnostic| match mistake.span {
        Some(_) => mistake,
        None => Diagnostic { source: Source::Options, span: options.span_of(key), ..mistake }
            .place(format!("option `{key}`")),
    };
    Diagnostics(mistakes.into_iter().map(located).collect())
}

fn only_statement(statements: &[notation::Statement]) -> Result<&notation::Statement, Diagnostics> {
    match statements {
        [statement] => Ok(statement),
        several => {
            let message = format!("there are {} statements, one is supported", several.len());
            let mistake = Diagnostic::new(Code::StatementUnsupported, message);
            let second = several.get(1).map(|statement| statement.target.tensor.span);
            let span = second.unwrap_or(Span::new(0, 0));
            let mistake = mistake.at(span).place("statement 1");
            Err(mistake.help("write each statement as a spec of its own").into())
        }
    }
}

/// The modes in order of first appearance in the factors.
fn modes(statement: &notation::Statement, options: &Options) -> Vec<Mode> {
    let mut modes: Vec<Mode> = Vec::new();
    for label in statement.factors.iter().flat_map(|factor| &factor.labels) {
        if modes.iter().any(|mode| mode.name == label.name) {
            continue;
        }
        let fixed = options.extents.get(&label.name);
        let extent = fixed.map_or(Extent::Runtime, |extent| Extent::Fixed(*extent));
        let part = Part { label: label.name.clone(), extent };
        modes.push(Mode { name: label.name.clone(), extent, parts: vec![part] });
    }
    modes
}

fn known_extents(modes: &[Mode], options: &Options) -> Result<(), Diagnostics> {
    let unknown =
        options.extents.keys().filter(|label| !modes.iter().any(|mode| mode.name == **label));
    let mistakes: Vec<Diagnostic> = unknown
        .map(|label| {
            let message = format!("`extents` names label `{label}`, which no operand has");
            let mistake = Diagnostic::option(Code::BadOption, message);
            let span = options.span_of(&format!("extents.{label}"));
            let mistake = Diagnostic { span, ..mistake }.place("option `extents`");
            let other_case = modes.iter().find(|mode| mode.name.eq_ignore_ascii_case(label));
            mistake.help(match other_case {
                Some(Mode { name, .. }) => {
                    format!("labels are case-sensitive: write `{name}` for `{label}`")
                }
                None => format!("remove `{label}` from `extents`"),
            })
        })
        .collect();
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}

/// The parser has checked that every label of the output and of the sum is in a factor; a
/// notation made by hand may lack it.
fn mode_ids(labels: &[Label], modes: &[Mode]) -> Result<Vec<ModeId>, Diagnostics> {
    let mode_id = |label: &Label| {
        let found = modes.iter().position(|mode| mode.name == label.name);
        found.map(ModeId).ok_or_else(|| {
            let message = format!("label `{}` is in no operand", label.name);
            Diagnostic::new(Code::UnknownOutputLabel, message).at(label.span)
        })
    };
    Ok(labels.iter().map(mode_id).collect::<Result<_, _>>()?)
}

/// The position of the input that `read` names; the first access makes it. A later access under
/// other modes says that those have the same extents.
fn input(read: Tensor, tensors: &mut Vec<Tensor>, same_extents: &mut Vec<SameExtent>) -> TensorId {
    let Some(position) = tensors.iter().position(|tensor| tensor.name == read.name) else {
        tensors.push(read);
        return TensorId(tensors.len() - 1);
    };
    for (dim, (&first, &other)) in tensors[position].dims.iter().zip(&read.dims).enumerate() {
        let same = SameExtent { tensor: TensorId(position), dim, first, other };
        if first != other && !same_extents.contains(&same) {
            same_extents.push(same);
        }
    }
    TensorId(position)
}

fn fixed_extents_agree(program: &Program) -> Result<(), Diagnostics> {
    let mistakes = unequal_extents(program, |mode| match program.mode(mode).extent {
        Extent::Fixed(extent) => Some(u64::from(extent)),
        Extent::Runtime => None,
    });
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}
