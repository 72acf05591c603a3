//! Invocations and spec files, and how places map back to the literal.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use mage_einsum::diagnostic::{Code, Source};
use mage_einsum::spec::{parse_file, parse_invocation, parse_run};
use support::{codes, first};

#[test]
fn literals_of_all_kinds() {
    let table = [
        (r#""ik,kj->ij""#, "ik,kj->ij", ""),
        (r#" "ik,kj->ij" , tile = 64 "#, "ik,kj->ij", "tile = 64"),
        (r#""ik,kj->ij","#, "ik,kj->ij", ""),
        (r#"r"ik,kj->ij", tile = 64,"#, "ik,kj->ij", "tile = 64,"),
        (r##"r#"ik,kj->ij"#, name = x"##, "ik,kj->ij", "name = x"),
        (r#""","#, "", ""),
    ];
    for (text, notation, options) in table {
        let spec = parse_invocation(text).expect(text);
        assert_eq!((spec.notation_text.as_str(), spec.options_text.as_str()), (notation, options));
        let start = spec.places.of_notation(0).unwrap();
        assert_eq!(&text[start..start + notation.len()], notation);
        let start = spec.places.of_options(0);
        assert_eq!(&text[start..start + options.len()], options);
    }
}

#[test]
fn a_literal_goes_on_behind_a_line_break() {
    let text = "\"m[i] = mean(j) X[i,j]; \\\n        Y[i,j] = X[i,j] - m[i]\", tile = 64";
    let split = mage_einsum::spec::split_invocation(text).unwrap();
    assert_eq!(split.notation_text, "m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]");
    assert_eq!(split.options_text, "tile = 64");
}

#[test]
fn an_escape_shifts_places() {
    let mistake = first(parse_invocation(r#""ij\tjk->ik""#));
    assert_eq!((mistake.code, mistake.span.unwrap().start), (Code::BadChar, 2));
    let escaped = mage_einsum::spec::split_invocation(r#""i\'j""#).unwrap();
    assert_eq!(escaped.notation_text, "i'j");
    assert_eq!(escaped.places.of_notation(2), None);
}

#[test]
fn mistakes_of_the_invocation() {
    let table =
        ["", "ik,kj->ij", "\"ik", "r#\"ik\"", "\"ik\" tile = 64", "b\"ik\"", r#""i\u{6a}""#, "42"];
    for text in table {
        assert_eq!(first(parse_invocation(text)).code, Code::BadSpec, "{text}");
    }
}

#[test]
fn mistakes_of_notation_and_options_are_told_together() {
    let found = codes(parse_invocation("\"i1->i\", tile = 0"));
    assert_eq!(found, [(Code::BadChar, Some(1)), (Code::BadTile, Some(7))]);
}

#[test]
fn a_spec_file() {
    let text = "\
# The matmul that everything is
# explained by.
\"ik,kj->ij\",
    tile = 64

# Edges of the tile.
run: i=65 j=63 k=66
run: i=1 j=1 k=0
";
    let file = parse_file(text).unwrap();
    assert_eq!(file.about, "The matmul that everything is\nexplained by.");
    assert_eq!(file.spec.options.print(), "tile = 64");
    let runs: Vec<Vec<u64>> = file.runs.iter().map(|run| run.values().copied().collect()).collect();
    assert_eq!(runs, [[65, 63, 66], [1, 1, 0]]);
}

#[test]
fn mistakes_of_spec_files() {
    let table = [
        ("\"i->i\"\nrun: i\n", "line 2"),
        ("\"i->i\"\nrun: i=-1\n", "line 2"),
        ("\"i->i\"\nrun: i=1 i=2\n", "line 2"),
        ("\"i->i\"\n\nrun: i=1\ntile = 64\n", "line 4"),
    ];
    for (text, place) in table {
        let mistake = first(parse_file(text));
        assert_eq!((mistake.code, mistake.place.unwrap().as_str()), (Code::BadSpec, place));
    }
}

#[test]
fn extents_of_a_run_that_cannot_be_read() {
    let table: [(&str, &[(&str, usize)]); 9] = [
        ("i=3,k=4", &[("`3,k=4` is not the extent of label `i`", 0)]),
        ("k=1 i = 3 j=2", &[("`i = 3` is not the extent of a label", 4)]),
        ("3 4 5", &[("`3 4 5` is not the extent of a label", 0)]),
        ("i:3", &[("`i:3` is not the extent of a label", 0)]),
        ("ü=3", &[("`ü=3` is not the extent of a label", 0)]),
        ("i=", &[("the extent of label `i` is missing", 0)]),
        ("i=1e3", &[("the extent of label `i` is `1e3`, which is no whole number", 0)]),
        (
            "i=-1 j=1_000",
            &[
                ("the extent of label `i` is `-1`, which is no whole number", 0),
                ("the extent of label `j` is `1_000`, which is no whole number", 5),
            ],
        ),
        (
            "x i=99999999999999999999 y",
            &[
                ("`x` is not the extent of a label", 0),
                ("label `i` is 99999999999999999999, the limit is below 2^32", 2),
                ("`y` is not the extent of a label", 25),
            ],
        ),
    ];
    for (text, expected) in table {
        let mistakes = parse_run(text).unwrap_err().0;
        let found: Vec<(&str, usize)> =
            mistakes.iter().map(|m| (m.message.as_str(), m.span.unwrap().start)).collect();
        assert_eq!(found, expected, "`{text}`");
    }
}

#[test]
fn an_invocation_that_cannot_be_taken_apart_has_a_place() {
    let table = [
        ("matmul, tile = 64", 0),
        ("  64", 2),
        ("\"ik,kj->ij", 1),
        ("\"ik\\q\"", 3),
        ("\"ik,kj->ij\" tile = 64", 12),
    ];
    for (text, start) in table {
        let mistake = first(parse_invocation(text));
        assert_eq!((mistake.code, mistake.source), (Code::BadSpec, Source::Invocation), "{text}");
        assert_eq!(mistake.span.unwrap().start, start, "{text}");
        assert_eq!(mistake.place.unwrap(), format!("byte {start}"), "{text}");
    }
}
