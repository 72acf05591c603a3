//! The meaning of each option: which value it takes, in which range.

use std::num::NonZeroU32;

use super::raw::{self, Entry, Value, ValueKind};
use super::{Epilogue, Options, Tile, outputs};
use crate::diagnostic::{Code, Diagnostic, Diagnostics, Span};
use crate::dtype::Dtype;
use crate::index::Layout;
use crate::precision::Precision;

const KEYS: [&str; 13] = [
    "tile",
    "name",
    "extents",
    "device",
    "dtype",
    "out",
    "precision",
    "accumulate",
    "strides",
    "ranks",
    "path",
    "outputs",
    "epilogue",
];

/// Words that Rust keeps for itself, strict and reserved, edition 2024 (The Rust Reference,
/// Keywords).
const KEYWORDS: [&str; 52] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_",
];

/// Reads an option text such as `tile = 64, extents = (k = 64)`; a trailing comma is allowed.
///
/// # Errors
/// `Expected` or `BadChar` for the first slip in the grammar; else every value that is wrong.
pub fn parse(text: &str) -> Result<Options, Diagnostics> {
    let entries = raw::parse(text)?;
    let mut options = Options::default();
    let mut mistakes = Vec::new();
    for (position, entry) in entries.iter().enumerate() {
        let is_doubled = entries[..position].iter().any(|earlier| earlier.key == entry.key);
        let outcome = if is_doubled { Err(doubled(entry)) } else { set(&mut options, entry) };
        match outcome {
            Ok(()) => {
                options.spans.insert(entry.key.to_owned(), entry.value.span);
            }
            Err(mistake) => mistakes.push(placed(mistake, entry)),
        }
    }
    mistakes.extend(out_of_another_kind(&options));
    mistakes.extend(precision_of_another_kind(&options));
    mistakes.extend(outputs::several_added_to(&options));
    if mistakes.is_empty() { Ok(options) } else { Err(Diagnostics(mistakes)) }
}

fn set(options: &mut Options, entry: &Entry<'_>) -> Result<(), Diagnostic> {
    let value = &entry.value;
    match entry.key {
        "tile" => options.tile = Some(tile(value)?),
        "name" => options.name = Some(name(value)?),
        "extents" => extents(options, value)?,
        "device" => options.device = Some(device(value)?),
        "dtype" => options.dtype = dtype(entry.key, value)?,
        "out" => options.out = Some(dtype(entry.key, value)?),
        "precision" => options.precision = precision(value)?,
        "accumulate" => options.accumulate = truth(entry.key, value)?,
        "strides" => options.strides = strides(value)?,
        "ranks" => options.ranks = Some(ranks(value)?),
        "path" => options.path = Some(path(value)?),
        "outputs" => outputs::set(options, value)?,
        "epilogue" => options.epilogue = Some(epilogue(value)?),
        unknown => return Err(unknown_option(unknown, entry.key_span)),
    }
    Ok(())
}

/// A mistake at a place of the option text.
pub(super) fn at(code: Code, message: String, span: Span) -> Diagnostic {
    Diagnostic::option(code, message).at(span)
}

/// Tells the place in words: the option, and where in the option text.
fn placed(mistake: Diagnostic, entry: &Entry<'_>) -> Diagnostic {
    let start = mistake.span.map_or(entry.key_span.start, |span| span.start);
    mistake.place(format!("option `{}`, byte {start} of the options", entry.key))
}

fn doubled(entry: &Entry<'_>) -> Diagnostic {
    let message = format!("option `{}` is given twice", entry.key);
    at(Code::BadOption, message, entry.key_span).help("keep one of them")
}

fn tile(value: &Value<'_>) -> Result<Tile, Diagnostic> {
    match &value.kind {
        ValueKind::Number(digits) => Ok(Tile::Square(tile_extent(digits, value.span)?)),
        ValueKind::List(values) => triple(values, value.span),
        ValueKind::Word(_) | ValueKind::Group(_) | ValueKind::Closure(_) => {
            Err(tile_form(value.span))
        }
    }
}

fn triple(values: &[Value<'_>], span: Span) -> Result<Tile, Diagnostic> {
    let mut extents = Vec::new();
    for value in values {
        match value.kind {
            ValueKind::Number(digits) => extents.push(tile_extent(digits, value.span)?),
            ValueKind::Word(_)
            | ValueKind::List(_)
            | ValueKind::Group(_)
            | ValueKind::Closure(_) => {
                return Err(tile_form(value.span));
            }
        }
    }
    match extents.as_slice() {
        &[m, n, k] => Ok(Tile::Triple { m, n, k }),
        &[] | &[_] | &[_, _] | &[_, _, _, ..] => Err(tile_form(span)),
    }
}

fn tile_form(span: Span) -> Diagnostic {
    at(Code::BadTile, "the tile is neither one extent nor three".to_owned(), span)
        .help("write `tile = 64` or `tile = (m, n, k)`, as in `tile = (64, 64, 16)`")
}

fn tile_extent(digits: &str, span: Span) -> Result<NonZeroU32, Diagnostic> {
    digits.parse::<NonZeroU32>().map_err(|_| {
        let message = format!("a tile extent is {digits} but must be from 1 to 4294967295");
        at(Code::BadTile, message, span).help("write a tile extent such as 64")
    })
}

fn name(value: &Value<'_>) -> Result<String, Diagnostic> {
    let is_snake =
        |word: &str| word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    match value.kind {
        ValueKind::Word(word) if is_snake(word) && !KEYWORDS.contains(&word) => Ok(word.to_owned()),
        ValueKind::Word(word) if KEYWORDS.contains(&word) => {
            let message = format!("the name `{word}` is reserved by Rust");
            Err(at(Code::BadOption, message, value.span).help("choose another name"))
        }
        ValueKind::Word(_)
        | ValueKind::Number(_)
        | ValueKind::List(_)
        | ValueKind::Group(_)
        | ValueKind::Closure(_) => {
            let message = "the name is not a snake-case Rust identifier".to_owned();
            let help = "use lower-case letters, digits and `_`, as in `name = matmul`";
            Err(at(Code::BadOption, message, value.span).help(help))
        }
    }
}

fn extents(options: &mut Options, value: &Value<'_>) -> Result<(), Diagnostic> {
    let ValueKind::Group(entries) = &value.kind else {
        return Err(extents_form(value.span));
    };
    for entry in entries {
        let label = entry.key;
        let ValueKind::Number(digits) = entry.value.kind else {
            let message = format!("the extent of label `{label}` is not a number");
            let help = format!("write a number, as in `{label} = 64`");
            return Err(at(Code::BadOption, message, entry.value.span).help(help));
        };
        let Ok(extent) = digits.parse::<u32>() else {
            let message = format!("label `{label}` is {digits}, the limit is below 2^32");
            let mistake = at(Code::SizeOverflow, message, entry.value.span);
            return Err(mistake.help("give an extent up to 4294967295"));
        };
        if options.extents.insert(label.to_owned(), extent).is_some() {
            let message = format!("the extent of label `{label}` is given twice");
            return Err(at(Code::BadOption, message, entry.key_span).help("keep one of them"));
        }
        options.spans.insert(format!("extents.{label}"), entry.key_span);
    }
    Ok(())
}

fn extents_form(span: Span) -> Diagnostic {
    at(Code::BadOption, "extents are not numbers by label".to_owned(), span)
        .help("write `extents = (k = 64, c = 128)`")
}

fn device(value: &Value<'_>) -> Result<String, Diagnostic> {
    match value.kind {
        ValueKind::Word(word) => Ok(word.to_owned()),
        ValueKind::Number(_) | ValueKind::List(_) | ValueKind::Group(_) | ValueKind::Closure(_) => {
            let message = "the device is not a name".to_owned();
            Err(at(Code::BadOption, message, value.span).help("write `device = rtx4090`"))
        }
    }
}

fn dtype(key: &str, value: &Value<'_>) -> Result<Dtype, Diagnostic> {
    let help = format!("the element types are: {}", Dtype::ALL.map(Dtype::name).join(", "));
    match value.kind {
        ValueKind::Word(word) => Dtype::from_name(word).ok_or_else(|| {
            let message = format!("element type `{word}` has no kernels");
            at(Code::DtypeUnsupported, message, value.span).help(help)
        }),
        ValueKind::Number(_) | ValueKind::List(_) | ValueKind::Group(_) | ValueKind::Closure(_) => {
            let message = format!("the value of `{key}` is not an element type");
            Err(at(Code::BadOption, message, value.span).help(help))
        }
    }
}

/// The output has the type of the operands or that of their sums (rule R14).
fn out_of_another_kind(options: &Options) -> Option<Diagnostic> {
    let (dtype, out) = (options.dtype, options.out?);
    let sums = dtype.accumulator();
    if out == dtype || out == sums {
        return None;
    }
    let message = format!("operands of {dtype} are summed in {sums}, but the output is {out}");
    let help = match sums == dtype {
        true => format!("leave `out` out: the output is {dtype}"),
        false => format!("write `out = {sums}`, or leave it out for {dtype}"),
    };
    let span = options.span_of("out").unwrap_or(Span::new(0, 0));
    Some(at(Code::DtypeUnsupported, message, span).help(help))
}

fn precision(value: &Value<'_>) -> Result<Precision, Diagnostic> {
    match value.kind {
        ValueKind::Word("full") => Ok(Precision::Full),
        ValueKind::Word("tf32") => Ok(Precision::Tf32),
        ValueKind::Word(_)
        | ValueKind::Number(_)
        | ValueKind::List(_)
        | ValueKind::Group(_)
        | ValueKind::Closure(_) => {
            let message = "the precision is neither full nor tf32".to_owned();
            let help = "write `precision = tf32`, or leave the option out";
            Err(at(Code::BadOption, message, value.span).help(help))
        }
    }
}

/// TF32 is what f32 is rounded to; narrower operands have no more bits, and f64 keeps its own.
fn precision_of_another_kind(options: &Options) -> Option<Diagnostic> {
    if options.precision == Precision::Full || options.dtype == Dtype::F32 {
        return None;
    }
    let message = format!("operands of {} are never rounded to tf32", options.dtype);
    let span = options.span_of("precision").unwrap_or(Span::new(0, 0));
    let help = "leave `precision` out, or give operands of f32";
    Some(at(Code::BadOption, message, span).help(help).place("option `precision`"))
}

fn truth(key: &str, value: &Value<'_>) -> Result<bool, Diagnostic> {
    match value.kind {
        ValueKind::Word("true") => Ok(true),
        ValueKind::Word("false") => Ok(false),
        ValueKind::Word(_)
        | ValueKind::Number(_)
        | ValueKind::List(_)
        | ValueKind::Group(_)
        | ValueKind::Closure(_) => {
            let message = format!("the value of `{key}` is neither true nor false");
            Err(at(Code::BadOption, message, value.span).help(format!("write `{key} = true`")))
        }
    }
}

fn strides(value: &Value<'_>) -> Result<Layout, Diagnostic> {
    match value.kind {
        ValueKind::Word("contiguous") => Ok(Layout::RowMajor),
        ValueKind::Word("runtime") => Ok(Layout::Strided),
        ValueKind::Word(_)
        | ValueKind::Number(_)
        | ValueKind::List(_)
        | ValueKind::Group(_)
        | ValueKind::Closure(_) => {
            let message = "the strides are neither contiguous nor given at run time".to_owned();
            let help = "write `strides = runtime`, or leave the option out";
            Err(at(Code::BadOption, message, value.span).help(help))
        }
    }
}

fn ranks(value: &Value<'_>) -> Result<Vec<usize>, Diagnostic> {
    match &value.kind {
        ValueKind::List(ranks) => ranks.iter().map(rank).collect(),
        ValueKind::Number(_) => Ok(vec![rank(value)?]),
        ValueKind::Word(_) | ValueKind::Group(_) | ValueKind::Closure(_) => {
            Err(ranks_form(value.span))
        }
    }
}

fn rank(value: &Value<'_>) -> Result<usize, Diagnostic> {
    position(value).ok_or_else(|| match value.kind {
        ValueKind::Number(digits) => {
            let message = format!("a rank is {digits} but must be from 0 to {}", u8::MAX);
            at(Code::BadOption, message, value.span).help("give the operand's number of dimensions")
        }
        ValueKind::Word(_) | ValueKind::List(_) | ValueKind::Group(_) | ValueKind::Closure(_) => {
            ranks_form(value.span)
        }
    })
}

fn ranks_form(span: Span) -> Diagnostic {
    at(Code::BadOption, "ranks are not one number an operand".to_owned(), span)
        .help("write one rank an operand, as in `ranks = (3, 4)`")
}

/// `((0, 1), (0, 1))`; `()` for one operand, which has no step.
fn path(value: &Value<'_>) -> Result<Vec<(usize, usize)>, Diagnostic> {
    let refused = |span| {
        at(Code::BadOption, "the path is not a list of pairs".to_owned(), span)
            .help("write the two positions of each step, as in `path = ((0, 1), (0, 1))`")
    };
    let step = |step: &Value<'_>| match &step.kind {
        ValueKind::List(pair) => match pair.as_slice() {
            [left, right] => position(left).zip(position(right)).ok_or_else(|| refused(step.span)),
            [] | [_] | [_, _, _, ..] => Err(refused(step.span)),
        },
        ValueKind::Word(_) | ValueKind::Number(_) | ValueKind::Group(_) | ValueKind::Closure(_) => {
            Err(refused(step.span))
        }
    };
    match &value.kind {
        ValueKind::List(steps) => steps.iter().map(step).collect(),
        ValueKind::Group(entries) if entries.is_empty() => Ok(Vec::new()),
        ValueKind::Word(_) | ValueKind::Number(_) | ValueKind::Group(_) | ValueKind::Closure(_) => {
            Err(refused(value.span))
        }
    }
}

fn epilogue(value: &Value<'_>) -> Result<Epilogue, Diagnostic> {
    match &value.kind {
        ValueKind::Closure(epilogue) => Ok(epilogue.clone()),
        ValueKind::Word(_) | ValueKind::Number(_) | ValueKind::List(_) | ValueKind::Group(_) => {
            let message = "the epilogue is not a closure".to_owned();
            let help = "write `epilogue = |acc, bias: j| gelu_tanh(acc + bias)`";
            Err(at(Code::BadOption, message, value.span).help(help))
        }
    }
}

/// A small number. Operands are few and ranks are small, so 255 is far more than anyone writes.
fn position(value: &Value<'_>) -> Option<usize> {
    match value.kind {
        ValueKind::Number(digits) => digits.parse::<u8>().ok().map(usize::from),
        ValueKind::Word(_) | ValueKind::List(_) | ValueKind::Group(_) | ValueKind::Closure(_) => {
            None
        }
    }
}

fn unknown_option(key: &str, span: Span) -> Diagnostic {
    let nearest = KEYS.into_iter().min_by_key(|known| edits(key, known));
    let near = nearest.filter(|known| edits(key, known) <= known.len() / 2);
    let help = match near {
        Some(known) => format!("write `{known}`"),
        None => format!("the options are: {}", KEYS.join(", ")),
    };
    at(Code::BadOption, format!("there is no option `{key}`"), span).help(help)
}

/// The least number of inserted, removed and replaced characters (Levenshtein distance).
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}
