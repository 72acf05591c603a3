//! `mage explain`: how the notation becomes a tiled kernel, what that costs, and why it is so. It
//! gathers the facts of every level in [`report`]; `text` and `json` say them.

mod cost;
mod mapping;
mod residency;
mod sample;
mod code;
mod report;
mod text;
mod json;

use mage_codegen::pipeline::Levels;
use mage_codegen::{kernel, schedule};
use mage_einsum::binding::Extents;
use mage_einsum::index::{self, Extent};
use mage_einsum::notation;

use crate::Answer;
use crate::args::{ExplainArgs, Level};
use crate::refusal::Refusal;
use crate::request::Request;
use crate::table;

/// Answers `mage explain`.
pub fn answer(asked: &ExplainArgs) -> Result<Answer, Refusal> {
    if let Some(code) = &asked.code {
        let text = code::explained(code, asked.json)?;
        return Ok(Answer { text, holds: true });
    }
    let request = Request::of(&asked.spec, &asked.run)?;
    let levels = request.compile()?;
    let extents = bound(&request, &levels)?;
    let text = match asked.level {
        Some(level) => self::level(&levels, level),
        None => {
            let report = report::of(&request, &levels, extents.as_ref());
            if asked.json { json::print(&report) } else { text::print(&report) }
        }
    };
    Ok(Answer { text, holds: true })
}

/// The first extents that are given; none where labels are open and no extents are given.
fn bound(request: &Request, levels: &Levels) -> Result<Option<Extents>, Refusal> {
    let open = levels.module.labels.iter().any(|label| label.extent == Extent::Runtime);
    match request.runs.first() {
        Some(run) => request.bind(levels, run).map(Some),
        None if open => Ok(None),
        None => request.bind(levels, &[]).map(Some),
    }
}

/// One level as its snapshot has it.
fn level(levels: &Levels, level: Level) -> String {
    table::ended(match level {
        Level::Notation => notation::print(&levels.notation),
        Level::Index => index::print(&levels.program),
        Level::Schedule => schedule::print(&levels.schedule),
        Level::Kernel => kernel::print(&levels.module),
        Level::Source => levels.source.clone(),
    })
}
