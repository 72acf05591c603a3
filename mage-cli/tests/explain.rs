//! `mage explain`: the facts that must be there, each known otherwise.

mod support;

use support::{json, mage};

const TRIANGLE: [&str; 8] =
    ["explain", "ikc,jkc->ijc", "i=256", "j=256", "k=256", "c=64", "--tile", "32"];

#[test]
fn the_triangle_contraction() {
    let run = mage(&TRIANGLE);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    for words in [
        "out[i,j,c] = sum(k) A[i,k,c] * B[j,k,c]",
        "c     batch       64      A.2 B.2 out.2",
        "2147483648",
        "unique bytes          50331648 bytes (48 MiB)",
        "42.7 flop/byte",
        "ridge of the NVIDIA GeForce RTX 4090 is at 81.9 flop/byte (derived",
        "A block owns 8 of it, each with threads of its own",
        "grid    c in tiles of 8",
        "8 channels of `c` a block",
        "512 blocks",
        "Variant `wide`, which the host selects for aligned buffers",
        "Variant `narrow`, which the host selects for unaligned buffers",
    ] {
        assert!(run.out.contains(words), "lacks {words:?}:\n{}", run.out);
    }
}

#[test]
fn json_has_the_same_facts() {
    let report = json(&[&TRIANGLE[..], &["--json"]].concat(), 0);
    assert_eq!(report["cost"]["flops"], 2_u64 * 256 * 256 * 256 * 64);
    assert_eq!(report["cost"]["unique_bytes"], 3_u64 * 256 * 256 * 64 * 4);
    assert_eq!(report["launches"][0]["grid"]["blocks"], 8 * 8 * 8);
    let wide = &report["counted"][0];
    // A block of 32 x 32 x 8 outputs over 256 terms, each a multiplication and an addition.
    assert_eq!(wide["flops"], 2_u64 * 32 * 32 * 8 * 256);
    assert_eq!(wide["global_loads"]["bytes_asked"], 2_u64 * 32 * 256 * 8 * 4);
    assert_eq!(wide["global_loads"]["efficiency"], 1.0);
    assert_eq!(report["counted"][1]["variant"], "narrow");
    assert_eq!(report["gradients"][1]["notation"], "ijc,ikc->jkc");
}

#[test]
fn a_sequence_shows_its_steps_and_its_workspace() {
    let chain = ["explain", "ij,jk,kl->il", "i=33", "j=18", "k=19", "l=21", "--tile", "16"];
    let run = mage(&chain);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    for words in [
        "628 elements, 2512 bytes (2.45 KiB): round_up(i * k, 4) elements",
        "Step 0: t0[i,k] = sum(j) A[i,j] * B[j,k]",
        "Step 1: out[i,l] = sum(k) t0[i,k] * C[k,l]",
        "in `A` and in `t0`",
    ] {
        assert!(run.out.contains(words), "lacks {words:?}:\n{}", run.out);
    }
    let report = json(&[&chain[..], &["--json"]].concat(), 0);
    assert_eq!(report["workspace"]["elems"], 628);
    assert_eq!(report["launches"][0]["grid"]["blocks"], 3 * 2);
    assert_eq!(report["launches"][1]["grid"]["blocks"], 3 * 2);
}

#[test]
fn strides_of_the_launch_are_told() {
    let strided = ["explain", "ik,kj->ij", "i=64", "j=64", "k=64", "--strides", "runtime"];
    let run = mage(&strided);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    for words in
        ["strides given at the launch: A, B", "on row-major operands", "any strides of `A`, `B`"]
    {
        assert!(run.out.contains(words), "lacks {words:?}:\n{}", run.out);
    }
    let report = json(&[&strided[..], &["--json"]].concat(), 0);
    assert_eq!(report["strided"], serde_json::json!(["A", "B"]));
    let kernel = mage(&["explain", "ik,kj->ij", "--strides", "runtime", "--level", "kernel"]);
    assert!(kernel.out.contains("stride(a, k) == 1"), "{}", kernel.out);
    assert!(mage(&["explain", "--code", "M0037"]).out.contains("reversed view begins at"));
}

/// Each edge belongs to one row, and there is one row pointer more than there are rows.
#[test]
fn neighbours_are_counted_once() {
    let notation = "Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]";
    let run = mage(&["explain", notation, "i=100", "f=64", "e=1600", "s=100"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    let flops = 2 * 1600 * 64;
    let flops = format!("flops                 {flops} ");
    for words in [flops.as_str(), "2 * e * f", "404 bytes", "in `w` and `s`", "in `p` and in `Y`"] {
        assert!(run.out.contains(words), "lacks {words:?}:\n{}", run.out);
    }
}

/// A mean and a variance stay in registers.
#[test]
fn what_moves_is_counted() {
    let normed = "m[i] = mean(j) X[i,j]; v[i] = mean(j) (X[i,j] - m[i])^2; \
                  Y[i,j] = (X[i,j] - m[i]) * rsqrt(v[i] + 1e-5)";
    let run = mage(&["explain", normed, "i=128", "j=4096"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    let bytes = format!("unique bytes          {} bytes", 2 * 128 * 4096 * 4);
    assert!(run.out.contains(&bytes), "lacks {bytes:?}:\n{}", run.out);
}

#[test]
fn without_extents_the_rest_is_there() {
    let run = mage(&["explain", "ik,kj->ij"]);
    assert_eq!(run.status, 0);
    for words in ["2 * i * k * j", "runtime", "It depends on the extents", "Give the extents"] {
        assert!(run.out.contains(words), "lacks {words:?}:\n{}", run.out);
    }
    let fixed = mage(&["explain", "ik,kj->ij", "--extents", "i=64,k=64,j=64"]);
    assert!(fixed.out.contains("524288"), "{}", fixed.out);
}

#[test]
fn long_sums_are_counted_short() {
    let report = json(&["explain", "i->", "i=100000001", "--json"], 0);
    let counted = &report["counted"][0];
    let shortened = counted["shortened"]["i"].as_u64().expect("a count");
    assert!(shortened < 10_000 && shortened % 64 == 100_000_001 % 64, "{shortened}");
    assert_eq!(report["cost"]["flops"], 100_000_001);
}

#[test]
fn what_is_not_launched_is_said() {
    for (extents, words) in [
        (["i=0", "j=4", "k=3"], "the output has no elements"),
        (["i=3000000000", "j=2", "k=2"], "Label `i` is 3000000000, limit 2147483648"),
    ] {
        let run = mage(&[&["explain", "ik,kj->ij", "--tile", "64"], &extents[..]].concat());
        assert_eq!(run.status, 0);
        assert!(run.out.contains(words), "lacks {words:?}:\n{}", run.out);
    }
}

#[test]
fn one_level_alone() {
    for (level, first_line) in [
        ("notation", "ik,kj->ij"),
        ("index", "out[i,j] = sum(k) A[i,k] * B[k,j]"),
        ("schedule", "schedule einsum_ik_kj_ij_tile64 for NVIDIA GeForce RTX 4090"),
        ("kernel", "module einsum_ik_kj_ij_tile64"),
        ("source", "//! `ik,kj->ij` with `tile = 64`, for cuda-oxide."),
    ] {
        let run = mage(&["explain", " ik, kj -> ij", "--tile", "64", "--level", level]);
        assert_eq!(run.status, 0);
        let first = run.out.lines().next().expect("a line");
        assert_eq!(first.replace(" ik, kj -> ij", "ik,kj->ij"), first_line);
    }
}

#[test]
fn a_diagnostic() {
    for asked in ["M0032", "m0032", "ExtentMismatch"] {
        let run = mage(&["explain", "--code", asked]);
        assert_eq!(run.status, 0);
        assert!(run.out.starts_with("M0032 ExtentMismatch\n"), "{}", run.out);
        assert!(run.out.contains("\nOne label has one extent"), "{}", run.out);
    }
    assert_eq!(json(&["explain", "--code", "M0001", "--json"], 0)["name"], "BadChar");
}

#[test]
fn gradients() {
    let run = mage(&["grad", "ij,ij,jk,ij->ik"]);
    assert_eq!((run.status, run.err.as_str()), (0, ""));
    assert!(run.out.contains("C            ik,ij,ij,ij->jk  dout, A, B, D"), "{}", run.out);
    let run = mage(&["grad", "C[i] = sum(j) A[i,j] * B[i] * B[i]"]);
    assert_eq!((run.status, run.err.as_str()), (1, ""));
    let why = "gradient of `A`: label `j` is summed in `A` alone";
    for words in [why, "The gradient of `B` is the sum of its lines."] {
        assert!(run.out.contains(words), "{}", run.out);
    }
    let run = mage(&["explain", "...ik,...kj->...ij", "--ranks", "3,3"]);
    assert!(run.out.contains("dB[e0,k,j] = sum(i) dout[e0,i,j] * A[e0,i,k]"), "{}", run.out);
    assert_eq!(mage(&["grad", "ik,kj->iz"]).status, 2);
}
