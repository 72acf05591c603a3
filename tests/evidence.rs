//! The records of speed have the form that evidence/README.md gives them: every field of its two
//! tables and no other, and what is derived follows from the samples. Each rule finds a planted
//! violation first.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The version of the form that this test and the tables describe.
const SCHEMA: u64 = 1;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("evidence")
}

/// The fields of the table under a header line, some of which share a row.
fn fields(header: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(folder().join("README.md")).expect("it can be read");
    let below = text.split_once(header).expect("the table is there").1;
    let rows = below.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

fn records() -> Vec<(String, Value)> {
    let mut records = Vec::new();
    for run in fs::read_dir(folder()).expect("it can be listed") {
        let run = run.expect("it can be listed").path();
        for file in fs::read_dir(&run).into_iter().flatten() {
            let path = file.expect("it can be listed").path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let text = fs::read_to_string(&path).expect("it can be read");
                let name = path.strip_prefix(folder()).expect("below it").display().to_string();
                records.push((name, serde_json::from_str(&text).expect("it is JSON")));
            }
        }
    }
    assert!(records.len() >= 2, "{} records", records.len());
    records
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default()
}

/// The middle of the samples, or the mean of the two in the middle.
fn median(samples: &Value) -> Option<f64> {
    let mut samples: Vec<f64> =
        samples.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
    samples.sort_by(f64::total_cmp);
    let middle = samples.len() / 2;
    let is_even = samples.len().is_multiple_of(2);
    let upper = *samples.get(middle)?;
    Some(if is_even { (samples[middle - 1] + upper) / 2.0 } else { upper })
}

/// What is wrong with a record.
fn wrong(record: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let of_record = fields("| field | meaning |");
    if keys(record) != of_record {
        wrong.push(format!("the fields are {:?}, not {of_record:?}", keys(record)));
    }
    if record["schema"] != SCHEMA {
        wrong.push(format!("schema {}", record["schema"]));
    }
    let of_work = fields("| field of `work` | meaning |");
    for work in record["work"].as_array().into_iter().flatten() {
        let name = format!("{} at {}", work["name"], work["extents"]);
        if keys(work) != of_work {
            wrong.push(format!("{name}: the fields are {:?}", keys(work)));
        }
        let is_hash = |hash: &str| hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit());
        if !work["source_hash"].as_str().is_some_and(is_hash) {
            wrong.push(format!("{name}: no hash of a source"));
        }
        let derived = [
            (median(&work["samples_us"]), &work["median_us"]),
            (median(&work["peer_samples_us"]), &work["peer_median_us"]),
            (
                median(&work["peer_samples_us"])
                    .zip(median(&work["samples_us"]))
                    .map(|(peer, own)| peer / own),
                &work["ratio"],
            ),
        ];
        for (expected, found) in derived {
            let follows = expected.zip(found.as_f64());
            if !follows.is_some_and(|(expected, found)| (found / expected - 1.0).abs() < 1e-9) {
                wrong.push(format!("{name}: {found} does not follow from the samples"));
            }
        }
    }
    wrong
}

#[test]
fn records_have_the_documented_form() {
    let mut broken = Vec::new();
    for (name, record) in records() {
        broken.extend(wrong(&record).into_iter().map(|what| format!("{name}: {what}")));
        let caught = |fault: &str, plant: fn(&mut Value)| {
            let mut planted = record.clone();
            plant(&mut planted);
            assert!(!wrong(&planted).is_empty(), "{fault} passes");
        };
        caught("another schema", |record| record["schema"] = json!(2));
        caught("a ratio of its own", |record| record["work"][0]["ratio"] = json!(2.5));
        caught("a sample in words", |record| record["work"][0]["samples_us"][0] = json!("fast"));
        caught("no hash", |record| record["work"][0]["source_hash"] = json!("1234"));
        caught("a field that no table has", |record| record["mood"] = json!("good"));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
