//! The macro and the library give the same verdict on the same text (case M8): whatever the parser
//! or the index IR refuses, the macro refuses with the same codes and messages, and it refuses
//! nothing else but what a schedule cannot be made for.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use mage_codegen::expand::expand;
use mage_einsum::diagnostic::{Code, Diagnostics};
use mage_einsum::fill::hash_value;
use mage_einsum::index;
use mage_einsum::notation;
use mage_einsum::options;
use mage_einsum::spec::Spec;

const N_TEXTS: u32 = 1500;

/// What a schedule may refuse when notation and options are right.
const OF_SCHEDULES: [Code; 2] = [Code::BadTile, Code::BadOption];

const NOTATIONS: [&str; 14] = [
    "ik,kj->ij",
    "bij,bjk->bik",
    "ij,jk,kl->il",
    "iij->j",
    "...ik,kj->...ij",
    "i...->...",
    "ij",
    ",->",
    "C[i,j] = sum(k) A[i,k] * B[k,j]",
    "o[row] = sum(col) a[row,col]",
    "ea,fb->efab",
    "Ab,bA->A",
    "ij->ji",
    "iij,jk->ik",
];

const OPTIONS: [&str; 10] = [
    "",
    "tile = 16",
    "tile = (16, 8, 4)",
    "name = kernel",
    "extents = (k = 64)",
    "ranks = (3, 2)",
    "ranks = 3",
    "path = ((0, 1), (0, 1))",
    "device = h200",
    "dtype = f32, tile = 0",
];

/// Characters that replace, join or follow those of a text that was right.
const SLIPS: [&str; 16] =
    ["i", "k", "Z", ",", "->", "...", ".", " ", "=", "[", "]", "(", ")", "é", "7", "→"];

/// A text from the list, in half of the cases with one or two slips.
fn text(list: &[&str], seed: u32) -> String {
    let below = |n: u32, limit: usize| hash_value(n, seed) as usize % limit;
    let mut text = list[below(0, list.len())].to_owned();
    for slip in 0..[0, 0, 1, 2][below(1, 4)] {
        let starts: Vec<usize> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let start = starts[below(10 + slip, starts.len())];
        let end = starts[below(20 + slip, starts.len())].min(start + 1).max(start);
        let end = if text.is_char_boundary(end) { end } else { start };
        text.replace_range(start..end, SLIPS[below(30 + slip, SLIPS.len())]);
    }
    text
}

/// Code and message of each mistake, as the macro's text starts with them.
fn told(Diagnostics(mistakes): &Diagnostics) -> Vec<String> {
    let told = mistakes.iter().map(|mistake| {
        format!("{} {}: {}", mistake.code.number(), mistake.code.name(), mistake.message)
    });
    told.collect()
}

#[test]
fn macro_and_library_agree() {
    let (mut n_right, mut n_wrong) = (0, 0);
    for seed in 0..N_TEXTS {
        let (notation, options) = (text(&NOTATIONS, 2 * seed), text(&OPTIONS, 2 * seed + 1));
        let library = Spec::from_texts(&notation, &options)
            .and_then(|spec| index::lower(&spec.notation, &spec.options));
        let invocation = format!("r#\"{notation}\"#, {options}");
        match (library, expand(&invocation)) {
            (Ok(_), Ok(_)) => n_right += 1,
            (Ok(_), Err(mistakes)) => {
                let is_of_schedules =
                    |text: &str| OF_SCHEDULES.iter().any(|code| text.starts_with(code.number()));
                let other = mistakes.iter().find(|mistake| !is_of_schedules(&mistake.text));
                assert!(other.is_none(), "{invocation}: {other:?}");
            }
            (Err(mistakes), Ok(_)) => {
                assert!(
                    told(&mistakes).is_empty(),
                    "{invocation} is right to the macro: {mistakes}"
                );
            }
            (Err(mistakes), Err(shown)) => {
                let shown: Vec<&str> =
                    shown.iter().filter_map(|mistake| mistake.text.lines().next()).collect();
                assert_eq!(told(&mistakes), shown, "{invocation}");
                n_wrong += 1;
            }
        }
    }
    assert!(n_right > 100 && n_wrong > 200, "{n_right} right, {n_wrong} wrong");
}

/// What was read is printed so that reading it again gives the same.
#[test]
fn printing_and_reading_back_changes_nothing() {
    for seed in 0..20_000 {
        let (notation_text, options_text) =
            (text(&NOTATIONS, 2 * seed), text(&OPTIONS, 2 * seed + 1));
        if let Ok(read) = notation::parse(&notation_text) {
            let printed = notation::print(&read);
            let again = notation::parse(&printed).expect(&notation_text);
            assert_eq!(notation::print(&again), printed, "{notation_text}");
            let meaning = |read: &notation::Notation, options: &options::Options| {
                index::lower(read, options).map(|program| index::print(&program)).ok()
            };
            let options = options::parse(&options_text).unwrap_or_default();
            assert_eq!(meaning(&read, &options), meaning(&again, &options), "{notation_text}");
        }
        if let Ok(read) = options::parse(&options_text) {
            let again = options::parse(&read.print()).expect(&options_text);
            let without_places = options::Options { spans: again.spans.clone(), ..read };
            assert_eq!(without_places, again, "{options_text}");
        }
    }
}
