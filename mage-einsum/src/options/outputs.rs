//! The option `outputs`: the tensors that are returned. That statements write them is checked where
//! the notation is lowered.

use super::Options;
use super::parse::at;
use super::raw::{Value, ValueKind};
use crate::diagnostic::{Code, Diagnostic, Span};

/// Reads `(Y, m, r)`; one name needs no parentheses.
pub(super) fn set(options: &mut Options, value: &Value<'_>) -> Result<(), Diagnostic> {
    let words = match &value.kind {
        ValueKind::List(values) => values.as_slice(),
        ValueKind::Word(_) => std::slice::from_ref(value),
        ValueKind::Number(_) | ValueKind::Group(_) | ValueKind::Closure(_) => {
            return Err(no_names(value.span));
        }
    };
    let mut names: Vec<String> = Vec::new();
    for word in words {
        let ValueKind::Word(name) = word.kind else { return Err(no_names(word.span)) };
        if names.iter().any(|known| known == name) {
            let message = format!("output `{name}` is named twice");
            return Err(at(Code::BadOption, message, word.span).help("name each output once"));
        }
        options.spans.insert(format!("outputs.{name}"), word.span);
        names.push(name.to_owned());
    }
    options.outputs = Some(names);
    Ok(())
}

fn no_names(span: Span) -> Diagnostic {
    at(Code::BadOption, "the outputs are not names of tensors".to_owned(), span)
        .help("write the tensors that are returned, as in `outputs = (Y, m)`")
}

/// What a later statement reads of an output that is added to, the sum or the result alone, would
/// have to be said; so `accumulate` is for one output.
pub(super) fn several_added_to(options: &Options) -> Option<Diagnostic> {
    let n_outputs = options.outputs.as_ref().map_or(1, Vec::len);
    if !options.accumulate || n_outputs == 1 {
        return None;
    }
    let message = format!("`accumulate = true` is for one output, but `outputs` names {n_outputs}");
    let span = options.span_of("accumulate").unwrap_or(Span::new(0, 0));
    let help = "leave `accumulate` out, and add the results where they are used";
    Some(at(Code::BadOption, message, span).help(help).place("option `accumulate`"))
}
