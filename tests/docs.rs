//! The documents say what is so: what they quote stands in the files, their links lead somewhere,
//! the first commands are those that CI runs, the code map names every file. Each rule proves
//! itself first: it must find the violation that is planted for it.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use std::fs;
use std::path::Path;

mod excerpt;

use excerpt::{Document, blocks, documents, missing, root};

/// A rule gives everything that is wrong with a document.
type Rule = fn(&Document) -> Vec<String>;

/// Checks the rule on `planted`, then on every document.
fn hold(rule: Rule, path: &str, planted: &str) {
    let planted = Document { path: path.to_owned(), text: planted.to_owned() };
    assert!(!rule(&planted).is_empty(), "the rule misses its planted violation");
    let broken: Vec<String> = documents()
        .iter()
        .flat_map(|document| {
            rule(document).into_iter().map(|what| format!("{}: {what}", document.path))
        })
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// The file that a block says it quotes.
fn source_of(above: &str) -> Option<&str> {
    above.trim().strip_prefix("<!-- excerpt of ")?.strip_suffix(" -->")
}

#[test]
fn quotations_stand_in_their_files() {
    fn rule(document: &Document) -> Vec<String> {
        let mut wrong = Vec::new();
        for block in blocks(&document.text) {
            let Some(path) = source_of(&block.above) else { continue };
            match fs::read_to_string(root().join(path)) {
                Err(why) => wrong.push(format!("line {}: {path}: {why}", block.line)),
                Ok(whole) => wrong.extend(
                    missing(&block.lines, &whole)
                        .map(|line| format!("line {}: {path} lacks `{line}`", block.line)),
                ),
            }
        }
        wrong
    }
    let planted = "<!-- excerpt of specs/trace.spec -->\n```text\n...\nrun: i=66\n```\n";
    hold(rule, "README.md", planted);
}

#[test]
fn nothing_is_quoted_unchecked() {
    fn rule(document: &Document) -> Vec<String> {
        let checked = ["README.md", "ARCHITECTURE.md"];
        let blocks = blocks(&document.text).into_iter().filter(|block| {
            let is_quotation = block.language == "text" || block.language == "rust";
            is_quotation && source_of(&block.above).is_none()
        });
        let wrong = blocks.map(|block| format!("line {}: says no source", block.line));
        if checked.contains(&document.path.as_str()) { wrong.collect() } else { Vec::new() }
    }
    hold(rule, "README.md", "So it is:\n\n```text\nwhatever\n```\n");
}

#[test]
fn links_lead_somewhere() {
    fn rule(document: &Document) -> Vec<String> {
        let path = root().join(&document.path);
        let folder = path.parent().expect("a folder");
        let ends = document.text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let files = ends.filter(|end| !end.starts_with('#') && !end.contains("://"));
        let files = files.map(|end| end.split('#').next().unwrap_or_default());
        let dead = files.filter(|end| !folder.join(end).exists());
        dead.map(|end| format!("`{end}` is not there")).collect()
    }
    hold(rule, "README.md", "See [the plan](no/such/plan.md).\n");
}

#[test]
fn one_sentence_a_line() {
    fn rule(document: &Document) -> Vec<String> {
        let mut is_open = false;
        let mut wrong = Vec::new();
        for (line_idx, line) in document.text.lines().enumerate() {
            is_open ^= line.starts_with("```");
            let is_prose = !is_open && !line.starts_with('|') && !line.starts_with("<!--");
            let line = line.trim_start_matches(|of_item: char| of_item.is_ascii_digit());
            let line = line.strip_prefix(". ").unwrap_or(line);
            let starts_anew = |rest: &str| rest.starts_with(|next: char| next.is_uppercase());
            if is_prose && line.split(". ").skip(1).any(starts_anew) {
                wrong.push(format!("line {}: two sentences", line_idx + 1));
            }
        }
        wrong
    }
    hold(rule, "README.md", "One thing is so. Another is not.\n");
}

#[test]
fn the_first_commands_are_run_by_ci() {
    fn rule(document: &Document) -> Vec<String> {
        let checks = fs::read_to_string(root().join(".ci/run")).expect(".ci/run can be read");
        let is_run = |command: &&str| checks.lines().any(|line| line.ends_with(*command));
        let blocks = blocks(&document.text);
        let commands = blocks.iter().filter(|block| block.language == "sh");
        let commands = commands.flat_map(|block| block.lines.iter().map(String::as_str));
        let missing = commands.filter(|command| !is_run(command));
        let wrong = missing.map(|command| format!("CI does not run `{command}`"));
        if document.path == "README.md" { wrong.collect() } else { Vec::new() }
    }
    hold(rule, "README.md", "```sh\ncargo bench\n```\n");
}

/// What the cells after a spec's in a table say: how long its emitted source is, and at how many
/// sets of extents it is checked.
fn size_and_runs(spec: &str) -> Option<[String; 2]> {
    let snapshot = root().join(format!("specs/snapshots/{spec}@5-source.snap"));
    let snapshot = fs::read_to_string(snapshot).ok()?;
    let (_, source) = snapshot.strip_prefix("---\n")?.split_once("---\n")?;
    let n_kernels = source.lines().filter(|line| line.trim_start().starts_with("#[kernel")).count();
    let file = fs::read_to_string(root().join(format!("specs/{spec}.spec"))).ok()?;
    let n_runs = file.lines().filter(|line| line.starts_with("run:")).count();
    Some([
        counted(source.lines().count(), "line") + ", " + &counted(n_kernels, "kernel"),
        counted(n_runs, "run"),
    ])
}

fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The spec that a cell links.
fn linked_spec(cell: &str) -> Option<&str> {
    Some(cell.split_once("](specs/")?.1.split_once(".spec)")?.0)
}

#[test]
fn tables_of_specs_are_counted() {
    fn rule(document: &Document) -> Vec<String> {
        let mut wrong = Vec::new();
        for row in document.text.lines().filter(|line| line.starts_with('|')) {
            let mut cells = row.split('|').map(str::trim);
            let Some(spec) = cells.by_ref().find_map(linked_spec) else { continue };
            let right = size_and_runs(spec).expect("a spec has a snapshot of its source");
            if !cells.take(2).eq(right.iter().map(String::as_str)) {
                wrong.push(format!("`{spec}` has {}", right.join(" | ")));
            }
        }
        wrong
    }
    let planted = "| trace | [trace](specs/trace.spec) | 1 line, 1 kernel | 1 run |\n";
    hold(rule, "README.md", planted);
}

/// Folders whose every source file the code map names.
const MAPPED: [&str; 5] =
    ["mage-einsum/src", "mage-codegen/src", "mage-macros/src", "mage-cli/src", "src"];

/// The files that a code map names: list items that start with a file, below a folder's heading.
fn mapped(text: &str) -> Vec<String> {
    let mut folder = None;
    let mut files = Vec::new();
    for line in text.lines() {
        let code = line.split('`').nth(1).unwrap_or_default();
        if line.starts_with('#') {
            folder = line.starts_with("### `").then_some(code);
        } else if let (Some(folder), true) = (folder, line.starts_with("- `")) {
            files.push(format!("{folder}/{code}"));
        }
    }
    files
}

#[test]
fn the_code_map_names_every_file() {
    fn rule(document: &Document) -> Vec<String> {
        let root = root();
        let mut files = Vec::new();
        for folder in MAPPED {
            collect(&root, &root.join(folder), &mut files);
        }
        assert!(files.len() > 50, "only {} source files were found", files.len());
        let mapped = mapped(&document.text);
        let unmapped = files.iter().filter(|file| !mapped.contains(file));
        let gone = mapped.iter().filter(|file| !files.contains(file));
        let twice = mapped.iter().enumerate().filter(|(at, file)| mapped[..*at].contains(file));
        let unmapped = unmapped.map(|file| format!("`{file}` is not in the code map"));
        let wrong = unmapped.chain(gone.map(|file| format!("`{file}` is not there")));
        let wrong = wrong.chain(twice.map(|(_, file)| format!("`{file}` is mapped twice")));
        if document.path == "ARCHITECTURE.md" { wrong.collect() } else { Vec::new() }
    }
    hold(rule, "ARCHITECTURE.md", "### `src`\n\n- `lib.rs`: the facade.\n");
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("a folder can be listed").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let relative = path.strip_prefix(root).expect("below the root");
            files.push(relative.to_string_lossy().replace('\\', "/"));
        }
    }
    files.sort();
}
