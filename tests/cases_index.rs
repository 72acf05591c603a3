//! Which test covers which case. The cases are numbered by section: A strings, B contractions,
//! C repeated labels, D scalars and labels that stand once, E zero extents, F extents and ranks,
//! G tile edges, H strides and memory, I values that are not finite, J precision, K integers,
//! L index widths and launch limits, M the macro. Every id of the table names a test that there is.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use std::collections::BTreeSet;
use std::path::Path;

/// Ids that begin a line of the table, perhaps with a letter after them.
const TABLE: (&str, &str) = (
    "mage-einsum/tests/cases.txt",
    "B1 B2 B3 B4 B6 B7 B8 B9 B10 B11 B13 B14 B15 B16 B17 B18 B19 B20 B21 B22 B23 B24 B25 B26 \
     C1 C2 C3 C4 C5 C6 C7 C8 C9 C10 C14 C15 C16 D3 D4 D5 D7 E1 E2 E3 E4 E5 E6 E9 \
     G1 G2 G3 G4 G5 G6 G7 G8 G9 G10 G11 G12 G13 G14 G15 G16 G19 G20 H7 J4",
);

/// Ids, and the test that covers them.
const TESTS: [(&str, &str, &str); 47] = [
    ("A1 A2 A4 A5 A6 A7 A8", "mage-einsum/tests/notation.rs", "legal_texts_and_their_statements"),
    ("A3", "mage-einsum/tests/notation.rs", "an_ellipsis_is_tokenised_and_then_refused"),
    (
        "A9 A10 A11 A12 A13 A14 A15 A17 A18 A19 A21 A22",
        "mage-einsum/tests/notation.rs",
        "mistakes_of_the_classic_form",
    ),
    ("A23 A24", "mage-einsum/tests/binding.rs", "mistakes_of_shapes"),
    ("A25", "mage-einsum/tests/notation.rs", "fifty_two_operands"),
    ("C17", "mage-einsum/tests/oracle.rs", "values_that_are_not_finite"),
    ("C17 I4 I5", "tests/cases.rs", "values_that_are_not_finite"),
    ("D1 D2", "mage-einsum/tests/oracle.rs", "scalars"),
    ("D1 D2", "tests/cases.rs", "scalars"),
    ("D6", "tests/macro.rs", "a_label_that_stands_once_is_summed"),
    ("E1 E2", "tests/standin/macro_user/tests/launch.rs", "zero_extents"),
    ("F1 F2 F5 F6 F7", "mage-einsum/tests/binding.rs", "mistakes_of_shapes"),
    ("F8", "tests/standin/macro_user/tests/launch.rs", "a_refusal_writes_nothing"),
    ("G1 G2 G3 G4 G5 G6 G7 G8 G10 G11 G12", "tests/crosscheck.rs", "tile_edges"),
    ("G13 G14 G15 G16 G20", "tests/crosscheck.rs", "tile_edges"),
    ("G9", "tests/crosscheck.rs", "a_thousand_each_way"),
    ("G19", "tests/cases.rs", "every_line_of_the_table"),
    ("G21", "tests/tiles.rs", "tiles_of_any_extent_are_right"),
    ("G21", "tests/tiles.rs", "tiles_that_do_not_fit_are_refused"),
    ("H1 H2", "mage-einsum/tests/oracle.rs", "a_permuted_view_is_read_in_place"),
    ("H3", "mage-einsum/tests/oracle.rs", "a_stride_of_zero_repeats_an_operand"),
    ("H5", "mage-einsum/tests/oracle.rs", "negative_strides"),
    ("H6", "mage-einsum/tests/oracle.rs", "overlapping_windows"),
    ("H8", "tests/standin/macro_user/tests/launch.rs", "zero_extents"),
    ("H9 K4", "tests/standin/macro_user/src/lib.rs", "square"),
    ("H10", "mage-einsum/tests/oracle.rs", "one_operand_twice"),
    ("I2 I3", "tests/crosscheck.rs", "non_finite_values_stay_local"),
    ("J1 J4", "tests/crosscheck.rs", "thirteen_significant_bits_survive"),
    ("J2 J6 J9 J10", "tests/cases.rs", "precision_of_f32"),
    ("J8", "tests/cases.rs", "halves_are_accumulated_in_f32"),
    ("J7", "tests/crosscheck.rs", "every_spec_at_its_extents"),
    ("J7", "mage-einsum/tests/tolerance.rs", "f32_sums_pass_and_rounded_operands_fail"),
    ("J11", "tests/cases.rs", "two_runs_give_the_same_bits"),
    ("J11", "tests/standin/macro_user/tests/launch.rs", "two_launches_give_the_same_bits"),
    ("J12", "mage-einsum/src/oracle/number.rs", "what_f64_loses_is_kept"),
    ("K1 K2 K3", "mage-einsum/tests/diagnostics.rs", "explanations_show_the_mistake_and_its_mend"),
    ("L2", "tests/cases.rs", "offsets_are_widened_before_they_are_multiplied"),
    ("L4", "tests/cases.rs", "grids_beyond_65535_blocks"),
    ("L5", "mage-einsum/tests/binding.rs", "mistakes_of_named_extents"),
    ("M1 M3 M5", "tests/macro.rs", "emulate_agrees_with_reference"),
    ("M2", "tests/macro.rs", "names_in_scope_mean_what_they_meant"),
    ("M4", "tests/ui.rs", "mistakes_are_compile_errors"),
    ("M7", "tests/levels.rs", "every_level_of_every_spec"),
    ("M7", "tests/crosscheck.rs", "every_spec_at_its_extents"),
    ("M8", "tests/verdict.rs", "macro_and_library_agree"),
    ("M9", "mage-einsum/tests/fixtures.rs", "the_oracle_equals_numpy"),
    ("M9", "tests/fixtures.rs", "kernels_equal_numpy"),
];

/// Cases without a test here, each with the reason.
const WITHOUT: [(&str, &str); 1] = [("L6", "it needs 4 GiB on a device")];

/// How many cases each section has.
const SECTIONS: [(char, usize); 13] = [
    ('A', 23),
    ('B', 24),
    ('C', 14),
    ('D', 7),
    ('E', 7),
    ('F', 6),
    ('G', 19),
    ('H', 9),
    ('I', 4),
    ('J', 10),
    ('K', 4),
    ('L', 4),
    ('M', 8),
];

fn text(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(path).unwrap_or_default()
}

fn has_test(text: &str, name: &str) -> bool {
    text.contains(&format!("fn {name}("))
}

fn has_line(text: &str, id: &str) -> bool {
    text.lines().any(|line| {
        let first = line.split([' ', '|']).next().unwrap_or_default();
        first.trim_end_matches(char::is_alphabetic) == id
    })
}

#[test]
fn every_case_has_its_test() {
    let (file, ids) = TABLE;
    let table = text(file);
    let missing = ids.split_whitespace().filter(|id| !has_line(&table, id));
    let mut missing: Vec<String> = missing.map(|id| format!("{id} in {file}")).collect();
    for (ids, file, name) in TESTS {
        if !has_test(&text(file), name) {
            missing.push(format!("{ids}: `{name}` in {file}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));

    // The guard finds what is not there.
    assert!(!has_line(&table, "B99") && !has_line(&table, "B"));
    assert!(!has_test(&text("tests/cases.rs"), "scalar"));
}

#[test]
fn every_section_is_whole() {
    let listed = TESTS.iter().map(|(ids, ..)| *ids).chain([TABLE.1]);
    let covered: BTreeSet<&str> = listed.flat_map(str::split_whitespace).collect();
    for (id, reason) in WITHOUT {
        assert!(!covered.contains(id), "{id} has a test, so `{reason}` is no reason");
    }
    for (section, n_cases) in SECTIONS {
        let without = WITHOUT.iter().filter(|(id, _)| id.starts_with(section)).count();
        let n_covered = covered.iter().filter(|id| id.starts_with(section)).count();
        assert_eq!(n_covered + without, n_cases, "section {section}");
    }
}
