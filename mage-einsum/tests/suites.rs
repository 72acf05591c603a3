//! What numpy's own einsum tests hold and Mage refuses, with the code: what numpy refuses too, and
//! what it takes where the rules here are stricter. Those that Mage takes are in
//! `tests/fixtures/suites.txt`. Tests of numpy's arguments that have no counterpart (`out`, `order`,
//! `casting`, objects, lists of numbers for labels) are left out.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use mage_einsum::binding::Extents;
use mage_einsum::diagnostic::{Code, Diagnostic};
use mage_einsum::index::pairs;
use mage_einsum::options;
use support::{first, program_with};

/// The first mistake of a notation on operands of these shapes, whose ranks are known.
fn mistake(notation: &str, shapes: &[&[usize]]) -> Diagnostic {
    let ranks: Vec<String> = shapes.iter().map(|shape| shape.len().to_string()).collect();
    let options = if notation.contains("...") { ranks_option(&ranks) } else { String::new() };
    match program_with(notation, &options) {
        Err(mistakes) => mistakes.0.into_iter().next().unwrap(),
        Ok(program) => first(Extents::from_shapes(&program, shapes)),
    }
}

fn ranks_option(ranks: &[String]) -> String {
    format!("ranks = ({},)", ranks.join(", "))
}

type Refused<'t> = (&'t str, &'t [&'t [usize]], Code, &'t str);

fn check(table: &[Refused<'_>]) {
    for (notation, shapes, code, said) in table {
        let mistake = mistake(notation, shapes);
        assert_eq!(mistake.code, *code, "`{notation}` on {shapes:?}: {mistake}");
        assert!(mistake.message.contains(said), "`{notation}` on {shapes:?}: {mistake}");
        assert!(mistake.help.is_some(), "`{notation}`: {mistake}");
    }
}

#[test]
fn what_numpy_refuses_too() {
    use Code::{
        BadChar, BadEllipsis, DuplicateOutputLabel, ExtentMismatch, OperandCount, RankMismatch,
        UnknownOutputLabel,
    };
    check(&[
        ("", &[], OperandCount, "1 operand but 0 are given"),
        ("", &[&[], &[]], OperandCount, "1 operand but 2 are given"),
        (",", &[&[], &[1], &[1]], OperandCount, "2 operands but 3 are given"),
        (",", &[&[1]], OperandCount, "2 operands but 1 is given"),
        ("i", &[&[]], RankMismatch, "operand 0 has 1 label but rank 0"),
        ("ij", &[&[2]], RankMismatch, "operand 0 has 2 labels but rank 1"),
        ("...i", &[&[]], RankMismatch, "1 label beside `...` but rank 0"),
        ("i...j", &[&[2]], RankMismatch, "2 labels beside `...` but rank 1"),
        ("i...", &[&[]], RankMismatch, "1 label beside `...` but rank 0"),
        ("ij...", &[&[2]], RankMismatch, "2 labels beside `...` but rank 1"),
        ("i..", &[&[2]], BadEllipsis, "`..` is not an ellipsis"),
        (".i...", &[&[2]], BadEllipsis, "a dot is not an ellipsis"),
        ("j->..j", &[&[2]], BadEllipsis, "`..` is not an ellipsis"),
        ("j->.j...", &[&[2]], BadEllipsis, "a dot is not an ellipsis"),
        ("i%...", &[&[2]], BadChar, "`%`"),
        ("...j$", &[&[2]], BadChar, "`$`"),
        ("i->&", &[&[2]], BadChar, "`&`"),
        ("i->ij", &[&[2]], UnknownOutputLabel, "`j`"),
        ("ij->jij", &[&[2, 2]], DuplicateOutputLabel, "`j`"),
        ("ii", &[&[2, 3]], ExtentMismatch, "label `i` is both 2 and 3 in operand 0"),
        ("ii->i", &[&[2, 3]], ExtentMismatch, "label `i` is both 2 and 3 in operand 0"),
        ("aabcb,abc", &[&[3, 3, 4, 5, 6], &[3, 4, 5]], ExtentMismatch, "label `b`"),
        ("i", &[&[2, 3]], RankMismatch, "operand 0 has 1 label but rank 2"),
        ("i->i", &[&[2, 2]], RankMismatch, "operand 0 has 1 label but rank 2"),
        ("i->i", &[&[6, 1]], RankMismatch, "operand 0 has 1 label but rank 2"),
    ]);
}

/// numpy repeats an operand along an extent of 1; here one label has one extent (rule R9).
#[test]
fn broadcasting_of_extents_of_one() {
    use Code::ExtentMismatch;
    check(&[
        ("ij,ij->j", &[&[10, 2], &[1, 2]], ExtentMismatch, "label `i` is 10 in operand 0 but 1"),
        ("i, i", &[&[2], &[1]], ExtentMismatch, "label `i` is 2 in operand 0 but 1"),
        ("...ij,...jk->...ik", &[&[1, 5], &[1, 5]], ExtentMismatch, "label `j` is 5"),
        ("ijk,kl,jl,i->i", &[&[1, 5, 4], &[4, 6], &[5, 6], &[10]], ExtentMismatch, "label `i`"),
        (
            "abjk,kl,jl,ab->ab",
            &[&[1, 1, 5, 4], &[4, 6], &[5, 6], &[7, 7]],
            ExtentMismatch,
            "label `a` is 1 in operand 0 but 7 in operand 3",
        ),
        ("ijp,ipq,ikq->ijk", &[&[3, 1, 1], &[3, 1, 3], &[1, 3, 3]], ExtentMismatch, "label `i`"),
        (
            "jhcabhijaci,dfijejgh->fgje",
            &[&[1, 1, 1, 1, 3, 1, 1, 1, 1, 1, 1], &[3, 1, 3, 1, 1, 1, 1, 2]],
            ExtentMismatch,
            "label `h` is 1 in operand 0 but 2 in operand 1",
        ),
        (
            "baegffahgc,hdggeff->dhg",
            &[&[2, 1, 4, 1, 1, 1, 1, 2, 1, 1], &[1, 1, 1, 1, 4, 1, 1]],
            ExtentMismatch,
            "label `h` is 2 in operand 0 but 1 in operand 1",
        ),
        (
            "cehgbaifff,fhhdegih->cdghbi",
            &[&[1; 10], &[2, 1, 1, 2, 4, 1, 1, 1]],
            ExtentMismatch,
            "label `e` is 1 in operand 0 but 4 in operand 1",
        ),
        (
            "gah,cdbcghefg->ef",
            &[&[2, 3, 1], &[1, 3, 1, 1, 1, 2, 1, 4, 1]],
            ExtentMismatch,
            "label `g` is 2 in operand 0 but 1 in operand 1",
        ),
        ("cacc,bcb->", &[&[1; 4], &[1, 4, 1]], ExtentMismatch, "label `c` is 1"),
    ]);
}

/// numpy sums the modes of an ellipsis that the output lacks; here that needs labels (rule R12).
#[test]
fn ellipses_that_the_output_lacks() {
    let cube: &[usize] = &[3, 3, 3];
    for notation in ["i...->i", "...i->i", "ij...->i", "ij...->ij", "...ij->i", "...ij->ij"] {
        check(&[(notation, &[cube], Code::EllipsisDropped, "is not in the output")]);
    }
    for notation in ["i...j->i", "i...j->ij"] {
        check(&[(notation, &[cube], Code::EllipsisDropped, "stands for 1 mode")]);
    }
    for notation in
        ["ij..., i...->i", "j..., i...->j", "j..., i...->", "ijk, jk...->", "ijk, k...->i"]
    {
        check(&[(notation, &[cube, cube], Code::EllipsisDropped, "is not in the output")]);
    }
}

/// numpy's paths may take one operand or several at a step; here a step takes two.
#[test]
fn paths() {
    for (notation, path, said) in [
        ("ab,bc,cd,de->ae", "((2, 3), (0, 1))", "has 2 steps but 4 operands take 3 steps"),
        ("a,a,a->a", "((1,), (0, 1))", "not a list of pairs"),
        ("cab,cdd->ab", "((1,), (0, 1))", "not a list of pairs"),
        ("a,b,c->abc", "((0, 1, 2),)", "not a list of pairs"),
    ] {
        let mistake = first(
            options::parse(&format!("path = {path}"))
                .and_then(|options| pairs(&program_with(notation, "").unwrap(), &options)),
        );
        assert_eq!(mistake.code, Code::BadOption, "`{notation}` {path}");
        assert!(mistake.message.contains(said), "`{notation}` {path}: {mistake}");
    }
}
