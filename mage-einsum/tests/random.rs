//! Random texts never panic and random contractions agree with the tree walk. The randomness is
//! the hash of `fill`, so every run sees the same cases.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use std::collections::BTreeMap;

use mage_einsum::diagnostic::{Diagnostics, Source, render};
use mage_einsum::fill::hash_value;
use mage_einsum::index::{merge, print, verify};
use mage_einsum::notation::{self, parse};
use mage_einsum::oracle::{evaluate, evaluate_by_tree};
use mage_einsum::{options, spec};
use support::{filled, program, program_with};

/// A source of numbers below a limit.
struct Hash {
    seed: u32,
    next: u32,
}

impl Hash {
    fn below(&mut self, limit: usize) -> usize {
        self.next += 1;
        hash_value(self.next, self.seed) as usize % limit
    }

    /// A text of `pieces`, up to `longest` of them.
    fn text(&mut self, pieces: &[&str], longest: usize) -> String {
        (0..self.below(longest + 1)).map(|_| pieces[self.below(pieces.len())]).collect()
    }
}

fn check_places(mistakes: &Diagnostics, notation: &str, options: &str) {
    for mistake in &mistakes.0 {
        let text = match mistake.source {
            Source::Notation => notation,
            Source::Options => options,
            Source::Invocation => continue,
        };
        let spans = mistake.notes.iter().map(|(span, _)| *span).chain(mistake.span);
        for span in spans {
            assert!(text.get(span.start..span.end).is_some(), "{span:?} of `{text}`: {mistake}");
        }
        assert!(!render(mistake, notation, options).is_empty());
        assert!(mistake.help.is_some(), "`{text}`: {mistake}");
    }
}

#[test]
fn no_notation_panics() {
    let pieces = [
        "i", "j", "k", "B", ",", ",", "->", "...", ".", "-", ">", "=", " ", "→", "é", "[", "]",
        "sum(", ")", "*", ";", "A[i]", "C[i,j]", " = ", "積", "\t", "7", "+",
    ];
    for seed in 0..20_000 {
        let text = Hash { seed, next: 0 }.text(&pieces, 9);
        match parse(&text) {
            Err(mistakes) => check_places(&mistakes, &text, ""),
            Ok(notation) => {
                let printed = notation::print(&notation);
                assert_eq!(notation::print(&parse(&printed).unwrap()), printed, "`{text}`");
                match program_with(&text, "") {
                    Err(mistakes) => check_places(&mistakes, &text, ""),
                    Ok(program) => {
                        let merged = merge(&program);
                        assert_eq!(verify(&merged), Ok(()), "`{text}`");
                        assert!(print(&merged).len() >= print(&program).len() / 4);
                    }
                }
            }
        }
    }
}

#[test]
fn no_option_text_or_spec_panics() {
    let pieces = [
        "tile",
        "name",
        "extents",
        "=",
        "=",
        " = ",
        "64",
        "0",
        "(",
        ")",
        ",",
        ", ",
        "k",
        "é",
        "\n",
        "x",
        "99999999999",
        "h200",
        "device",
        "dtype",
        "f32",
        "积",
        "\"",
    ];
    for seed in 0..20_000 {
        let text = Hash { seed, next: 0 }.text(&pieces, 9);
        if let Err(mistakes) = options::parse(&text) {
            check_places(&mistakes, "", &text);
        }
        let quoted =
            Hash { seed, next: 50 }.text(&["\"", "r", "#", "\\", "i", "é", ",", " ", "run:"], 9);
        drop(spec::parse_file(&quoted));
        drop(spec::parse_invocation(&format!("{quoted}{text}")));
    }
}

/// A contraction of one to three operands of rank 0 to 4 over five labels with extents 0 to 5.
fn contraction(hash: &mut Hash) -> (String, Vec<Vec<usize>>) {
    let extents: BTreeMap<char, usize> = "ijkLM".chars().map(|c| (c, hash.below(6))).collect();
    let labels: Vec<char> = extents.keys().copied().collect();
    let terms: Vec<String> = (0..1 + hash.below(3))
        .map(|_| (0..hash.below(5)).map(|_| labels[hash.below(labels.len())]).collect())
        .collect();
    let mut output: Vec<char> =
        labels.into_iter().filter(|c| terms.iter().any(|term| term.contains(*c))).collect();
    output.retain(|_| hash.below(2) == 0);
    if !output.is_empty() {
        let first = hash.below(output.len());
        output.rotate_left(first);
    }
    let shapes = terms.iter().map(|term| term.chars().map(|c| extents[&c]).collect()).collect();
    (format!("{}->{}", terms.join(","), output.into_iter().collect::<String>()), shapes)
}

#[test]
fn random_contractions_agree_with_the_tree_walk() {
    for seed in 0..600 {
        let (notation, shapes) = contraction(&mut Hash { seed, next: 0 });
        let operands: Vec<_> = shapes.iter().zip(0..).map(|(s, k)| filled(s, "H", k)).collect();
        let views: Vec<_> = operands.iter().map(|operand| operand.view()).collect();
        let program = program(&notation);
        let quick = evaluate(&program, &views).expect(&notation);
        assert_eq!(quick, evaluate_by_tree(&program, &views).expect(&notation), "{notation}");
    }
}
