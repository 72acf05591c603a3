//! Wrong input: every call ends with status 2, says what is wrong and where, and what to do.

mod support;

use std::fmt::Write;

use support::{folder, mage};

const WRONG: [&[&str]; 64] = [
    &["check"],
    &["check", "ik,kj->ij", "i=3", "j=4"],
    &["check", "ik,kj->ij", "i=3", "j=4", "k=5", "q=6"],
    &["check", "ik,kj->ij", "i=-1", "j=x", "k=99999999999999999999"],
    &["check", "ik,kj->ij", "i", "=4", "k="],
    &["check", "ik,kj->ij", "i=3", "i=3", "j=4", "k=5"],
    &["check", "ik,kj->ij", "i=4294967296", "j=1", "k=1"],
    &["check", "ik,kj->ij", "i=100000", "j=100000", "k=100000"],
    &["check", "ik,kj->ij", "i=4294967295", "j=4294967295", "k=4294967295"],
    &["check", "ik,kj->ij", "i=3000000000", "j=1", "k=0", "--tile", "64"],
    &["check", "ik,kj->ij", "i=3", "j=4", "k=5", "--extents", "k=4"],
    &["check", "C[i,j] = sum(k) A[i,k] * A[k,j]", "i=2", "j=3", "k=4"],
    &["check", "ik,kj=>ij"],
    &["check", "ik,kj->ij->i"],
    &["check", "ik,kj->iz"],
    &["check", "...a->a", "a=3"],
    &["check", "->i", "i=3"],
    &["check", "ik,kj->ij", "--tile", "0", "--device", "a100"],
    &["check", "ik,kj->ij", "--device", "a100"],
    &["check", "...ik,kj->...ij", "i=2", "j=2", "k=2", "--ranks", "3"],
    &["check", "ik,k", "i=2", "k=2", "--tile", "64"],
    &["check", "ik,kj->ij", "--tile", "64,64"],
    &["check", "ik,kj->ij", "--tile", "1024"],
    &["check", "ik,kj->ij", "--name", "Matmul"],
    &["check", "ik,kj->ij", "--extents", "k=x"],
    &["check", "ik,kj->ij", "--dtype", "i64"],
    &["check", "ik,kj->ij", "--strides", "padded"],
    &["check", "ik,kj->ij", "--outputs", "C"],
    &["check", "m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]", "--outputs", "Y,X,Y"],
    &["check", "m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j] - m[i]", "--outputs", "m,X"],
    &["check", "m[i] = mean(j) X[i,j]; Y[i,j] = X[i,j]", "--outputs", "Y,m", "--accumulate"],
    &["check", "--spec", "no/such/file.spec"],
    &["explain", "ik,kj->ij", "i=3"],
    &["explain", "--code", "M9999"],
    &["emit"],
    &["emit", "ik,kj->ij", "--spec", "specs/matmul_nn.spec"],
    &["check", "ik,kj->ij", "--spec", "specs/matmul_nn.spec"],
    // One mistake made in several places, or of several characters, is one error.
    &["explain", "(b h) q d, (b h) k d -> (b h) q k"],
    &["explain", "ik,\tkj\t->ij"],
    &["explain", "αβ,βγ->αγ"],
    &["explain", "ik,kj—>ij"],
    &["explain", "…ik,…kj->…ij"],
    &["explain", "ik,kj->ij."],
    &["explain", "ik,kj->ij'"],
    &["explain", "ik kj->ij", "--ranks", "2,2"],
    &["explain", "...ik,kj->ij", "--ranks", "4,2"],
    &["explain", "...ik,kj->...ij", "--ranks", "1,2"],
    &["explain", "ik,kj->i,j"],
    &["explain", "ik,kj->iijzz"],
    &["explain", "C[i,j] = A[i,k] * B[k,l] * D[l,j]"],
    &["explain", "C[i] = Σ(K) A[i,k]"],
    &["explain", "C[i] = sum(K) A[i,k]"],
    &["explain", "C[i] = A[i+1]"],
    &["explain", "C[i] = max(j, A[i,j])"],
    &["explain", "C(i) = A(i)"],
    &["explain", "ik,kj->ij", "--tile", "-1"],
    &["explain", "ik,kj->ij", "--tile", "64x64"],
    &["explain", "ik,kj->ij", "--tile", "7,7,7000"],
    &["explain", "ik,kj->ij", "--extents", "K=3"],
    &["explain", "ik,kj->ij", "--path", "(0,1),(0,1)"],
    &["explain", "ik,kj->ij", "i", "=", "3", "k=1,j=2"],
    &["explain", "ik,kj->ij", "I=3", "k=1", "j=2"],
    &["check", "", "x=1"],
    &["emit", "ik,kj->ij", "--check", "no/such/file.rs"],
];

#[test]
fn wrong_input() {
    let mut transcript = String::new();
    for arguments in WRONG {
        let run = mage(arguments);
        assert_eq!((run.status, run.out.as_str()), (2, ""), "{arguments:?}: {}", run.err);
        let words: Vec<String> = arguments
            .iter()
            .map(
                |word| {
                    if word.contains([' ', '>']) { format!("\"{word}\"") } else { (*word).into() }
                },
            )
            .collect();
        let _ = writeln!(transcript, "$ mage {}\n{}", words.join(" "), run.err);
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn wrong_usage() {
    for arguments in [
        &["chek"][..],
        &["check", "ik,kj->ij", "--tlie", "64"],
        &["check", "ik,kj->ij", "--fill", "zeros"],
        &["explain", "ik,kj->ij", "--level", "sixth"],
        &["explain", "ik,kj->ij", "--code", "M0001"],
        &["emit", "ik,kj->ij", "i=3"],
        &["emit", "ik,kj->ij", "--output", "a", "--check", "b"],
    ] {
        let run = mage(arguments);
        assert_eq!(run.status, 2, "{arguments:?}");
        assert!(run.err.contains("error: "), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn wrong_spec_files() {
    let folder = folder("specs");
    for (name, text, words) in [
        ("empty", "", "expected a string literal"),
        ("notation", "\"ik,kj=>ij\"\n", "| ik,kj=>ij"),
        ("option", "\"ik,kj->ij\", tlie = 64\n", "| tlie = 64"),
        ("option_place", "\"ik,kj->ij\", tlie = 64\n", "option_place: option `tlie`, byte 0"),
        ("run", "\"ik,kj->ij\"\nrun: i=x\n", "run: line 2"),
        ("twice", "\"ik,kj->ij\", tile = 64,\nrun: i=1 k=1 j=1\n", "given twice"),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("the file");
        let run = mage(&["check", "--spec", path.to_str().expect("a name"), "--tile", "32"]);
        assert_eq!(run.status, 2, "{name}");
        assert!(run.err.contains(words), "{name} lacks {words:?}: {}", run.err);
    }
}

/// A code is found by its number or its name, however it is written.
#[test]
fn codes_by_any_name() {
    let expected = mage(&["explain", "--code", "M0032"]).out;
    for asked in ["m0032", "32", "M32", "ExtentMismatch", "extent-mismatch", "extent_mismatch"] {
        assert_eq!(mage(&["explain", "--code", asked]).out, expected, "{asked}");
    }
    for asked in ["", "M", "0", "E0032", "M9", "M00320", "mismatch"] {
        assert_eq!(mage(&["explain", "--code", asked]).status, if asked == "M9" { 0 } else { 2 });
    }
}

#[test]
fn help_shows_an_example() {
    for command in ["check", "explain", "emit"] {
        let run = mage(&[command, "--help"]);
        assert_eq!(run.status, 0);
        assert!(run.out.contains(&format!("  mage {command} \"ik")), "{}", run.out);
    }
    let run = mage(&["--version"]);
    assert_eq!(run.out, format!("mage {}\n", env!("CARGO_PKG_VERSION")));
}
