//! A diagnostic on its way to `compile_error!`: the bytes of the invocation to underline, and the
//! whole text, because a stable compiler underlines the literal and no part of it.

use std::ops::Range;

use mage_einsum::diagnostic::{Diagnostic, Diagnostics, Source, Span, render};
use mage_einsum::spec::Invocation;

/// One mistake in an invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Where it stands in the invocation's text, where it has a place.
    pub bytes: Option<Range<usize>>,
    /// Code, message, place in words, the line with the place underlined, and the help.
    pub text: String,
}

/// Mistakes of an invocation that was taken apart.
pub fn located(mistakes: &Diagnostics, parts: &Invocation) -> Vec<Mistake> {
    let located = |mistake: &Diagnostic| Mistake {
        bytes: mistake.span.and_then(|span| bytes(mistake.source, span, parts)),
        text: text(mistake, &parts.notation_text, &parts.options_text),
    };
    mistakes.0.iter().map(located).collect()
}

/// Mistakes of an invocation that could not be taken apart, so that there is no text to show.
pub fn without_texts(mistakes: &Diagnostics) -> Vec<Mistake> {
    let shown = |mistake: &Diagnostic| Mistake {
        bytes: mistake.span.map(|span| span.start..span.end),
        text: text(mistake, "", ""),
    };
    mistakes.0.iter().map(shown).collect()
}

fn bytes(source: Source, span: Span, parts: &Invocation) -> Option<Range<usize>> {
    let places = &parts.places;
    match source {
        Source::Notation => {
            let start = places.of_notation(span.start).unwrap_or(places.literal_start);
            let end = places.of_notation(span.end).unwrap_or(start);
            Some(start..end)
        }
        Source::Options => Some(places.of_options(span.start)..places.of_options(span.end)),
        Source::Invocation => Some(span.start..span.end),
    }
}

/// The rendered diagnostic without its `error[..]`, which the compiler says itself.
fn text(mistake: &Diagnostic, notation_text: &str, options_text: &str) -> String {
    let rendered = render(mistake, notation_text, options_text);
    let below = rendered.split_once('\n').map_or("", |(_, below)| below);
    let Diagnostic { code, message, .. } = mistake;
    format!("{} {}: {message}\n{}", code.number(), code.name(), below.trim_end())
}
