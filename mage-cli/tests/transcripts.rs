//! What the documents show of the program is what it prints: every `console` block is run again.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use support::mage;

#[path = "../../tests/excerpt/mod.rs"]
mod excerpt;
mod support;

/// How a command starts in the documents.
const PROMPTS: [&str; 2] = ["$ cargo run --bin mage -- ", "$ mage "];

/// A command of a block with the lines shown below it.
struct Shown {
    arguments: Vec<String>,
    lines: Vec<String>,
}

/// The commands of a block's lines; a line before the first one belongs to none.
fn shown(lines: &[String]) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for line in lines {
        match PROMPTS.iter().find_map(|prompt| line.strip_prefix(prompt)) {
            Some(command) => all.push(Shown { arguments: words(command), lines: Vec::new() }),
            None => all.last_mut().expect("a command first").lines.push(line.clone()),
        }
    }
    all
}

/// The words of a command line, where double quotes keep spaces.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for character in command.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            other => words.last_mut().expect("a word").push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What is wrong with the transcripts of a text, and how many commands it shows.
fn wrong(text: &str) -> (Vec<String>, usize) {
    let mut wrong = Vec::new();
    let mut n_commands = 0;
    for block in excerpt::blocks(text).iter().filter(|block| block.language == "console") {
        for Shown { arguments, lines } in shown(&block.lines) {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let run = mage(&arguments);
            let printed = format!("{}{}", run.out, run.err);
            n_commands += 1;
            if let Some(line) = excerpt::missing(&lines, &printed) {
                let place = format!("line {}: {arguments:?}", block.line);
                wrong.push(format!("{place} does not print `{line}` but\n{printed}"));
            }
        }
    }
    (wrong, n_commands)
}

#[test]
fn transcripts_are_true() {
    let planted = "```console\n$ mage explain --code M0006\nM0006 KnownOutputLabel\n```\n";
    assert_eq!(wrong(planted).0.len(), 1, "the check misses its planted violation");
    let mut n_all = 0;
    for document in excerpt::documents() {
        let (wrong, n_commands) = wrong(&document.text);
        assert!(wrong.is_empty(), "{}: {}", document.path, wrong.join("\n"));
        n_all += n_commands;
    }
    assert!(n_all > 2, "only {n_all} commands were found");
}
