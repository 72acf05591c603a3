//! Text for people: aligned columns, wrapped lines, and numbers with their units.

use std::fmt::Write;

/// Left-aligned columns, two spaces apart, each line indented by two; no trailing spaces.
pub fn columns(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..n_columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(format!("  {}", cells.join("  ")).trim_end());
        text.push('\n');
    }
    text
}

/// One row of words.
pub fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.into_iter().map(str::to_string).collect()
}

/// A count with its noun: `1 block`, `12 blocks`.
pub fn counted(count: impl Into<u128>, noun: &str) -> String {
    let count = count.into();
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Bytes, from 1 KiB on also in a binary unit: `16777216 bytes (16 MiB)`.
pub fn bytes(count: u128) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let exact = counted(count, "byte");
    let mut scaled = count as f64;
    let mut unit = None;
    for next in UNITS {
        if scaled < 1024.0 {
            break;
        }
        scaled /= 1024.0;
        unit = Some(next);
    }
    unit.map_or(exact.clone(), |unit| format!("{exact} ({} {unit})", rounded(scaled)))
}

/// Three significant digits or the whole integer part, without trailing zeros.
pub fn rounded(value: f64) -> String {
    let decimals = if value.abs() < 10.0 {
        2
    } else if value.abs() < 100.0 {
        1
    } else {
        0
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{}%", rounded(100.0 * share))
}

/// `s`, ended by a line end unless it already is.
pub fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// `text` with two spaces before each line that has words.
pub fn indented(text: &str) -> String {
    let indent = |line: &str| if line.is_empty() { "\n".into() } else { format!("  {line}\n") };
    text.trim_end().lines().map(indent).collect()
}

/// `text` in lines of at most 100 columns, each indented.
pub fn wrapped(text: &str, indent: usize) -> String {
    const WIDTH: usize = 100;
    let (mut lines, mut line) = (String::new(), " ".repeat(indent));
    for word in text.split(' ') {
        let is_empty = line.len() == indent;
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(lines, "{line}");
            line = " ".repeat(indent);
        } else if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
    }
    format!("{lines}{line}\n")
}
