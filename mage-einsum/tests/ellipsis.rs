//! What `...` stands for where the ranks are known, and the mistakes it can make.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::Code;
use mage_einsum::index::{lower, print_statement};
use mage_einsum::notation::parse;
use mage_einsum::options::Options;
use mage_einsum::oracle::evaluate;
use support::{codes, filled, first, program, program_with};

#[test]
fn what_an_ellipsis_stands_for() {
    let table = [
        ("...ik,...kj->...ij", "(4, 4)", "out[e0,e1,i,j] = sum(k) A[e0,e1,i,k] * B[e0,e1,k,j]"),
        // Aligned at the right.
        ("...ik,...kj->...ij", "(4, 3)", "out[e0,e1,i,j] = sum(k) A[e0,e1,i,k] * B[e1,k,j]"),
        ("...ik,...kj->...ij", "(2, 3)", "out[e0,i,j] = sum(k) A[i,k] * B[e0,k,j]"),
        ("...ik,...kj->...ij", "(2, 2)", "out[i,j] = sum(k) A[i,k] * B[k,j]"),
        ("i...->i...", "3", "out[i,e0,e1] = A[i,e0,e1]"),
        ("i...k,k->...i", "(4, 1)", "out[e0,e1,i] = sum(k) A[i,e0,e1,k] * B[k]"),
        ("...,...->...", "(1, 0)", "out[e0] = A[e0] * B[]"),
        // Without an arrow the ellipsis leads, then the labels in order.
        ("b...a", "4", "out[e0,e1,a,b] = A[b,e0,e1,a]"),
        ("...ij,...jk", "(3, 2)", "out[e0,i,k] = sum(j) A[e0,i,j] * B[j,k]"),
        ("...ii->...i", "3", "out[e0,i] = A[e0,i,i]"),
        ("...i->i", "1", "out[i] = A[i]"),
        ("i->...i", "1", "out[i] = A[i]"),
        ("ik,kj->ij", "(2, 2)", "out[i,j] = sum(k) A[i,k] * B[k,j]"),
        ("C[i] = A[i] * A[i]", "1", "C[i] = A[i] * A[i]"),
    ];
    for (notation, ranks, expected) in table {
        let program = program_with(notation, &format!("ranks = {ranks}")).expect(notation);
        assert_eq!(print_statement(&program), expected, "{notation} {ranks}");
    }
}

#[test]
fn the_names_of_its_modes_are_labels_like_others() {
    let program = program_with("...i->...", "ranks = 3, extents = (e0 = 4)").unwrap();
    let pairs = [("e1".to_owned(), 5), ("i".to_owned(), 6)];
    let extents = Extents::from_pairs(&program, &pairs).unwrap();
    assert_eq!(extents.iter().collect::<Vec<_>>(), [("e0", 4), ("e1", 5), ("i", 6)]);
}

#[test]
fn mistakes() {
    let table = [
        ("...ik,...kj->...ij", "", Code::EllipsisUnsupported, Some(0)),
        ("...ik,...kj->ij", "ranks = (3, 2)", Code::EllipsisDropped, Some(13)),
        ("i...->", "ranks = 2", Code::EllipsisDropped, Some(6)),
        ("...ik,...kj->...ij", "ranks = 3", Code::OperandCount, Some(8)),
        ("...ik,...kj->...ij", "ranks = (3, 1)", Code::RankMismatch, Some(6)),
        ("...ik,kj->...ij", "ranks = (3, 3)", Code::RankMismatch, Some(8)),
        ("ik,kj->ij", "ranks = (3, 2)", Code::RankMismatch, Some(8)),
        ("ik,kj->ij", "ranks = (2, 2, 2)", Code::OperandCount, Some(8)),
        ("C[i] = A[i] * A[i]", "ranks = (1, 1)", Code::OperandCount, Some(8)),
    ];
    for (notation, options, code, start) in table {
        assert_eq!(codes(program_with(notation, options)), [(code, start)], "{notation} {options}");
    }
}

#[test]
fn a_word_beside_an_ellipsis_is_no_word() {
    let program = program_with("...i->...i", "ranks = 3").unwrap();
    let help = first(Extents::from_shapes(&program, &[&[2, 3]])).help.unwrap();
    assert_eq!(help, "write one label for each mode of the operand");
}

#[test]
fn values_from_the_ranks_of_arrays() {
    let (a, b) = (filled(&[2, 3, 4, 5], "H", 0), filled(&[3, 5, 2], "H", 1));
    let notation = parse("...ik,...kj->...ij").unwrap();
    let options = Options::default().with_ranks(&[a.ndim(), b.ndim()]);
    let dotted = lower(&notation, &options).unwrap();
    let operands = [a.view(), b.view()];
    let expected = evaluate(&program("abik,bkj->abij"), &operands).unwrap();
    assert_eq!(evaluate(&dotted, &operands).unwrap(), expected);
    // One extent a label, 1 included (rule R9).
    let narrow = filled(&[1, 5, 2], "H", 1);
    let mistake = first(evaluate(&dotted, &[a.view(), narrow.view()]));
    assert_eq!(mistake.message, "label `e1` is 3 in operand 0 but 1 in operand 1");
}
