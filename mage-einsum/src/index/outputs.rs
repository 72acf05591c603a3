//! Which results of a notation are its outputs, in the order of `launch`: those that the option
//! `outputs` names, or that of the last statement. Whatever else is written must be read.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::notation::{self, Statement};
use crate::options::Options;

/// The names of the outputs.
///
/// # Errors
/// `BadOption` for a name that no statement writes; `StatementOrder` for a result that is neither
/// read nor named.
pub(super) fn outputs(
    statements: &[Statement],
    options: &Options,
) -> Result<Vec<String>, Diagnostics> {
    let last = || statements.last().map(|last| last.target.tensor.name.clone());
    let outputs = options.outputs.clone().unwrap_or_else(|| last().into_iter().collect());
    let is_written =
        |name: &&String| statements.iter().any(|statement| statement.target.tensor.name == **name);
    let unwritten = outputs.iter().filter(|name| !is_written(name));
    all_or(unwritten.map(|name| not_written(name, statements, options)).collect())?;
    let unread = notation::unread(statements, &outputs).into_iter();
    all_or(unread.map(|target| not_read(target, options)).collect())?;
    Ok(outputs)
}

fn all_or(mistakes: Vec<Diagnostic>) -> Result<(), Diagnostics> {
    if mistakes.is_empty() { Ok(()) } else { Err(Diagnostics(mistakes)) }
}

fn not_written(name: &str, statements: &[Statement], options: &Options) -> Diagnostic {
    let targets: Vec<&str> =
        statements.iter().map(|statement| statement.target.tensor.name.as_str()).collect();
    let message = if notation::is_read(statements, name) {
        format!("`outputs` names `{name}`, which is an operand: no statement writes it")
    } else {
        format!("`outputs` names `{name}`, which no statement writes")
    };
    let help = match targets.iter().find(|target| target.eq_ignore_ascii_case(name)) {
        Some(target) => format!("names are case-sensitive: write `{target}` for `{name}`"),
        None => format!("name what statements write: `{}`", targets.join("`, `")),
    };
    let span = options.span_of(&format!("outputs.{name}"));
    let mistake = Diagnostic::option(Code::BadOption, message).help(help);
    Diagnostic { span, ..mistake }.place("option `outputs`")
}

fn not_read(target: &notation::Label, options: &Options) -> Diagnostic {
    let message = format!("tensor `{}` is written but never read", target.name);
    let help = "read it in a later statement, name it in `outputs`, or leave its statement out";
    let help = match &options.outputs {
        Some(_) => help.to_owned(),
        None => format!("{help}; the last is the output"),
    };
    let mistake = Diagnostic::new(Code::StatementOrder, message).at(target.span);
    mistake.place(format!("tensor `{}`", target.name)).help(help)
}
