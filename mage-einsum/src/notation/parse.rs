//! Text to [`Notation`]: which form it is, then that form's parser. The whole text is consumed
//! (rule R2).

use super::{Form, Notation, classic, mend, statement};
use crate::diagnostic::Diagnostics;

/// Reads a notation of either form.
///
/// # Errors
/// All mistakes of the first step that finds one: characters, then structure, then labels.
pub fn parse(text: &str) -> Result<Notation, Diagnostics> {
    read(text).map_err(|mistakes| mend::with_mend(text, mistakes, read))
}

/// Every access of the index form has brackets, so a text with a `[` is in the index form and any
/// other text is classic. A text with `(` and `=` is in neither, and is meant for the index form.
fn read(text: &str) -> Result<Notation, Diagnostics> {
    let form = if text.contains('[') || text.contains('(') && text.contains('=') {
        Form::Index(statement::parse(text)?)
    } else {
        Form::Classic(classic::parse(text)?)
    };
    Ok(Notation { text: text.to_owned(), form })
}
