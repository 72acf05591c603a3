//! Rules about the source files that no compiler checks. Each proves itself first: it must find
//! the violation that is planted for it.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use std::fs;
use std::path::{Path, PathBuf};

/// A file's path from the root, with `/`, and its text.
type File = (String, String);

/// A rule gives what is wrong with a file, if anything.
type Rule = fn(&str, &str) -> Option<String>;

/// The largest number of lines of a file (style guide, rule 5).
const LINES_LIMIT: usize = 500;

fn sources() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(root, root, &mut files);
    files.sort();
    assert!(files.len() > 50, "only {} source files were found", files.len());
    files
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<File>) {
    let entries = fs::read_dir(folder).expect("a folder can be listed");
    let paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    for path in paths {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let relative = path.strip_prefix(root).expect("below the root");
            let relative = relative.to_string_lossy().replace('\\', "/");
            files.push((relative, fs::read_to_string(&path).expect("a source can be read")));
        }
    }
}

/// Checks the rule on `planted`, then on every file.
fn hold(rule: Rule, planted: (&str, &str)) {
    assert!(rule(planted.0, planted.1).is_some(), "the rule misses its planted violation");
    let broken: Vec<String> = sources()
        .iter()
        .filter_map(|(path, text)| rule(path, text).map(|what| format!("{path}: {what}")))
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

fn is_test(path: &str) -> bool {
    path.split('/').any(|folder| folder == "tests")
}

#[test]
fn every_file_says_what_it_holds() {
    fn rule(_: &str, text: &str) -> Option<String> {
        (!text.starts_with("//! ")).then(|| "does not start with `//!`".to_owned())
    }
    hold(rule, ("src/planted.rs", "pub mod planted;\n"));
}

#[test]
fn no_file_is_long() {
    fn rule(path: &str, text: &str) -> Option<String> {
        let n_lines = text.lines().count();
        let is_long = n_lines > LINES_LIMIT && !is_test(path);
        is_long.then(|| format!("has {n_lines} lines, limit {LINES_LIMIT}"))
    }
    hold(rule, ("src/planted.rs", &"\n".repeat(LINES_LIMIT + 1)));
}

#[test]
fn one_file_spells_cuda_oxide() {
    fn rule(path: &str, text: &str) -> Option<String> {
        let may = path == "mage-codegen/src/emit/oxide.rs"
            || path.starts_with("tests/standin/")
            || path.starts_with("examples/cuda-oxide/")
            || path.starts_with("examples/emitted/");
        // Put together here, so that this file does not spell them.
        let names = ["device", "core", "host", "macros"].map(|part| format!("cuda_{part}"));
        let found = names.iter().find(|name| text.contains(*name)).filter(|_| !may)?;
        Some(format!("spells `{found}`"))
    }
    let spelled = format!("use cuda{}::thread;\n", "_device");
    hold(rule, ("mage-codegen/src/emit/stmt.rs", &spelled));
}

#[test]
fn no_test_is_left_out() {
    fn rule(_: &str, text: &str) -> Option<String> {
        let attributes = ["ignore", "should_panic"].map(|name| format!("#[{name}"));
        let found = attributes.iter().find(|attribute| text.contains(*attribute))?;
        Some(format!("has `{found}]`"))
    }
    hold(rule, ("tests/planted.rs", &format!("#[{}]\nfn planted() {{}}\n", "ignore")));
}

#[test]
fn a_level_is_used_by_name() {
    fn rule(_: &str, text: &str) -> Option<String> {
        let is_glob = |line: &&str| {
            let line = line.trim();
            line.contains("use ") && line.ends_with("::*;") && !line.starts_with("//")
        };
        text.lines().find(is_glob).map(|line| format!("imports all: `{}`", line.trim()))
    }
    hold(rule, ("src/planted.rs", "use crate::kernel::*;\n"));
}
