//! Contraction paths: the statements along each, what the report says, that the values stay, and
//! that the chosen order has the fewest operations of all.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may")]

mod support;

use mage_einsum::diagnostic::{Code, Diagnostics};
use mage_einsum::index::{PathReport, Program, pairs, print, print_statement, verify};
use mage_einsum::options;
use mage_einsum::oracle::{evaluate, evaluate_by_tree};
use ndarray::ArrayD;
use support::{filled, first, program, program_with};

fn paired(notation: &str, text: &str) -> Result<(Program, PathReport), Diagnostics> {
    let program = program_with(notation, text)?;
    let (paired, report) = pairs(&program, &options::parse(text)?)?;
    assert_eq!(verify(&paired), Ok(()), "{notation}");
    assert!(paired.statements.iter().all(|s| s.factors().len() <= 2), "{notation}");
    Ok((paired, report))
}

fn statements(notation: &str, options: &str) -> String {
    print_statement(&paired(notation, options).expect(notation).0)
}

#[test]
fn statements_along_a_path() {
    let table = [
        ("ij->ji", "", "out[j,i] = A[i,j]"),
        ("ik,kj->ij", "", "out[i,j] = sum(k) A[i,k] * B[k,j]"),
        // Left to right, because extents are open.
        (
            "ij,jk,kl->il",
            "",
            "t0[i,k] = sum(j) A[i,j] * B[j,k]; out[i,l] = sum(k) t0[i,k] * C[k,l]",
        ),
        (
            "ij,jk,kl,lm->im",
            "",
            "t0[i,k] = sum(j) A[i,j] * B[j,k]; t1[i,l] = sum(k) t0[i,k] * C[k,l]; \
             out[i,m] = sum(l) t1[i,l] * D[l,m]",
        ),
        // Chosen: the second product first.
        (
            "ij,jk,kl->il",
            "extents = (i = 100, j = 100, k = 100, l = 2)",
            "t0[j,l] = sum(k) B[j,k] * C[k,l]; out[i,l] = sum(j) A[i,j] * t0[j,l]",
        ),
        // Given.
        (
            "ij,jk,kl->il",
            "path = ((2, 1), (1, 0))",
            "t0[j,l] = sum(k) B[j,k] * C[k,l]; out[i,l] = sum(j) A[i,j] * t0[j,l]",
        ),
        ("i,i,i->i", "", "t0[i] = A[i] * B[i]; out[i] = t0[i] * C[i]"),
        // Channels stay last.
        (
            "ikc,jkc,c->ijc",
            "",
            "t0[i,j,c] = sum(k) A[i,k,c] * B[j,k,c]; out[i,j,c] = t0[i,j,c] * C[c]",
        ),
        (
            "kjc,kic,c->ijc",
            "",
            "t0[j,i,c] = sum(k) A[k,j,c] * B[k,i,c]; out[i,j,c] = t0[j,i,c] * C[c]",
        ),
        ("ii,ij,j->", "", "t0[j] = sum(i) A[i,i] * B[i,j]; out[] = sum(j) t0[j] * C[j]"),
        // A name that is taken.
        ("o[i] = t0[i] * b[i] * c[i]", "", "t0_[i] = t0[i] * b[i]; o[i] = t0_[i] * c[i]"),
        // One tensor under several sets of modes.
        (
            "o[i,l] = sum(j,k) a[i,j] * a[j,k] * a[k,l]",
            "",
            "t0[i,k] = sum(j) a[i,j] * a[j,k]; o[i,l] = sum(k) t0[i,k] * a[k,l]",
        ),
    ];
    for (notation, options, expected) in table {
        assert_eq!(statements(notation, options), expected, "{notation}, {options}");
    }
}

#[test]
fn a_mode_of_one_factor_is_summed_where_that_is_cheaper() {
    let table = [
        // Every element of `A` would be multiplied for each `l`.
        ("ijk,jl->il", "", "t0[i,j] = sum(k) A[i,j,k]; out[i,l] = sum(j) t0[i,j] * B[j,l]"),
        ("obk,ijk->ioj", "", "t0[o,k] = sum(b) A[o,b,k]; out[i,o,j] = sum(k) t0[o,k] * B[i,j,k]"),
        ("ij,k->i", "", "t0[] = sum(k) B[k]; out[i] = sum(j) A[i,j] * t0[]"),
        ("i,j->", "", "t0[] = sum(i) A[i]; out[] = sum(j) t0[] * B[j]"),
        // One pass over `A` does it.
        ("ij,i->i", "", "out[i] = sum(j) A[i,j] * B[i]"),
        ("ij,i->", "", "out[] = sum(i,j) A[i,j] * B[i]"),
        ("ijk,jl->il", "extents = (l = 1)", "out[i,l] = sum(j,k) A[i,j,k] * B[j,l]"),
        ("ijk,jl->il", "extents = (k = 1)", "out[i,l] = sum(j,k) A[i,j,k] * B[j,l]"),
        (
            "aab,bc,cd->d",
            "",
            "t0[b] = sum(a) A[a,a,b]; t1[c] = sum(b) t0[b] * B[b,c]; out[d] = sum(c) t1[c] * C[c,d]",
        ),
    ];
    for (notation, options, expected) in table {
        assert_eq!(statements(notation, options), expected, "{notation}, {options}");
    }
}

#[test]
fn a_report() {
    let options = "extents = (i = 100, j = 100, k = 100, l = 2)";
    let (_, report) = paired("ij,jk,kl->il", options).unwrap();
    let expected = "\
path ((1, 2), (0, 1)), the order with the fewest operations of all

flops as written      6000000  3 * i * j * k * l
flops along the path  80000    2 * j * k * l + 2 * i * j * l
largest intermediate  200      j * l

step    elements  statement
(1, 2)  200       t0[j,l] = sum(k) B[j,k] * C[k,l]
(0, 1)  200       out[i,l] = sum(j) A[i,j] * t0[j,l]
";
    assert_eq!(report.print(|_| None), expected);
}

#[test]
fn a_report_without_extents_and_with_some() {
    let (_, report) = paired("ij,jk,kl->il", "").unwrap();
    assert_eq!(report.flops(|_| None), None);
    let told = report.print(|_| None);
    assert!(told.starts_with("path ((0, 1), (0, 1)), left to right"), "{told}");
    assert!(told.contains("2 * i * j * k + 2 * i * k * l"), "{told}");
    let four = |_: &str| Some(4);
    assert_eq!(report.naive_flops(four), Some(3 * 256));
    assert_eq!((report.flops(four), report.largest_intermediate(four)), (Some(256), Some(16)));
}

#[test]
fn several_statements_have_a_table_each() {
    let (paired, _) = paired("ij,jk,kl->il", "extents = (j = 3)").unwrap();
    let expected = "\
t0[i,k] = sum(j) A[i,j] * B[j,k]

mode  role        extent   stands in
i     free left   runtime  A.0 t0.0
j     contracted  3        A.1 B.0
k     free right  runtime  B.1 t0.1

out[i,l] = sum(k) t0[i,k] * C[k,l]

mode  role        extent   stands in
i     free left   runtime  t0.0 out.0
k     contracted  runtime  t0.1 C.0
l     free right  runtime  C.1 out.1
";
    assert_eq!(print(&paired), expected);
}

#[test]
fn mistakes_of_paths() {
    let table = [
        ("ij,jk,kl->il", "path = ((0, 1),)", "the path has 1 step but 3 operands take 2 steps"),
        ("ij,jk->ik", "path = ()", "the path has 0 steps but 2 operands take 1 step"),
        (
            "ij,jk,kl->il",
            "path = ((0, 1), (0, 2))",
            "step 1 of the path is (0, 2), but 2 operands are left then",
        ),
        (
            "ij,jk,kl->il",
            "path = ((1, 1), (0, 1))",
            "step 0 of the path is (1, 1), but 3 operands are left then",
        ),
        ("ij->i", "path = ((0, 1))", "the path has 1 step but 1 operand takes 0 steps"),
    ];
    for (notation, options, message) in table {
        let mistake = first(paired(notation, options));
        assert_eq!((mistake.code, mistake.message.as_str()), (Code::BadOption, message));
        assert_eq!(mistake.span.unwrap().start, 7);
    }
    assert_eq!(statements("ij->i", "path = ()"), "out[i] = sum(j) A[i,j]");
}

/// Operations of every order of pairs, by trying all.
fn fewest(terms: &[String], output: &str, extent: &impl Fn(char) -> u128) -> u128 {
    let mut best = if terms.len() == 1 { 0 } else { u128::MAX };
    for right in 1..terms.len() {
        for left in 0..right {
            let mut rest: Vec<String> = terms.to_vec();
            let (second, first) = (rest.remove(right), rest.remove(left));
            let needed: String = rest.concat() + output;
            let mut all: Vec<char> = (first + &second).chars().collect();
            all.sort_unstable();
            all.dedup();
            let kept: String = all.iter().filter(|c| needed.contains(**c)).collect();
            let sum = u128::from(kept.len() < all.len());
            let flops = (1 + sum) * all.iter().map(|c| extent(*c)).product::<u128>();
            rest.push(kept);
            best = best.min(flops + fewest(&rest, output, extent));
        }
    }
    best
}

#[test]
fn the_chosen_order_has_the_fewest_operations() {
    let specs = [
        "ij,jk,kl->il",
        "ij,jk,kl,lm->im",
        "ab,cd,bc,de->ae",
        "ea,fb,abcd,gc,hd->efgh",
        "ab,bc,ca,ad,bd->c",
    ];
    for (notation, seed) in
        specs.iter().flat_map(|notation| (0..12).map(move |seed| (notation, seed)))
    {
        let extent =
            |label: char| 2 + u128::from(mage_einsum::fill::hash_value(label as u32, seed) % 30);
        let (inputs, output) = notation.split_once("->").unwrap();
        let mut labels: Vec<char> = inputs.chars().filter(|c| *c != ',').collect();
        labels.sort_unstable();
        labels.dedup();
        let extents: Vec<String> = labels.iter().map(|l| format!("{l} = {}", extent(*l))).collect();
        let (_, report) = paired(notation, &format!("extents = ({})", extents.join(", "))).unwrap();
        let terms: Vec<String> = inputs.split(',').map(str::to_owned).collect();
        assert_eq!(
            report.flops(|_| None),
            Some(fewest(&terms, output, &extent)),
            "{notation} {seed}"
        );
    }
}

#[test]
fn many_operands_are_contracted_greedily() {
    let letters: Vec<String> = ('a'..='z').chain('A'..='Z').map(String::from).collect();
    let ones: Vec<String> = letters.iter().map(|letter| format!("{letter} = 1")).collect();
    let text = format!("extents = ({})", ones.join(", "));
    let (paired_program, report) = paired(&format!("{}->", letters.join(",")), &text).unwrap();
    assert_eq!(paired_program.statements.len(), 51);
    assert!(report.print(|_| None).contains("the smallest result first"));

    let chain: Vec<String> = letters.windows(2).take(8).map(|pair| pair.concat()).collect();
    let nines: Vec<String> = letters[..9].iter().map(|letter| format!("{letter} = 9")).collect();
    let text = format!("extents = ({})", nines.join(", "));
    let (_, report) = paired(&format!("{}->ai", chain.join(",")), &text).unwrap();
    assert_eq!(report.flops(|_| None), Some(7 * 2 * 729));
}

fn operands(shapes: &[&[usize]], fill: &str) -> Vec<ArrayD<f32>> {
    shapes.iter().zip(0..).map(|(shape, seed)| filled(shape, fill, seed)).collect()
}

#[test]
fn values_and_magnitudes_stay() {
    let table: [(&str, &[&[usize]]); 6] = [
        ("ij,jk,kl->il", &[&[3, 4], &[4, 5], &[5, 2]]),
        ("ea,fb,abcd,gc,hd->efgh", &[&[2, 3], &[3, 2], &[3, 2, 2, 3], &[2, 2], &[2, 3]]),
        ("fff,fae,bef,def->abd", &[&[2, 2, 2], &[2, 3, 2], &[2, 2, 2], &[3, 2, 2]]),
        ("dcc,fce,ea,dbf->ab", &[&[2, 3, 3], &[2, 3, 2], &[2, 3], &[2, 4, 2]]),
        ("obk,ijk->ioj", &[&[2, 4, 8], &[2, 4, 8]]),
        ("ij,jk,->ik", &[&[2, 0], &[0, 3], &[]]),
    ];
    for (notation, shapes) in table {
        let (program, (paired, _)) = (program(notation), paired(notation, "").unwrap());
        let operands = operands(shapes, "H");
        let views: Vec<_> = operands.iter().map(|operand| operand.view()).collect();
        let along = &evaluate(&paired, &views).unwrap()[0];
        // Sums of absolute products of integers are exact too, so nothing may differ.
        let whole = &evaluate(&program, &views).unwrap()[0];
        assert_eq!(along.values, whole.values, "{notation}");
        assert_eq!(along.magnitudes, whole.magnitudes, "{notation}");
        assert_eq!(along.n_terms, whole.n_terms, "{notation}");
        assert_eq!(evaluate_by_tree(&paired, &views).unwrap()[0], *along, "{notation}");
    }
}

#[test]
fn a_temporary_that_cancels_keeps_its_magnitude() {
    let (a, b) = (support::array(&[1, 2], &[1e8, -1e8]), support::array(&[2, 1], &[1., 1.]));
    let c = support::array(&[1, 1], &[2.0]);
    let (paired, _) = paired("ij,jk,kl->il", "").unwrap();
    let evaluation = &evaluate(&paired, &[a.view(), b.view(), c.view()]).unwrap()[0];
    assert_eq!(evaluation.values[[0, 0]], 0.0);
    assert_eq!(evaluation.magnitudes[[0, 0]], 4e8);
}
