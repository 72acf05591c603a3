//! Spec files: comment lines with `#`, the invocation, then lines `run: i=65 j=63 k=66` that give
//! the extents it is checked at.

use std::collections::BTreeMap;

use super::{Spec, parse_invocation, parse_run};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};

/// A spec file, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecFile {
    /// The comment lines above the invocation without their `#`, lines joined.
    pub about: String,
    /// What would stand between the macro's parentheses.
    pub spec: Spec,
    /// The extents of each run, by label.
    pub runs: Vec<BTreeMap<String, u64>>,
}

/// A spec file taken apart but not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// As in [`SpecFile`].
    pub about: String,
    /// The invocation's text.
    pub invocation: String,
    /// The text after each `run:`, with its line number from 1.
    pub runs: Vec<(usize, String)>,
}

/// Reads a spec file.
///
/// # Errors
/// The mistakes of the invocation, as for [`parse_invocation`], and `BadSpec` for lines that do
/// not fit.
pub fn parse_file(text: &str) -> Result<SpecFile, Diagnostics> {
    let FileText { about, invocation, runs } = split_file(text)?;
    let spec = parse_invocation(&invocation)?;
    let mut mistakes = Vec::new();
    let mut extents = Vec::new();
    for (line, run) in runs {
        match parse_run(&run) {
            Ok(run) => extents.push(run),
            // Places in a line of their own are of no use where only the spec's texts are shown.
            Err(Diagnostics(of_run)) => {
                mistakes.extend(of_run.into_iter().map(|mistake| {
                    Diagnostic { span: None, ..mistake }.place(format!("line {line}"))
                }))
            }
        }
    }
    if mistakes.is_empty() {
        return Ok(SpecFile { about, spec, runs: extents });
    }
    Err(Diagnostics(mistakes))
}

/// Takes a spec file apart by its lines.
///
/// # Errors
/// `BadSpec` for a line after the first `run:` that is none.
pub fn split_file(text: &str) -> Result<FileText, Diagnostics> {
    let mut about: Vec<&str> = Vec::new();
    let mut invocation: Vec<&str> = Vec::new();
    let mut runs = Vec::new();
    for (position, line) in text.lines().enumerate() {
        let line_number = position + 1;
        if let Some(comment) = line.strip_prefix('#') {
            if invocation.is_empty() {
                about.push(comment.trim());
            }
        } else if let Some(run) = line.strip_prefix("run:") {
            runs.push((line_number, run.trim().to_owned()));
        } else if line.trim().is_empty() {
            continue;
        } else if runs.is_empty() {
            invocation.push(line);
        } else {
            let mistake = Diagnostic::new(Code::BadSpec, "expected a `run:` line")
                .place(format!("line {line_number}"))
                .help("write the invocation above the first `run:`");
            return Err(mistake.into());
        }
    }
    Ok(FileText { about: about.join("\n"), invocation: invocation.join("\n"), runs })
}
