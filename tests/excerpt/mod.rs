//! Fenced blocks of the documents, and the comparison of what they quote with the whole text.
//! `docs` holds quotations of files to it, `transcripts` in `mage-cli` what the program prints.

#![allow(clippy::expect_used, reason = "a test may stop at once")]
#![allow(dead_code, reason = "each test takes what it needs")]

use std::fs;
use std::path::{Path, PathBuf};

/// A document of the repository.
pub struct Document {
    /// From the root, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// A fenced block.
pub struct Block {
    /// The line of its opening fence, from 1.
    pub line: usize,
    /// The word after the opening fence.
    pub language: String,
    /// The last line above the fence that is not empty.
    pub above: String,
    /// What stands between the fences.
    pub lines: Vec<String>,
}

/// The root of the repository, from the crate that includes this file.
pub fn root() -> PathBuf {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = folders.into_iter().find(|folder| folder.join("specs").is_dir());
    found.expect("specs/ stands at the root").to_path_buf()
}

/// Every Markdown file, in order of its path.
pub fn documents() -> Vec<Document> {
    let mut documents = Vec::new();
    collect(&root(), &root(), &mut documents);
    documents.sort_by(|one, other| one.path.cmp(&other.path));
    assert!(documents.len() > 3, "only {} documents were found", documents.len());
    documents
}

fn collect(root: &Path, folder: &Path, documents: &mut Vec<Document>) {
    for entry in fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("a folder can be listed").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            collect(root, &path, documents);
        } else if name.ends_with(".md") {
            let relative = path.strip_prefix(root).expect("below the root");
            let relative = relative.to_string_lossy().replace('\\', "/");
            let text = fs::read_to_string(&path).expect("a document can be read");
            documents.push(Document { path: relative, text });
        }
    }
}

/// The fenced blocks of a text.
pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut above = String::new();
    let mut is_open = false;
    for (line_idx, line) in text.lines().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            if !is_open {
                let (language, above) = (language.to_owned(), above.clone());
                blocks.push(Block { line: line_idx + 1, language, above, lines: Vec::new() });
            }
            is_open = !is_open;
        } else if is_open {
            blocks.last_mut().expect("an open block").lines.push(line.to_owned());
        } else if !line.trim().is_empty() {
            line.clone_into(&mut above);
        }
    }
    blocks
}

/// A line of the first quoted run that `whole` does not have after the run before it: the first
/// that stands nowhere there, or the run's first where only their order is another.
/// A line `...` parts two runs; a run may stand further to the right in `whole` than where it is
/// quoted, all its lines alike.
pub fn missing<'a>(quoted: &'a [String], whole: &str) -> Option<&'a str> {
    let whole: Vec<&str> = whole.lines().map(str::trim_end).collect();
    let mut at = 0;
    for run in quoted.split(|line| line.trim() == "...").filter(|run| !run.is_empty()) {
        let found = (at..whole.len()).find(|start| stands(run, &whole[*start..]));
        let Some(start) = found else {
            let is_lost =
                |line: &&String| !whole[at..].iter().any(|full| full.trim() == line.trim());
            return run.iter().find(is_lost).or(run.first()).map(String::as_str);
        };
        at = start + run.len();
    }
    None
}

/// Whether `whole` begins with the lines of `run`, all moved to the right alike.
fn stands(run: &[String], whole: &[&str]) -> bool {
    let first = run.iter().zip(whole).find(|(line, _)| !line.is_empty());
    let margin = first.and_then(|(line, full)| full.strip_suffix(line.trim_end())).unwrap_or("");
    let is_same = |(line, full): (&String, &&str)| match full.strip_prefix(margin) {
        Some(rest) => rest == line.trim_end(),
        None => full.is_empty() && line.is_empty(),
    };
    whole.len() >= run.len() && margin.trim().is_empty() && run.iter().zip(whole).all(is_same)
}
