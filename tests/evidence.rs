//! The records of speed have the form that evidence/README.md gives them: every field of its two
//! tables and no other, and what is derived follows from the samples. Each rule finds a planted
//! violation first.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The versions of the form that this test and the tables describe.
const SCHEMAS: [u64; 2] = [1, 2];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("evidence")
}

/// The fields that a version of the form has in the table under a header's first cell; some share a
/// row, and the second cell says which versions have them.
fn fields(header: &str, schema: u64) -> BTreeSet<String> {
    let text = fs::read_to_string(folder().join("README.md")).expect("it can be read");
    let header = format!("| {header} | schema | meaning |");
    let below = text.split_once(&header).expect("the table is there").1;
    let rows = below.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.split('|').collect::<Vec<&str>>());
    let has = |cells: &Vec<&str>| cells[2].split(',').any(|one| one.trim().parse() == Ok(schema));
    let names = cells.filter(has).flat_map(|cells| cells[1].split('`').skip(1).step_by(2));
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
    let Some(schema) = record["schema"].as_u64().filter(|schema| SCHEMAS.contains(schema)) else {
        return vec![format!("schema {}", record["schema"])];
    };
    let mut wrong = has_fields(record, &fields("field", schema));
    let of_work = fields("field of `work`", schema);
    for work in record["work"].as_array().into_iter().flatten() {
        let mut faults = has_fields(work, &of_work);
        let is_hash = |hash: &str| hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit());
        if !work["source_hash"].as_str().is_some_and(is_hash) {
            faults.push("no hash of a source".to_string());
        }
        let own = median(&work["samples_us"]);
        faults.extend(follows(own, &work["median_us"]));
        if schema == 1 {
            let peer = median(&work["peer_samples_us"]);
            faults.extend(follows(peer, &work["peer_median_us"]));
            faults.extend(follows(over(peer, own), &work["ratio"]));
        }
        for peer in work["peers"].as_object().into_iter().flat_map(|peers| peers.values()) {
            faults.extend(has_fields(peer, &fields("field of `peers`", schema)));
            let samples = median(&peer["samples_us"]);
            faults.extend(follows(samples, &peer["median_us"]));
            faults.extend(follows(over(samples, own), &peer["ratio"]));
        }
        let name = format!("{} at {}", work["name"], work["extents"]);
        wrong.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    wrong
}

/// Whether an object has these fields and no other.
fn has_fields(value: &Value, expected: &BTreeSet<String>) -> Vec<String> {
    let found = keys(value);
    if found == *expected {
        return Vec::new();
    }
    vec![format!("the fields are {found:?}, not {expected:?}")]
}

/// The quotient of two medians.
fn over(peer: Option<f64>, own: Option<f64>) -> Option<f64> {
    peer.zip(own).map(|(peer, own)| peer / own)
}

/// Whether what is derived is what it should be.
fn follows(expected: Option<f64>, found: &Value) -> Option<String> {
    let pair = expected.zip(found.as_f64());
    let is_right = pair.is_some_and(|(expected, found)| (found / expected - 1.0).abs() < 1e-9);
    (!is_right).then(|| format!("{found} does not follow from the samples"))
}

/// A record of the second form.
fn second_form() -> Value {
    json!({
        "schema": 2, "device": "GPU", "driver_and_clocks": "1", "peer": "torch", "method": "event span",
        "rounds": 1,
        "work": [{
            "name": "softmax", "notation": "ij->i", "options": "", "source_hash": "0123456789abcdef",
            "extents": [2, 3], "degrees": "", "flops": 12, "bytes": 32, "launches_a_sample": 2,
            "samples_us": [2.0, 4.0], "median_us": 3.0,
            "peers": {"eager": {"samples_us": [6.0], "median_us": 6.0, "ratio": 2.0}},
            "left_out": {"triton": "not installed"},
        }],
    })
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
        caught("another schema", |record| record["schema"] = json!(3));
        caught("a median of its own", |record| record["work"][0]["median_us"] = json!(2.5));
        caught("a sample in words", |record| record["work"][0]["samples_us"][0] = json!("fast"));
        caught("no hash", |record| record["work"][0]["source_hash"] = json!("1234"));
        caught("a field that no table has", |record| record["mood"] = json!("good"));
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn a_record_with_several_peers_has_the_documented_form() {
    assert_eq!(wrong(&second_form()), Vec::<String>::new());
    let caught = |plant: fn(&mut Value)| {
        let mut planted = second_form();
        plant(&mut planted);
        assert!(!wrong(&planted).is_empty(), "{planted} passes");
    };
    caught(|record| record["work"][0]["peers"]["eager"]["ratio"] = json!(2.5));
    caught(|record| record["work"][0]["peers"]["eager"]["median_us"] = json!(5.0));
    caught(|record| record["work"][0]["peers"]["eager"]["mood"] = json!("good"));
    caught(|record| record["work"][0]["ratio"] = json!(2.0));
    caught(|record| record["schema"] = json!(1));
}
