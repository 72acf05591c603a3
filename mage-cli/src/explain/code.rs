//! `mage explain --code M0032`: a diagnostic's number, name, summary and explanation.

use mage_einsum::diagnostic::Code;
use serde_json::json;

use crate::refusal::Refusal;
use crate::table;

/// Explains the code called `asked` by its number or its name.
pub fn explained(asked: &str, is_json: bool) -> Result<String, Refusal> {
    let Some(code) = Code::ALL.iter().find(|code| is_called(**code, asked)) else {
        let row = |code: &Code| format!("\n  {} {}", code.number(), code.name());
        let known: String = Code::ALL.iter().map(row).collect();
        let message = format!("there is no diagnostic `{asked}`");
        return Err(Refusal::helped(message, format!("the codes are:{known}")));
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

/// Whether `asked` is the code's number, with or without its zeros, or its name in any manner of
/// writing.
fn is_called(code: Code, asked: &str) -> bool {
    let letters: String = asked.chars().filter(char::is_ascii_alphanumeric).collect();
    let digits = letters.trim_start_matches(['M', 'm']);
    let number = |text: &str| text.parse::<u32>().ok();
    letters.eq_ignore_ascii_case(code.name())
        || number(digits).is_some_and(|asked| number(&code.number()[1..]) == Some(asked))
}
