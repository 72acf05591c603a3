//! The notation: what is legal, what it means, and for each mistake its code and its byte.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use mage_einsum::diagnostic::{Code, Diagnostics};
use mage_einsum::index::print_statement;
use mage_einsum::notation::{parse, print};
use support::{codes, first, program, program_with};

fn statement(notation: &str) -> String {
    print_statement(&program(notation))
}

#[test]
fn legal_texts_and_their_statements() {
    let matmul = "out[i,j] = sum(k) A[i,k] * B[k,j]";
    let table = [
        ("ik,kj->ij", matmul),
        (" i k , k j -> i j ", matmul),
        ("ij,jh", "out[h,i] = sum(j) A[i,j] * B[j,h]"),
        ("bA,AZ", "out[Z,b] = sum(A) A[b,A] * B[A,Z]"),
        ("ziiA,bj,j", "out[A,b,z] = sum(i,j) A[z,i,i,A] * B[b,j] * C[j]"),
        ("", "out[] = A[]"),
        (" ", "out[] = A[]"),
        ("->", "out[] = A[]"),
        (" -> ", "out[] = A[]"),
        (",", "out[] = A[] * B[]"),
        (" , -> ", "out[] = A[] * B[]"),
        (" , , ", "out[] = A[] * B[] * C[]"),
        ("ij,,jk->ik", "out[i,k] = sum(j) A[i,j] * B[] * C[j,k]"),
        ("i,->i", "out[i] = A[i] * B[]"),
        ("O[]=sum(i)A[i]", "O[] = sum(i) A[i]"),
        (
            " C [ row , col ] = sum( k ) A[row,k]*B[k,col] ; ",
            "C[row,col] = sum(k) A[row,k] * B[k,col]",
        ),
        ("O[i] = sum(j,k) A[i,j,k] * s[]", "O[i] = sum(j,k) A[i,j,k] * s[]"),
        ("y[i] = sum[i]", "y[i] = sum[i]"),
    ];
    for (notation, expected) in table {
        assert_eq!(statement(notation), expected, "`{notation}`");
    }
}

#[test]
fn mistakes_of_the_classic_form() {
    use Code::{
        BadChar, BadEllipsis, CommaInOutput, DuplicateOutputLabel, SecondArrow, UnknownOutputLabel,
    };
    let table = [
        ("ij,jk - > ik", BadChar, 6),
        ("i . . . -> i", BadEllipsis, 2),
        ("..i->i", BadEllipsis, 0),
        (".i...", BadEllipsis, 0),
        ("j->..j", BadEllipsis, 3),
        ("j->.j...", BadEllipsis, 3),
        ("....i->i", BadEllipsis, 3),
        ("...a...", BadEllipsis, 4),
        ("...i->......", BadEllipsis, 9),
        ("ij,jk->ik->i", SecondArrow, 9),
        ("ij,jk->i,k", CommaInOutput, 8),
        ("ij,jk=>ik", BadChar, 5),
        ("ij,jk>ik", BadChar, 5),
        ("ij,jk-ik", BadChar, 5),
        ("ij,jk=ik", BadChar, 5),
        ("ij;jk->ik", BadChar, 2),
        ("i%...", BadChar, 1),
        ("...j$", BadChar, 4),
        ("i->&", BadChar, 3),
        ("ij,jk->ik!!!", BadChar, 9),
        ("ij,jk->ik,", CommaInOutput, 9),
        ("ij,jk-> i k ;", BadChar, 12),
        ("i\tj->ij", BadChar, 1),
        ("ij\n->ij", BadChar, 2),
        ("i\u{a0}j->ij", BadChar, 1),
        ("ik,kj→ij", BadChar, 5),
        ("ik,kj->ié", BadChar, 8),
        ("i1,1j->ij", BadChar, 1),
        ("i_->i", BadChar, 1),
        ("(ij),j->i", BadChar, 0),
        ("i 1->i", BadChar, 2),
        ("i->ii", DuplicateOutputLabel, 4),
        ("ij->jij", DuplicateOutputLabel, 6),
        ("i->ij", UnknownOutputLabel, 4),
        ("->i", UnknownOutputLabel, 2),
        ("iJ->ij", UnknownOutputLabel, 5),
    ];
    for (notation, code, start) in table {
        let mistake = first(parse(notation));
        assert_eq!((mistake.code, mistake.span.unwrap().start), (code, start), "`{notation}`");
        assert!(mistake.place.is_some() && mistake.help.is_some(), "`{notation}`");
    }
}

#[test]
fn mistakes_of_the_index_form() {
    let table = [
        ("C[i,j] = A[i,k] * B[k,j]", Code::UnboundMode, 13),
        ("C[i] = sum(k,k) A[i,k]", Code::BadReduction, 13),
        ("C[i] = sum(i) A[i]", Code::BadReduction, 11),
        ("C[i] = sum(k) A[i]", Code::BadReduction, 11),
        ("C[i,i] = A[i]", Code::DuplicateOutputLabel, 4),
        ("C[i,j] = A[i]", Code::UnknownOutputLabel, 4),
        ("C[i] = A[i] * C[i]", Code::SelfReference, 14),
        ("C[i] = A[i] * A[i,i]", Code::RankMismatch, 14),
        ("C[i] = A[i", Code::Expected, 10),
        ("C[i,] = A[i]", Code::Expected, 4),
        ("C[i] A[i]", Code::Expected, 5),
        ("C[i] = sum() A[i]", Code::Expected, 11),
        ("C[i] = A[i] B[i]", Code::Expected, 12),
        ("C[i,_] = A[i,_]", Code::Expected, 4),
        ("C[i] = _[i]", Code::Expected, 7),
        ("C[i] = A[i]\n", Code::BadChar, 11),
        ("C[i] = A[é]", Code::BadChar, 9),
        ("Y[i] = gelu(X[i])", Code::UnknownFunction, 7),
        ("Y[i] = exp(X[i], b[i])", Code::Expected, 15),
        ("Y[i] = max(X[i])", Code::Expected, 15),
        ("Y[i] = X[i]^1.5", Code::StatementUnsupported, 12),
        ("Y[i] = X[i]^0", Code::StatementUnsupported, 12),
        ("Y[i] = X[i]^j[i]", Code::Expected, 12),
        ("Y[i] = 1e999 * X[i]", Code::StatementUnsupported, 7),
        ("Y[i] = (X[i] + b[i]", Code::Expected, 19),
        ("Y[i] = X[i] +", Code::Expected, 13),
        ("Y[i] = sum(j) sum(j) X[i,j]", Code::BadReduction, 18),
        ("Y[i] = X[i] + sum(i) X[i]", Code::BadReduction, 18),
        ("Y[i] = X[i,j] * sum(j) X[i,j]", Code::UnboundMode, 11),
        ("Y[i] = sum(e in p[i]..p[i]) w[e]", Code::Expected, 25),
        ("Y[i] = sum(e in p[i]..q[i+1]) w[e]", Code::StatementUnsupported, 16),
        ("Y[i] = sum(e in p[i]..p[i+2]) w[e]", Code::StatementUnsupported, 16),
        ("Y[i] = sum(e in p[k]..p[k+1]) w[e] * X[i]", Code::UnboundMode, 18),
        ("Y[i] = X[s[t[i]]]", Code::Expected, 12),
        ("m[i] = X[i]; m[i] = X[i]", Code::StatementOrder, 13),
        ("Y[i] = m[i]; m[i] = X[i]", Code::StatementOrder, 7),
        ("m[i] = X[i]; Y[i,j] = m[i,j]", Code::RankMismatch, 22),
        ("Y[e] = s[e] * X[s[e]]", Code::IndexOperand, 16),
        ("Y[i] = X[i+1]", Code::StatementUnsupported, 10),
        ("Y[i] = X[2*i]", Code::StatementUnsupported, 9),
        ("Y[i,0] = X[i]", Code::StatementUnsupported, 4),
        ("Y[...] = X[...]", Code::EllipsisUnsupported, 2),
        ("Y(i) = X[i]", Code::Expected, 1),
        ("Y(i) = X(i)", Code::Expected, 1),
        ("ik,kj->ij[]", Code::Expected, 2),
        ("C[i] = Σ(k) A[i,k]", Code::BadChar, 7),
        ("Y[s[e]] = X[e]", Code::ScatterUnsupported, 2),
    ];
    for (notation, code, start) in table {
        assert_eq!(codes(parse(notation))[0], (code, Some(start)), "`{notation}`");
    }
}

#[test]
fn expressions_keep_their_meaning() {
    let table = [
        "Y[i,j] = gelu_tanh(X[i,j] + b[j])",
        "Y[i] = 2 * X[i] - (X[i] - 1) / (3 + X[i])",
        "Y[i] = X[i] - (b[i] - X[i])",
        "Y[i] = X[i] / (b[i] / X[i])",
        "Y[i] = X[i] * (b[i] * X[i])",
        "Y[i] = -X[i]^2 * -(X[i] + 1)",
        "Y[i] = (X[i] + b[i])^3 + X[i]^0.5 + X[i]^-2",
        "Y[i] = max(X[i], min(b[i], 0.25)) + 1e-5",
        "Y[i] = mean(j) X[i,j]",
        "Y[i] = sum(j) (X[i,j] - 1)^2",
        "Y[i] = (sum(j) X[i,j]) * (max(j) X[i,j] * 2) + 1",
        "Y[i] = (X[i] * sum(j) A[i,j]) / X[i]",
        "Y[i] = (-sum(j) A[i,j]) / X[i]",
        "Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]",
        "Y[e,f] = X[s[e],f] * X[t[e],f]",
    ];
    for text in table {
        let once = parse(text).unwrap();
        let printed = print(&once);
        assert_eq!(print(&parse(&printed).unwrap()), printed, "{text}");
        let meaning = print_statement(&program(text));
        assert_eq!(print_statement(&program(&printed)), meaning, "{text} is printed as {printed}");
    }
    assert_eq!(print(&parse("Y[ i ]=-X[i]^2*1E-5").unwrap()), "Y[i] = -X[i]^2 * 1e-5");
}

#[test]
fn reductions_within_expressions_get_temporaries() {
    let table = [
        (
            "Y[i,j] = gelu_tanh(sum(k) X[i,k] * W[k,j] + b[j])",
            "t0[i,j] = sum(k) X[i,k] * W[k,j]; Y[i,j] = gelu_tanh(t0[i,j] + b[j])",
        ),
        (
            "Y[i,j] = exp(X[i,j] - max(l) X[i,l]) / t0[j]",
            "t1[i] = max(l) X[i,l]; Y[i,j] = exp(X[i,j] - t1[i]) / t0[j]",
        ),
        (
            "Y[j] = sum(i) (sum(k) A[i,k] * B[j,k])^2",
            "t0[j,i] = sum(k) A[i,k] * B[j,k]; Y[j] = sum(i) t0[j,i]^2",
        ),
        (
            "Y[i] = 2 * sum(e in p[i]..p[i+1]) w[e]",
            "t0[i] = sum(e in p[i]..p[i+1]) w[e]; Y[i] = 2 * t0[i]",
        ),
        ("Y[i] = X[i]^-0.5 + X[i]^-1", "Y[i] = rsqrt(X[i]) + 1 / X[i]"),
        ("Y[i] = (A[i] * B[i]) * (C[i] * A[i])", "Y[i] = A[i] * B[i] * C[i] * A[i]"),
    ];
    for (notation, expected) in table {
        let got = statement(notation).replace("t0_", "t1");
        assert_eq!(got, expected, "{notation}");
    }
}

#[test]
fn a_result_that_nothing_reads_is_a_mistake() {
    let mistakes = codes(program_with("m[i] = sum(j) X[i,j]; Y[i] = B[i]", ""));
    assert_eq!(mistakes, [(Code::StatementOrder, Some(0))]);
    let deep = format!("Y[i] = {}X[i]{}", "(".repeat(70), ")".repeat(70));
    assert_eq!(first(parse(&deep)).code, Code::StatementUnsupported);
    let pointers = "Y[i] = sum(e in p[i]..p[i+1]) w[e] + sum(g in p[i]..p[i+1]) v[g]";
    assert_eq!(first(program_with(pointers, "")).code, Code::IndexOperand);
}

#[test]
fn all_mistakes_of_a_level_are_told() {
    use Code::{
        BadChar, BadEllipsis, BadReduction, DuplicateOutputLabel, SecondArrow, UnboundMode,
        UnknownOutputLabel,
    };
    let table: [(&str, &[(Code, usize)]); 11] = [
        ("i1,=j->i#", &[(BadChar, 1), (BadChar, 3)]),
        ("...i...->i->j", &[(SecondArrow, 10), (BadEllipsis, 4)]),
        // A label that is nowhere else is one mistake, however often it stands there.
        (
            "i->xxiyii",
            &[
                (UnknownOutputLabel, 3),
                (UnknownOutputLabel, 6),
                (DuplicateOutputLabel, 7),
                (DuplicateOutputLabel, 8),
            ],
        ),
        ("C[i] = sum(z,z) A[i]", &[(BadReduction, 11)]),
        ("C[i] = sum(k,k,k) A[i,k]", &[(BadReduction, 13)]),
        ("C[i] = sum(i,k,i) A[i,k]", &[(BadReduction, 11)]),
        // The sum has `k` in the other case, so `k` is not left out as well.
        ("C[i] = sum(K) A[i,k]", &[(BadReduction, 11)]),
        ("C[I] = sum(K) A[i,k]", &[(UnknownOutputLabel, 2), (BadReduction, 11)]),
        ("C[i] = A[i,j] * B[j,k]", &[(UnboundMode, 11), (UnboundMode, 20)]),
        ("ik;kj=>ij", &[(BadChar, 2), (BadChar, 5)]),
        ("ik,kj—>ij", &[(BadChar, 5)]),
    ];
    for (notation, expected) in table {
        let found: Vec<(Code, usize)> = codes(parse(notation))
            .into_iter()
            .map(|(code, start)| (code, start.unwrap()))
            .collect();
        assert_eq!(found, expected, "`{notation}`");
    }
}

#[test]
fn a_slip_that_is_made_again_is_a_note() {
    let table = [
        ("i1,1j->i#", vec![(3, "nor is `1`"), (8, "nor is `#`")]),
        ("(ij),j->i", vec![(3, "nor is `)`")]),
        ("i\tj\t", vec![(3, "nor is `\\t`")]),
        ("ij=>jk=>ik", vec![(6, "nor is `=>`")]),
        ("i - > j - > k", vec![(8, "this one too")]),
    ];
    for (notation, expected) in table {
        let Diagnostics(mistakes) = parse(notation).unwrap_err();
        let [mistake] = mistakes.as_slice() else { unreachable!("{mistakes:?}") };
        let notes: Vec<(usize, &str)> =
            mistake.notes.iter().map(|(span, said)| (span.start, said.as_str())).collect();
        assert_eq!(notes, expected, "`{notation}`");
    }
}

#[test]
fn help_shows_the_mended_text() {
    let table = [
        ("ik,kj→ij", "write `->`, as in `ik,kj->ij`"),
        ("ik,kj=>ij", "write `->`, as in `ik,kj->ij`"),
        ("ik,kj>ij", "write `->`, as in `ik,kj->ij`"),
        ("ik,kj - > ij", "write `->`, as in `ik,kj -> ij`"),
        ("ik,kj ⇒ ij", "write `->`, as in `ik,kj -> ij`"),
        ("iJ->ij", "labels are case-sensitive: write `J` for `j`, as in `iJ->iJ`"),
        (
            "C[Row] = sum(k) A[row,k]",
            "labels are case-sensitive: write `row` for `Row`, as in `C[row] = sum(k) A[row,k]`",
        ),
        ("ij,jk->i,k", "write the labels of the output without commas, as in `ij,jk->ik`"),
        ("ij,jk->ik,", "write the labels of the output without commas, as in `ij,jk->ik`"),
        ("..i->..i", "write `...`, as in `...i->...i`"),
        ("…i->…i", "write `...`, as in `...i->...i`"),
        ("ik,kj->ij.", "write `...`, or remove it"),
        ("ik,kj—>ij", "write `->`, as in `ik,kj->ij`"),
        ("ik,kj->>ij", "write `->`, as in `ik,kj->ij`"),
        ("ik,kj<-ij", "write `->`, as in `ik,kj->ij`"),
        ("ij<-ik,kj", "write `->`"),
        ("ik\t,kj\t->ij", "write an ASCII space, as in `ik ,kj ->ij`"),
        ("ik,\u{200b}kj->ij", "remove the unseen character, as in `ik,kj->ij`"),
        ("C[i] = Σ(k) A[i,k]", "write `sum`, as in `C[i] = sum(k) A[i,k]`"),
        (
            "m[] = sum(i) A[i];\nC[] = m[]",
            "end the line with `\\`, or write one line, as in `m[] = sum(i) A[i]; C[] = m[]`",
        ),
        ("C[i] = A[i] × B[i]", "write `*`, as in `C[i] = A[i] * B[i]`"),
        ("C[i] = sum(K) A[i,k]", "labels are case-sensitive: write `k` for `K`"),
        ("C[i] = A[i,j] * B[j,k]", "write `sum(j,k)` before the product"),
        ("C[i] = sum(j) A[i,j] * B[j,k]", "write `sum(j,k)` before the product"),
        (". . .i->i", "write `...`, as in `...i->i`"),
        // The mend would leave another mistake, so it is not shown.
        ("ik,kj=>iz", "write `->`"),
        ("ij,jk->i,z", "write the labels of the output without commas"),
    ];
    for (notation, help) in table {
        assert_eq!(first(parse(notation)).help.unwrap(), help, "`{notation}`");
    }
    let tab = first(parse("ik,\tkj->ij")).help.unwrap();
    assert!(tab.ends_with(", as in `ik, kj->ij`"), "{tab}");
}

#[test]
fn an_ellipsis_is_tokenised_and_then_refused() {
    for spaces in 0..16 {
        let space = |place: u32| if spaces >> place & 1 == 1 { " " } else { "" };
        let notation = format!("{}...a{}->{}...a{}", space(0), space(1), space(2), space(3));
        assert_eq!(print(&parse(&notation).unwrap()), "...a->...a");
        let mistake = first(program_with(&notation, ""));
        assert_eq!(mistake.code, Code::EllipsisUnsupported);
        assert_eq!(mistake.span.unwrap().start, notation.find("...").unwrap());
    }
}

#[test]
fn printing_and_reading_back_changes_nothing() {
    let table = [
        "",
        ",",
        "->",
        ",,->",
        "ik,kj->ij",
        "ij,jh",
        "...a,b...->...ab",
        "iji->j",
        "O[] = sum(i) A[i]",
        "C[row,col] = sum(k,l) A[row,k,l] * B[k,l,col] * s[]",
    ];
    for text in table {
        assert_eq!(print(&parse(text).unwrap()), text);
    }
}

#[test]
fn fifty_two_operands() {
    let letters: Vec<String> = ('a'..='z').chain('A'..='Z').map(String::from).collect();
    let program = program(&format!("{}->", letters.join(",")));
    let names: Vec<&str> = program.tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    assert_eq!(
        [names[0], names[25], names[26], names[51], names[52]],
        ["A", "Z", "A1", "Z1", "out"]
    );
    let one = support::array(&[1], &[1.0]);
    let evaluations = mage_einsum::oracle::evaluate(&program, &vec![one.view(); 52]).unwrap();
    assert_eq!(evaluations[0].values.iter().copied().collect::<Vec<_>>(), [1.0]);
}
