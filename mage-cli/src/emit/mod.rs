//! `mage emit`: the source of level 5 on the standard output, into a file, or compared with one.

mod write;
mod stale;

use mage_codegen::pipeline::Levels;

use crate::Answer;
use crate::args::EmitArgs;
use crate::refusal::Refusal;
use crate::request::Request;

/// Answers `mage emit`.
pub fn answer(asked: &EmitArgs) -> Result<Answer, Refusal> {
    if let (Some(_), Some(notation)) = (&asked.spec.spec, &asked.spec.notation) {
        return Err(Refusal::beside_file(notation));
    }
    let Levels { source, .. } = Request::of(&asked.spec, &[])?.compile()?;
    if let Some(path) = &asked.output {
        write::whole(path, &source).map_err(|why| Refusal::file(path, "written", why))?;
        return Ok(Answer { text: String::new(), holds: true });
    }
    let Some(path) = &asked.check else {
        return Ok(Answer { text: source, holds: true });
    };
    let kept = std::fs::read_to_string(path).map_err(|why| Refusal::file(path, "read", why))?;
    let shown = path.display();
    Ok(match stale::difference(&kept, &source) {
        None => Answer { text: format!("{shown} is up to date\n"), holds: true },
        Some(why) => Answer { text: format!("{shown} is stale: {why}\n"), holds: false },
    })
}
