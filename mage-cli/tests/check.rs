//! `mage check`: which runs are made, what is said of them, and the exit status.

mod support;

use support::{json, mage};

/// Notation and options, extents, and words that the answer holds.
const RIGHT: [(&[&str], &[&str]); 15] = [
    (
        &["ik,kj->ij", "i=20", "j=19", "k=17", "--tile", "64"],
        &["380 elements of 17 terms each", "does not select variant `wide`", "in 2 runs"],
    ),
    (
        &["ik,kj->ij", "i=20", "j=20", "k=16", "--tile", "32"],
        &["unaligned  narrow", "aligned    wide", "in 4 runs"],
    ),
    (
        &["ikc,jkc->ijc", "i=33", "j=17", "k=65", "c=3", "--tile", "32"],
        &["1683 elements of 65 terms each", "2 blocks"],
    ),
    (&["ii->", "i=7"], &["out[] = sum(i) A[i,i]", "1 element of 7 terms each"]),
    (&["ik,kj->ij", "i=3", "j=4", "k=0"], &["12 elements of 0 terms", "every element must be +0"]),
    (&["ik,kj->ij", "i=0", "j=4", "k=3"], &["Nothing was launched", "right: 0 elements"]),
    (&[""], &["out[] = A[]", "no labels: 1 element"]),
    (&["->"], &["\"->\"", "right"]),
    (&["ik,kj->ij", "--extents", "i=8,k=4,j=8", "--tile", "8,8,4"], &["tile = (8, 8, 4)", "wide"]),
    (&["C[i,j] = sum(k) A[i,k] * A[j,k]", "i=9", "j=9", "k=5"], &["A[i,k] * A[j,k]", "right"]),
    (
        &["ij,jk,kl->il", "i=5", "j=4", "k=8", "l=3", "--tile", "16"],
        &["workspace: 40 elements, 160 bytes", "wide, narrow", "1 block, 1 block"],
    ),
    (
        &["ik,kj->ij", "i=20", "j=36", "k=16", "--tile", "16", "--strides", "runtime"],
        &["padded      aligned    wide", "reversed    aligned    narrow", "in 14 runs"],
    ),
    (
        &[
            "s[i] = sum(j) X[i,j]; Y[i,j] = X[i,j] * s[i]",
            "i=3",
            "j=4",
            "--outputs",
            "Y,s",
            "--fill",
            "H",
        ],
        &[
            "with outputs = (Y, s)",
            "i=3 j=4: Y 12 elements of 4 terms each, s 3 elements of 4 terms each\n",
            "output  compared by",
            "right: 30 elements compared in 2 runs",
        ],
    ),
    (
        &["s[i] = sum(j) X[i,j]; Y[i,j] = X[i,j] * s[i]", "i=0", "j=4", "--outputs", "(Y, s)"],
        &["Nothing was launched: no output has elements"],
    ),
    (&["ij->ji", "i=3", "j=4", "--strides", "runtime", "--fill", "H"], &["broadcast", "in 6 runs"]),
];

#[test]
fn what_the_host_refuses_has_its_own_code() {
    let arguments = ["check", "ik,kj->ij", "i=3000000000", "j=0", "k=0", "--tile", "64"];
    let run = mage(&arguments);
    assert_eq!(run.status, 2);
    for word in ["M0035", "label `i` is 3000000000, limit 2147483648"] {
        assert!(run.err.contains(word), "lacks {word:?}:\n{}", run.err);
    }
}

#[test]
fn right_kernels() {
    for (arguments, words) in RIGHT {
        let run = mage(&[&["check"], arguments].concat());
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{arguments:?}");
        for word in words {
            assert!(run.out.contains(word), "{arguments:?} lacks {word:?}:\n{}", run.out);
        }
    }
}

#[test]
fn a_spec_file_runs_every_line_unless_extents_are_given() {
    let spec = "specs/triangle_outgoing.spec";
    let runs =
        |arguments: &[&str]| json(arguments, 0)["runs"].as_array().map(Vec::len).expect("an array");
    let text = std::fs::read_to_string(format!("{}/../{spec}", env!("CARGO_MANIFEST_DIR")))
        .expect("the spec");
    let lines = text.lines().filter(|line| line.starts_with("run:")).count();
    assert_eq!(runs(&["check", "--spec", spec, "--json"]), lines);
    assert_eq!(runs(&["check", "--spec", spec, "i=2", "j=2", "k=2", "c=2", "--json"]), 1);
}

#[test]
fn json_tells_each_output() {
    let notation = "s[i] = sum(j) X[i,j]; Y[i,j] = X[i,j] * s[i]";
    let report = json(&["check", notation, "i=3", "j=5", "--outputs", "Y,s", "--json"], 0);
    let run = &report["runs"][0];
    assert_eq!(run["outputs"][0]["elements"], 15);
    assert_eq!(
        (&run["outputs"][1]["output"], &run["outputs"][1]["terms"]),
        (&"s".into(), &5.into())
    );
    let trial = &run["trials"][0];
    assert_eq!(trial["outputs"][0]["output"], "Y");
    assert_eq!((&trial["outputs"][1]["compared"], &trial["right"]), (&3.into(), &true.into()));
}

#[test]
fn json_has_what_the_text_has() {
    let report = json(&["check", "ik,kj->ij", "i=8", "j=8", "k=8", "--tile", "8", "--json"], 0);
    assert_eq!(report["right"], true);
    assert_eq!(report["options"], "tile = 8");
    let run = &report["runs"][0];
    assert_eq!((&run["elements"], &run["terms"]), (&64.into(), &8.into()));
    assert_eq!(run["extents"]["k"], 8);
    let trials = run["trials"].as_array().expect("an array");
    let kinds: Vec<(&str, &str, u64)> = trials
        .iter()
        .map(|trial| {
            let text = |value: &'static str| trial[value].as_str().expect("a text");
            (text("fill"), text("compared_by"), trial["byte_alignment"].as_u64().expect("a count"))
        })
        .collect();
    let expected = [
        ("H", "equality", 16),
        ("H", "equality", 4),
        ("normal", "bound", 16),
        ("normal", "bound", 4),
    ];
    assert_eq!(kinds, expected);
    assert!(trials[2]["worst"]["share"].as_f64().expect("a number") < 1.0);
    assert!(trials.iter().all(|trial| trial["arrangement"] == "row-major"));
}

#[test]
fn a_fill_and_an_alignment_can_be_picked() {
    let asked = ["check", "ik,kj->ij", "i=8", "j=8", "k=8", "--unaligned", "--json"];
    let report = json(&[&asked[..], &["--fill", "T", "--fill", "W"]].concat(), 0);
    let trials = report["runs"][0]["trials"].as_array().expect("an array");
    let fills: Vec<&str> = trials.iter().filter_map(|trial| trial["fill"].as_str()).collect();
    assert_eq!(fills, ["T", "W"]);
    assert!(trials.iter().all(|trial| trial["launches"][0]["variant"] == "narrow/flat"));
    // Products of 13-bit integers pass 2^24 when they are summed, so they are compared by bound.
    assert_eq!(trials[1]["compared_by"], "bound");
}

/// A term that is looked up a thousand times is rounded the same way as often; a bound for terms that
/// differ would reject a right kernel.
#[test]
fn repeated_terms_have_a_bound_of_their_own() {
    let sum = "Y[i,f] = sum(e in p[i]..p[i+1]) X[s[e],f] * g[f]";
    let call = mage(&["check", sum, "i=3", "e=1024", "s=1", "f=36"]);
    assert_eq!(call.status, 0, "{}", call.out);
}

#[test]
fn equal_calls_say_equal_things() {
    let asked = ["check", "ikc,jkc->ijc", "i=5", "j=6", "k=7", "c=8", "--json"];
    assert_eq!(mage(&asked).out, mage(&asked).out);
}
