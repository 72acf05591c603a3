//! How a mistake looks, and that the table of codes is in order.

mod support;

use mage_einsum::diagnostic::{Code, Diagnostic, Span, render};
use mage_einsum::{index, notation, options, spec};
use support::first;

fn rendered(text: &str) -> String {
    render(&first(notation::parse(text)), text, "")
}

#[test]
fn a_mistake_with_a_note() {
    let expected = "\
error[M0003]: there is a second `->`
 --> byte 9
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
fn what_is_not_seen_takes_no_column_from_the_caret() {
    for unseen in ['\u{200b}', '\u{301}', '\u{feff}', '\u{ad}'] {
        let shown = rendered(&format!("ik{unseen},kj->ij"));
        assert!(shown.contains("  | ik ,kj->ij\n  |   ^\n"), "{shown}");
        assert!(shown.contains(&format!("`{}` is not part", unseen.escape_unicode())), "{shown}");
    }
    for seen in ["'", "\"", "\\"] {
        assert!(rendered(&format!("i{seen}->i")).contains(&format!(": `{seen}` is not part")));
    }
}

#[test]
fn codes_are_numbered_in_order() {
    let numbers: Vec<&str> = Code::ALL.iter().map(|code| code.number()).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    assert_eq!((Code::ALL[0].name(), Code::ALL[0].number()), ("BadChar", "M0001"));
    assert!(Code::ALL.iter().all(|code| code.summary().ends_with('.')));
}

/// The mistakes of an invocation through every step of this crate.
fn found(invocation: &str) -> Vec<Code> {
    let lowered = spec::parse_invocation(invocation)
        .and_then(|spec| index::lower(&spec.notation, &spec.options));
    let mistakes = lowered.map_or_else(|mistakes| mistakes.0, |_| Vec::new());
    mistakes.into_iter().map(|mistake| mistake.code).collect()
}

#[test]
fn explanations_show_the_mistake_and_its_mend() {
    for code in Code::ALL {
        let explanation = code.explanation();
        let after = |word: &str| {
            let lines = explanation.lines().filter_map(|line| line.strip_prefix(word));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let wrong = after("wrong: ");
        let right = after("right: ");
        assert_eq!(wrong.is_empty(), right.is_empty(), "{code:?}");
        for invocation in wrong {
            assert_eq!(found(&invocation)[0], *code, "{invocation}");
        }
        for invocation in right {
            assert_eq!(found(&invocation), [], "{invocation}");
        }
        assert!(explanation.len() > 100 && explanation.ends_with('\n'), "{code:?}");
        assert!(explanation.lines().all(|line| line.len() <= 100), "{code:?}");
        assert!(explanation.contains(". ") || explanation.contains(".\n"), "{code:?}");
    }
    let n_shown = Code::ALL.iter().filter(|code| code.explanation().contains("wrong: ")).count();
    assert!(n_shown >= 22, "{n_shown}");
}
