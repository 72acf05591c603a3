//! Extents of a run, from shapes and from named numbers: every mismatch names the label, both
//! extents and both operands.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::{Code, Diagnostics};
use mage_einsum::index::{TensorId, merge};
use support::{first, program, program_with};

fn by_shapes(notation: &str, shapes: &[&[usize]]) -> Result<Extents, Diagnostics> {
    Extents::from_shapes(&program(notation), shapes)
}

fn by_pairs(notation: &str, options: &str, pairs: &str) -> Result<Extents, Diagnostics> {
    let pairs: Vec<(String, u64)> = pairs
        .split_whitespace()
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(label, extent)| (label.to_owned(), extent.parse().unwrap()))
        .collect();
    Extents::from_pairs(&program_with(notation, options).unwrap(), &pairs)
}

#[test]
fn mistakes_of_shapes() {
    use Code::{ExtentMismatch, OperandCount, RankMismatch, SizeOverflow};
    let table: [(&str, &[&[usize]], Code, &str); 19] = [
        (
            "ik,kj->ij",
            &[&[2, 3], &[4, 5]],
            ExtentMismatch,
            "label `k` is 3 in operand 0 but 4 in operand 1",
        ),
        (
            "aabcb,abc",
            &[&[3, 3, 4, 5, 6], &[3, 4, 5]],
            ExtentMismatch,
            "label `b` is both 4 and 6 in operand 0",
        ),
        (
            "ij,ij,ij->",
            &[&[2, 3], &[2, 3], &[2, 4]],
            ExtentMismatch,
            "label `j` is 3 in operand 0 but 4 in operand 2",
        ),
        (
            "ij,ij->",
            &[&[2, 3], &[1, 3]],
            ExtentMismatch,
            "label `i` is 2 in operand 0 but 1 in operand 1",
        ),
        (
            "O[i,j] = A[i,j] * A[j,i]",
            &[&[2, 3]],
            ExtentMismatch,
            "label `i` is both 2 and 3 in operand 0",
        ),
        ("ijk->ijk", &[&[2, 3]], RankMismatch, "operand 0 has 3 labels but rank 2"),
        ("i->i", &[&[2, 3]], RankMismatch, "operand 0 has 1 label but rank 2"),
        ("i", &[&[]], RankMismatch, "operand 0 has 1 label but rank 0"),
        ("", &[&[3]], RankMismatch, "operand 0 has 0 labels but rank 1"),
        (
            "batch i,i j->batch j",
            &[&[2, 3], &[3, 4]],
            RankMismatch,
            "operand 0 has 6 labels but rank 2",
        ),
        (
            "ij,jk,->ik",
            &[&[2, 3], &[3, 4]],
            OperandCount,
            "the notation has 3 operands but 2 are given",
        ),
        (
            ",ij,jk->ik",
            &[&[2, 3], &[3, 4]],
            OperandCount,
            "the notation has 3 operands but 2 are given",
        ),
        (
            "ij jk->ik",
            &[&[2, 3], &[3, 4]],
            OperandCount,
            "the notation has 1 operand but 2 are given",
        ),
        ("ij->ij", &[&[2, 3], &[3, 4]], OperandCount, "the notation has 1 operand but 2 are given"),
        ("ij,jk->ik", &[&[2, 3]], OperandCount, "the notation has 2 operands but 1 is given"),
        (
            "ij,jk->ik",
            &[&[2, 3], &[3, 4], &[4, 5]],
            OperandCount,
            "the notation has 2 operands but 3 are given",
        ),
        ("", &[], OperandCount, "the notation has 1 operand but 0 are given"),
        (
            "ij->i",
            &[&[1 << 33, 0]],
            SizeOverflow,
            "label `i` is 8589934592, the limit is below 2^32",
        ),
        (
            "ij,kl->",
            &[&[1 << 31, 1 << 31], &[0, 1]],
            SizeOverflow,
            "tensor `A` has i*j = 2147483648*2147483648 elements of 4 bytes, the limit is below 2^63 \
             bytes",
        ),
    ];
    for (notation, shapes, code, message) in table {
        let mistake = first(by_shapes(notation, shapes));
        assert_eq!((mistake.code, mistake.message.as_str()), (code, message), "{notation}");
    }
}

#[test]
fn a_word_in_a_term_is_hinted_at() {
    let table = [("batch i,i j->batch j", true), ("abcd->a", true), ("ab cd->a", false)];
    for (notation, is_word) in table {
        let shapes: [&[usize]; 2] = [&[2, 3], &[3, 4]];
        let n_operands = program(notation).tensors.len() - 1;
        let help = first(by_shapes(notation, &shapes[..n_operands])).help.unwrap();
        assert_eq!(help.contains("labels are single letters"), is_word, "{notation}: {help}");
    }
}

#[test]
fn mistakes_of_named_extents() {
    let table = [
        ("ik,kj->ij", "", "i=1 j=2", Code::UnboundExtent, "label `k` has no extent"),
        (
            "i->i",
            "",
            "i=1 x=2",
            Code::UnboundExtent,
            "an extent is given for `x`, which is no label",
        ),
        (
            "i->i",
            "extents = (i = 3)",
            "i=4",
            Code::ExtentMismatch,
            "label `i` is 3 in the option `extents` but 4 as given",
        ),
        (
            "O[i,j] = A[i] * A[j]",
            "",
            "i=3 j=4",
            Code::ExtentMismatch,
            "label `i` is 3 but label `j` is 4, and both index dimension 0 of `A`",
        ),
        (
            "i,j->ij",
            "",
            "i=8589934592 j=8589934592",
            Code::SizeOverflow,
            "label `i` is 8589934592, the limit is below 2^32",
        ),
        (
            "i,j->ij",
            "",
            "i=4294967295 j=4294967295",
            Code::SizeOverflow,
            "tensor `out` has i*j = 4294967295*4294967295 elements of 4 bytes, the limit is below \
             2^63 bytes",
        ),
        (
            "i,j,k->",
            "",
            "i=4294967295 j=4294967295 k=4294967295",
            Code::SizeOverflow,
            "the sum has i*j*k = 4294967295*4294967295*4294967295 terms, the limit is below 2^64",
        ),
    ];
    for (notation, options, pairs, code, message) in table {
        let mistake = first(by_pairs(notation, options, pairs));
        assert_eq!((mistake.code, mistake.message.as_str()), (code, message), "{notation}");
    }
}

#[test]
fn help_with_named_extents() {
    let table = [
        ("ik,kj->ij", "i=1", "give each its extent, as in `k=64 j=64`"),
        ("ik,kj->ij", "I=1 k=2 j=3", "labels are case-sensitive: write `i` for `I`"),
        ("ij->", "i=1 j=1 x=2", "remove `x`; the labels are: i, j"),
        ("->", "x=2", "remove `x`; the notation has no labels"),
    ];
    for (notation, pairs, help) in table {
        let Diagnostics(mistakes) = by_pairs(notation, "", pairs).unwrap_err();
        let [mistake] = mistakes.as_slice() else { unreachable!("{mistakes:?}") };
        assert_eq!(mistake.help.as_deref(), Some(help), "{notation} {pairs}");
    }
    let mistake = first(by_shapes("ij jk->ik", &[&[2, 3], &[3, 4]]));
    assert_eq!(mistake.help.as_deref(), Some("separate operands by commas; spaces mean nothing"));
}

#[test]
fn fixed_extents_are_filled_in() {
    let extents = by_pairs("ik,kj->ij", "extents = (k = 7)", "i=2 j=0").unwrap();
    assert_eq!(extents.iter().collect::<Vec<_>>(), [("i", 2), ("j", 0), ("k", 7)]);
    let program = program_with("ik->i", "extents = (k = 7)").unwrap();
    let mistake = first(Extents::from_shapes(&program, &[&[2, 8]]));
    assert_eq!(mistake.message, "label `k` is 7 in the option `extents` but 8 in operand 0");
}

#[test]
fn a_merged_program_binds_the_same_labels() {
    let program = merge(&program("abcd,cdef->abef"));
    let extents = Extents::from_shapes(&program, &[&[2, 3, 4, 5], &[4, 5, 6, 7]]).unwrap();
    assert_eq!(extents.get("d"), Some(5));
    assert_eq!(extents.get("x"), None);
    assert_eq!(extents.of_mode(&program.modes[0]), 6);
    assert_eq!(extents.shape(&program, TensorId(1)), [20, 42]);
}

#[test]
fn every_contradicted_label_is_told_once() {
    let outcome = by_shapes("ij,ij,ij->", &[&[2, 3], &[4, 5], &[6, 7]]);
    let messages: Vec<String> = outcome.unwrap_err().0.into_iter().map(|m| m.message).collect();
    assert_eq!(
        messages,
        [
            "label `i` is 2 in operand 0 but 4 in operand 1",
            "label `j` is 3 in operand 0 but 5 in operand 1",
        ]
    );
}
