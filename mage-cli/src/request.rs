//! From arguments to a specification: the notation, the option text for Mage's one option parser,
//! and the extents to run at. After it comes the compiler.

use std::collections::BTreeMap;
use std::path::Path;

use mage_codegen::pipeline::{self, Levels};
use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::Diagnostics;
use mage_einsum::spec::{self, Spec};

use crate::args::SpecArgs;
use crate::refusal::{Refusal, Texts};

/// A label and its extent, as given.
pub type Pair = (String, u64);

/// What was asked about.
#[derive(Debug)]
pub struct Request {
    /// The specification.
    pub spec: Spec,
    /// The extents of each run that was asked for; none where no extents were given.
    pub runs: Vec<Vec<Pair>>,
}

impl Request {
    /// Reads the arguments, and the spec file where one is named.
    ///
    /// The words after the notation are extents. With a spec file the first word is one too.
    pub fn of(asked: &SpecArgs, run: &[String]) -> Result<Request, Refusal> {
        match (&asked.spec, &asked.notation) {
            (Some(_), Some(notation)) if !notation.contains('=') || notation.contains("->") => {
                Err(Refusal::beside_file(notation))
            }
            (Some(path), first) => {
                let words: Vec<String> = first.iter().chain(run).cloned().collect();
                Request::of_file(path, &words, asked)
            }
            (None, Some(notation)) => Request::of_words(notation, run, asked),
            (None, None) => {
                let help = "write one, as in `\"ik,kj->ij\" --tile 64`, or name a file by --spec";
                Err(Refusal::helped("the notation is missing", help))
            }
        }
    }

    fn of_words(notation: &str, run: &[String], asked: &SpecArgs) -> Result<Request, Refusal> {
        let given = extents(run)?;
        let spec = parsed(unguarded(notation), &option_text(asked))?;
        let runs = if given.is_empty() { Vec::new() } else { vec![given] };
        Ok(Request { spec, runs })
    }

    fn of_file(path: &Path, words: &[String], asked: &SpecArgs) -> Result<Request, Refusal> {
        let given = extents(words)?;
        let text = std::fs::read_to_string(path).map_err(|why| Refusal::file(path, "read", why))?;
        let file =
            spec::parse_file(&text).map_err(|mistakes| file_refused(path, &text, mistakes))?;
        let own = file.spec.options_text.trim().trim_end_matches(',').to_string();
        let entries: Vec<String> =
            [own, option_text(asked)].into_iter().filter(|entry| !entry.is_empty()).collect();
        let spec = parsed(&file.spec.notation_text, &entries.join(", "))?;
        let pairs = |run: BTreeMap<String, u64>| run.into_iter().collect();
        let runs =
            if given.is_empty() { file.runs.into_iter().map(pairs).collect() } else { vec![given] };
        Ok(Request { spec, runs })
    }

    /// The texts that diagnostics point into.
    pub fn texts(&self) -> Texts<'_> {
        Texts { notation: &self.spec.notation_text, options: &self.spec.options_text }
    }

    /// Every level of the specification.
    pub fn compile(&self) -> Result<Levels, Refusal> {
        pipeline::compile(&self.spec).map_err(|error| Refusal::compiler(&error, self.texts()))
    }

    /// Binds one run's extents to the labels.
    pub fn bind(&self, levels: &Levels, run: &[Pair]) -> Result<Extents, Refusal> {
        Extents::from_pairs(&levels.program, run)
            .map_err(|mistakes| Refusal::mistakes(&mistakes, self.texts()))
    }
}

/// The options as one text in the form of the macro and of spec files.
fn option_text(asked: &SpecArgs) -> String {
    let grouped = |text: &String| {
        if text.trim_start().starts_with('(') { text.clone() } else { format!("({text})") }
    };
    let path = |text: &String| {
        if text.trim_start().starts_with("((") { text.clone() } else { format!("({text})") }
    };
    let tile = asked
        .tile
        .as_ref()
        .map(|tile| if tile.contains(',') { grouped(tile) } else { tile.clone() });
    let entries = [
        ("tile", tile),
        ("name", asked.name.clone()),
        ("extents", asked.extents.as_ref().map(grouped)),
        ("dtype", asked.dtype.clone()),
        ("out", asked.out.clone()),
        ("precision", asked.precision.clone()),
        ("accumulate", asked.accumulate.then(|| "true".to_string())),
        ("device", asked.device.clone()),
        ("strides", asked.strides.clone()),
        ("ranks", asked.ranks.as_ref().map(grouped)),
        ("path", asked.path.as_ref().map(path)),
        ("outputs", asked.outputs.as_ref().map(grouped)),
        ("epilogue", asked.epilogue.clone()),
    ];
    let given = entries.into_iter().filter_map(|(key, value)| Some((key, value?)));
    given.map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ")
}

/// Reads both texts and reports the mistakes of both together.
fn parsed(notation_text: &str, options_text: &str) -> Result<Spec, Refusal> {
    Spec::from_texts(notation_text, options_text).map_err(|mistakes| {
        Refusal::mistakes(&mistakes, Texts { notation: notation_text, options: options_text })
    })
}

/// Reads the words of the command line that are extents.
fn extents(words: &[String]) -> Result<Vec<Pair>, Refusal> {
    let line = words.join(" ");
    let run = spec::parse_run(&line);
    let run = run
        .map_err(|mistakes| Refusal::mistakes(&mistakes, Texts { notation: "", options: &line }))?;
    Ok(run.into_iter().collect())
}

/// The places of a spec file's mistakes are told with the file's name.
fn file_refused(path: &Path, text: &str, Diagnostics(mistakes): Diagnostics) -> Refusal {
    let mistakes = mistakes.into_iter().map(|mistake| {
        let place = mistake.place.as_deref().unwrap_or("the notation");
        let place = format!("{}: {place}", path.display());
        mistake.place(place)
    });
    let mistakes = Diagnostics(mistakes.collect());
    let invocation =
        spec::split_file(text).and_then(|file| spec::split_invocation(&file.invocation)).ok();
    let texts = invocation.as_ref().map_or(Texts::default(), |invocation| Texts {
        notation: &invocation.notation_text,
        options: &invocation.options_text,
    });
    Refusal::mistakes(&mistakes, texts)
}

/// Takes the space away that [`crate::args::guarded`] put before an arrow.
fn unguarded(notation: &str) -> &str {
    match notation.strip_prefix(' ') {
        Some(arrow) if arrow.starts_with("->") => arrow,
        Some(_) | None => notation,
    }
}
