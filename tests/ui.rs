//! Mistakes in an invocation, one a file, and what a stable compiler shows for each.

#[test]
fn mistakes_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
