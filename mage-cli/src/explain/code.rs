//! `mage explain --code M0032`: a diagnostic's number, name, summary and explanation.

use mage_einsum::diagnostic::Code;
use serde_json::json;

use crate::refusal::Refusal;
use crate::table;

/// Explains the code called `asked` by its number or its name.
pub fn explained(asked: &str, is_json: bool) -> Result<String, Refusal> {
    let is_asked = |code: &&Code| {
        asked.eq_ignore_ascii_case(code.number()) || asked.eq_ignore_ascii_case(code.name())
    };
    let Some(code) = Code::ALL.iter().find(is_asked) else {
        let known: Vec<&str> = Code::ALL.iter().map(|code| code.number()).collect();
        let message = format!("there is no diagnostic `{asked}`");
        return Err(Refusal::helped(message, format!("the codes are: {}", known.join(", "))));
    };
    let (number, name, summary) = (code.number(), code.name(), code.summary());
    let explanation = code.explanation();
    if is_json {
        let value = json!({
            "code": number, "name": name, "summary": summary, "explanation": explanation,
        });
        return Ok(table::ended(format!("{value:#}")));
    }
    Ok(format!("{number} {name}\n{summary}\n\n{explanation}"))
}
