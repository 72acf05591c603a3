//! Notation to [`Program`]: labels become modes with extents, names become tensors, and every mode
//! gets its role. No `char` goes further than this file.

use super::lowering::Lowering;
use super::outputs::outputs;
use super::ranks::ranks_fit;
use super::tied::unequal_extents;
use super::{Extent, Mode, Program};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Source};
use crate::notation::{self, Form, Notation};
use crate::options::{Epilogue, Options};

/// Gives `notation` its meaning under `options`.
///
/// # Errors
/// The mistakes of an ellipsis and of `ranks` that do not fit, `StatementOrder` for a result that
/// nothing reads, `BadOption` for an output that nothing writes or an extent of an unknown label, `ExtentMismatch` where fixed
/// extents of one dimension differ.
pub fn lower(notation: &Notation, options: &Options) -> Result<Program, Diagnostics> {
    let statements = match &notation.form {
        Form::Classic(classic) => {
            // Ranks are those of the terms, then those of an epilogue's operands.
            let ranks = options.ranks.as_deref();
            let of_terms = ranks.map(|ranks| ranks.get(..classic.operands.len()).unwrap_or(ranks));
            let spelled_out = notation::spelled_out(classic, of_terms);
            let spelled_out = spelled_out.map_err(|mistakes| at_option(mistakes, options, "ranks"));
            let statement = notation::desugar(&spelled_out?);
            match &options.epilogue {
                None => vec![statement],
                Some(epilogue) => with_epilogue(statement, epilogue)
                    .map_err(|mistake| mistake.place("option `epilogue`"))?,
            }
        }
        Form::Index(_) if options.epilogue.is_some() => {
            let message = "an epilogue is for the classic notation".to_owned();
            let mistake = Diagnostic::option(Code::BadOption, message);
            let span = options.span_of("epilogue");
            let mistake = Diagnostic { span, ..mistake }.place("option `epilogue`");
            return Err(mistake
                .help("write it as a statement, as in `Y[i,j] = relu(C[i,j])`")
                .into());
        }
        Form::Index(statements) => statements.clone(),
    };
    let outputs = outputs(&statements, options)?;
    let lowering = Lowering::new(&statements, options, &outputs);
    let program = lowering.program(&notation.text)?;
    known_extents(&program.modes, options)?;
    if let Some(ranks) = &options.ranks {
        ranks_fit(&program, ranks).map_err(|mistakes| at_option(mistakes, options, "ranks"))?;
    }
    fixed_extents_agree(&program).map_err(|mistakes| at_option(mistakes, options, "extents"))?;
    Ok(program)
}

/// The statement with a result of another name, and the one that makes the output of it.
fn with_epilogue(
    statement: notation::Statement,
    epilogue: &Epilogue,
) -> Result<Vec<notation::Statement>, Diagnostic> {
    let notation::Statement { target: output, value } = statement;
    let refused = |message: String, at: &notation::Label, help: String| {
        Err(Diagnostic::option(Code::BadOption, message).at(at.span).help(help))
    };
    let names = epilogue.operands.iter().map(|(operand, _)| operand).chain([&epilogue.result]);
    let taken = value.accesses().into_iter().chain([&output]).map(|access| &access.tensor.name);
    let taken: Vec<&String> = taken.collect();
    if let Some(name) = names.into_iter().find(|name| taken.contains(&&name.name)) {
        let message = format!("`{}` is the name of an operand of the notation", name.name);
        return refused(message, name, "give it another name in the epilogue".to_owned());
    }
    for (operand, labels) in &epilogue.operands {
        let is_known = |label: &&notation::Label| output.labels().any(|o| o.name == label.name);
        if let Some(label) = labels.iter().find(|label| !is_known(label)) {
            let message = format!(
                "operand `{}` of the epilogue has label `{}`, which the output lacks",
                operand.name, label.name
            );
            return refused(message, label, "give it labels of the output".to_owned());
        }
    }
    let mut made = epilogue.value.clone();
    made.relabel(&epilogue.result.name, &output.indices);
    if !made.accesses().iter().any(|access| access.tensor.name == epilogue.result.name) {
        let message = format!("the epilogue does not use its result `{}`", epilogue.result.name);
        return refused(
            message,
            &epilogue.result,
            "use it, or write a notation without a sum".to_owned(),
        );
    }
    let result = notation::Access { tensor: epilogue.result.clone(), ..output.clone() };
    Ok(vec![
        notation::Statement { target: result, value },
        notation::Statement { target: output, value: made },
    ])
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

fn fixed_extents_agree(program: &Program) -> Result<(), Diagnostics> {
    let mistakes = unequal_extents(program, |mode| match program.mode(mode).extent {
        Extent::Fixed(extent) => Some(u64::from(extent)),
        Extent::Runtime => None,
    });
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}
