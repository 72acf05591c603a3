//! How a mistake looks, and that the table of codes is in order.

mod support;

use mage_einsum::diagnostic::{Code, Diagnostic, Span, render};
use mage_einsum::{notation, options};
use support::first;

fn rendered(text: &str) -> String {
    render(&first(notation::parse(text)), text, "")
}

#[test]
fn a_mistake_with_a_note() {
    let expected = "\
error[M0003]: there is a second `->`
 --> output
  |
  | ij,jk->ik->i
  |          ^^
  |      -- the first stands here
help: keep one `->`, before the output
";
    assert_eq!(rendered("ij,jk->ik->i"), expected);
}

#[test]
fn columns_of_wide_characters() {
    let expected = "\
error[M0001]: `é` is not part of einsum notation
 --> byte 3
  |
  | 積é,j->j
  | ^^
";
    let wide = rendered("積é,j->j");
    assert!(wide.contains("  | 積é,j->j\n  | ^^^\n"), "{wide}");
    let mistake = Diagnostic::new(Code::BadChar, "`é` is not part of einsum notation")
        .at(Span::new(0, 3))
        .place("byte 3");
    assert_eq!(render(&mistake, "積é,j->j", ""), expected);
}

#[test]
fn the_line_of_a_text_with_several() {
    let text = "name = matmul,\n    tile = 0";
    let shown = render(&first(options::parse(text)), "", text);
    assert!(shown.contains("  |     tile = 0\n  |            ^\n"), "{shown}");
}

#[test]
fn control_characters_and_wrong_spans_are_harmless() {
    assert!(rendered("i\tj->ij").contains("  | i j->ij\n  |  ^\n"));
    assert!(rendered("ij\n->ij").contains("  | ij\n  |   ^\n"));
    let stray = Diagnostic::new(Code::BadChar, "stray").at(Span::new(1, 99));
    assert!(render(&stray, "é", "").contains("  | é\n  | ^\n"));
}

#[test]
fn codes_are_numbered_in_order() {
    let numbers: Vec<&str> = Code::ALL.iter().map(|code| code.number()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert_eq!((Code::ALL[0].name(), Code::ALL[0].number()), ("BadChar", "M0001"));
    assert!(Code::ALL.iter().all(|code| code.summary().ends_with('.')));
}
