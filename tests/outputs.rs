//! Programs of several outputs in the emulator, each output against the oracle's and under its own
//! bound, in every mapping that can come before or after an output; and faults that only several
//! outputs can have.

#![allow(clippy::expect_used, reason = "a test may stop at once")]

use common::{Agreement, Problem};
use mage_codegen::emulate::Failure;
use mage_codegen::kernel::{BufferId, HostPred, HostStep, Module, Space};
use mage_codegen::pipeline::Levels;
use mage_codegen::schedule;
use mage_einsum::fill::Fill;
use mage_einsum::notation::Form;

mod common;
mod plant;

const LAYER_NORM: &str = "\"m[i] = mean(j) X[i,j]; v[i] = mean(j) (X[i,j] - m[i])^2; \\
    r[i] = rsqrt(v[i] + 1e-5); Y[i,j] = (X[i,j] - m[i]) * r[i]\"";
const SOFTMAX: &str = "\"m[i] = max(j) X[i,j]; e[i,j] = exp(X[i,j] - m[i]); s[i] = sum(j) e[i,j]; \\
    Y[i,j] = e[i,j] / s[i]\"";
const CHAIN: &str = "\"C[i,j] = sum(k) A[i,k] * B[k,j]; s[i] = sum(j) C[i,j]\"";
const RELU: &str = "\"C[i,j] = sum(k) A[i,k] * B[k,j]; Y[i,j] = relu(C[i,j] + b[j])\"";

/// A notation, its options, extents, and how many launches they come to.
type Row = (&'static str, &'static str, &'static str, usize);

#[rustfmt::skip]
const ROWS: [Row; 32] = [
    (LAYER_NORM, "outputs = (Y, m, r)", "i=9 j=31", 1),
    (LAYER_NORM, "outputs = (r, v, m, Y)", "i=5 j=257", 1),
    (LAYER_NORM, "outputs = (m, v, Y), extents = (j = 16400)", "i=2 j=16400", 1),
    (LAYER_NORM, "outputs = (Y, m, r), dtype = bf16", "i=5 j=68", 1),
    (LAYER_NORM, "outputs = (Y, m), dtype = f16, out = f32", "i=5 j=67", 1),
    (LAYER_NORM, "outputs = (Y, r), strides = runtime", "i=5 j=67", 1),
    // A row of no columns has statistics.
    (LAYER_NORM, "outputs = (Y, m, r)", "i=3 j=0", 1),
    (LAYER_NORM, "outputs = (Y, m, r)", "i=0 j=3", 0),
    (SOFTMAX, "outputs = (Y, m, s)", "i=9 j=33", 1),
    (SOFTMAX, "outputs = (e, s, Y)", "i=9 j=33", 1),
    (SOFTMAX, "outputs = (e, Y)", "i=3 j=1028", 1),
    (SOFTMAX, "outputs = (e, m, Y), dtype = f16", "i=3 j=260", 1),
    // Columns that no register holds are computed again after they are stored.
    (SOFTMAX, "outputs = (e, Y, m), extents = (j = 16392)", "i=2 j=16392", 1),
    (SOFTMAX, "outputs = (e, Y), dtype = bf16, extents = (j = 16393)", "i=1 j=16393", 1),
    (CHAIN, "tile = 32, outputs = (C, s)", "i=65 j=67 k=33", 2),
    (CHAIN, "tile = 32, outputs = (s, C), dtype = bf16", "i=33 j=40 k=24", 2),
    (CHAIN, "outputs = (s, C)", "i=5 j=8 k=1001", 3),
    (CHAIN, "tile = 32, outputs = (C, s), dtype = f64", "i=33 j=40 k=24", 2),
    (CHAIN, "tile = 32, outputs = (C, s)", "i=3 j=0 k=4", 1),
    (CHAIN, "tile = 32, outputs = (C, s)", "i=3 j=4 k=0", 2),
    (RELU, "tile = 32, outputs = (Y, C)", "i=33 j=36 k=20", 2),
    (RELU, "tile = 32, outputs = (C, Y), dtype = f16", "i=33 j=40 k=24", 3),
    ("\"ik,kj->ij\"", "tile = 16, outputs = (out, acc), epilogue = |acc, b: j| relu(acc - b)", "i=17 j=20 k=5", 2),
    ("\"ik,kj->ij\"", "tile = 16, outputs = out", "i=17 j=20 k=5", 1),
    ("\"R[i,j] = X[i,j] + Z[i,j]; S[i,j] = R[i,j] * 0.5; Y[i,j] = silu(S[i,j]) * R[i,j]\"", "outputs = (R, Y)", "i=33 j=36", 1),
    ("\"R[i,j] = X[i,j] + Z[i,j]; Y[i,j] = relu(R[i,j])\"", "outputs = (Y, R), dtype = bf16", "i=5 j=7", 1),
    ("\"S[i,j] = X[i,j] + Z[i,j]; D[i,j] = X[i,j] - Z[i,j]\"", "outputs = (S, D)", "i=5 j=7", 2),
    ("\"T[j,i] = X[i,j]; s[j] = max(i) T[j,i]\"", "outputs = (T, s)", "i=65 j=34", 2),
    // Read under other modes than it is written under.
    ("\"m[i] = mean(j) X[i,j]; v[i] = mean(j) (X[i,j] - m[i])^2; d[i,k] = m[i] - m[k]\"", "outputs = (d, v, m)", "i=7 j=33 k=7", 2),
    ("\"m[a,b] = mean(c,d) X[a,b,c,d]; Y[a,b,c,d] = X[a,b,c,d] - m[a,b]\"", "outputs = (Y, m)", "a=2 b=3 c=4 d=5", 1),
    ("\"Z[i,j] = X[i,j] + W[i,j]; m[i] = mean(j) Z[i,j]; v[i] = mean(j) (Z[i,j] - m[i])^2\"", "outputs = (v, Z, m)", "i=9 j=36", 1),
    ("\"Z[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]; Y[i,f] = relu(Z[i,f])\"", "outputs = (Y, Z)", "i=9 e=40 f=8 s=7", 2),
];

fn problems(levels: &Levels, extents: &str) -> [(Problem, Agreement); 2] {
    let extents = common::extents(extents);
    let of = |fill| common::problem(levels, &extents, &[fill]);
    [(of(Fill::Hash), Agreement::Equal), (of(Fill::Normal), Agreement::WithinBound)]
}

#[test]
fn every_output_is_the_oracles() {
    let mut failures = Vec::new();
    for (notation, options, extents, n_launches) in ROWS {
        let levels = common::compile(&format!("{notation}, {options}"));
        for (problem, agreement) in problems(&levels, extents) {
            for byte_alignment in [16, 4] {
                let wrong = match common::emulate(&levels.module, &problem, byte_alignment) {
                    Ok(run) if run.launches.len() != n_launches => {
                        Some(format!("{} launches, not {n_launches}", run.launches.len()))
                    }
                    Ok(run) => common::disagreement(&run.outputs, &problem.evaluations, agreement),
                    Err(failure) => Some(failure.to_string()),
                };
                failures.extend(wrong.map(|wrong| format!("{options} at {extents}: {wrong}")));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Every result of every spec of statements as an output, in both orders, in f32 and as bf16.
#[test]
fn every_result_of_every_spec() {
    let mut failures = Vec::new();
    let mut n_programs = 0;
    for case in common::cases() {
        let (notation, options) = (&case.levels.notation, &case.levels.schedule.options);
        let Form::Index(statements) = &notation.form else { continue };
        let is_free = !["outputs", "accumulate", "dtype"].iter().any(|key| options.contains(key));
        if statements.len() < 2 || !is_free {
            continue;
        }
        let mut names: Vec<&str> =
            statements.iter().map(|statement| statement.target.tensor.name.as_str()).collect();
        for dtype in ["f32", "bf16"] {
            names.reverse();
            let outputs = format!("outputs = ({}), dtype = {dtype}", names.join(", "));
            let invocation = format!("\"{}\", {outputs}, {options}", notation.text);
            let levels = common::compile(invocation.trim_end_matches(", "));
            n_programs += 1;
            for extents in case.runs.iter().take(6) {
                let problem = common::problem(&levels, extents, &[Fill::Normal]);
                let wrong = match common::emulate(&levels.module, &problem, 16) {
                    Ok(run) => common::disagreement(
                        &run.outputs,
                        &problem.evaluations,
                        Agreement::WithinBound,
                    ),
                    Err(failure) => Some(failure.to_string()),
                };
                failures.extend(wrong.map(|wrong| format!("{invocation} at {extents:?}: {wrong}")));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(n_programs >= 10, "{n_programs} programs");
}

/// Naming a result changes no other one: what is read of it is what it was before it was rounded.
#[test]
fn outputs_do_not_depend_on_what_else_is_returned() {
    for dtype in ["f16", "bf16", "f32"] {
        let outputs = |names: &str| {
            let levels = common::compile(&format!("{LAYER_NORM}, {names} dtype = {dtype}"));
            let [_, (problem, _)] = problems(&levels, "i=5 j=68");
            common::emulate(&levels.module, &problem, 16).expect("it runs").outputs
        };
        assert_eq!(outputs("")[0], outputs("outputs = (m, Y, r),")[1], "{dtype}");
    }
}

/// What a planted fault is caught by; nothing where it is not.
fn caught(module: &Module, problem: &Problem) -> String {
    match common::emulate(module, problem, 16) {
        Ok(run) => common::disagreement(&run.outputs, &problem.evaluations, Agreement::WithinBound)
            .map_or_else(|| "nothing".to_owned(), |wrong| format!("comparison: {wrong}")),
        Err(Failure::Trap(trap)) => format!("trap: {trap}"),
        Err(Failure::Host(failure)) => format!("host: {failure}"),
    }
}

/// The buffer of an output.
fn space(module: &Module, name: &str) -> Space {
    let position = module.buffers.iter().position(|buffer| buffer.name == name);
    Space::Global(BufferId(position.expect(name)))
}

/// A fault's name, how it is planted, and what the text of its discovery has.
type Fault = (&'static str, fn(&mut Module) -> usize, &'static str);

fn exchange(module: &mut Module, names: [&str; 2]) -> usize {
    let spaces = names.map(|name| space(module, name));
    plant::exchange(module, spaces)
}

/// Requires of each of two buffers the length of the other.
fn exchange_lengths(module: &mut Module, names: [&str; 2]) -> usize {
    let spaces = names.map(|name| space(module, name));
    let buffers = spaces.map(|space| match space {
        Space::Global(buffer) => buffer,
        Space::Shared(_) => unreachable!("an output is global"),
    });
    let mut n_changed = 0;
    for step in &mut module.host {
        if let HostStep::Require { that: HostPred::LengthIs(buffer, _), .. } = step
            && let Some(position) = buffers.iter().position(|one| one == buffer)
        {
            *buffer = buffers[1 - position];
            n_changed += 1;
        }
    }
    n_changed
}

fn drop_stores(module: &mut Module, name: &str) -> usize {
    let space = space(module, name);
    plant::drop_stores(module, space)
}

fn unmask(module: &mut Module, name: &str) -> usize {
    let space = space(module, name);
    plant::unmask(module, space)
}

fn every_fault_is_caught(invocation: &str, extents: &str, faults: &[Fault]) {
    let levels = common::compile(invocation);
    let [_, (problem, _)] = problems(&levels, extents);
    assert_eq!(caught(&levels.module, &problem), "nothing");
    for (name, plant, by) in faults {
        let mut module = levels.module.clone();
        assert!(plant(&mut module) > 0, "{name}: nothing to change");
        let found = caught(&module, &problem);
        assert!(found.contains(by), "{name}: caught by {found}, not {by}");
    }
}

#[test]
fn faults_of_rows_are_caught() {
    #[rustfmt::skip]
    let faults: [Fault; 7] = [
        ("the third output in the place of the second", |module| exchange(module, ["m", "r"]), "comparison: output 1"),
        ("the second output is not stored", |module| drop_stores(module, "m"), "output element `m[0]` is never written"),
        ("the third output is not stored", |module| drop_stores(module, "r"), "output element `r[0]` is never written"),
        ("the first output is not stored", |module| drop_stores(module, "Y"), "output element `y[0]` is never written"),
        ("every thread stores the second output", |module| unmask(module, "m"), "output element `m[0]` is written twice"),
        ("the first output in the place of the second", |module| exchange(module, ["m", "Y"]), "is out of bounds"),
        ("lengths are exchanged", |module| exchange_lengths(module, ["m", "Y"]), "host: "),
    ];
    every_fault_is_caught(&format!("{LAYER_NORM}, outputs = (Y, m, r)"), "i=9 j=33", &faults);
}

#[test]
fn faults_of_elements_are_caught() {
    let notation = "\"R[i,j] = X[i,j] + Z[i,j]; Y[i,j] = relu(R[i,j])\", outputs = (R, Y)";
    let faults: [Fault; 3] = [
        ("outputs are exchanged", |module| exchange(module, ["R", "Y"]), "comparison: output 0"),
        ("the first is not stored", |module| drop_stores(module, "R"), "`r[0]` is never written"),
        ("stores beyond the last", |module| unmask(module, "R"), "is out of bounds"),
    ];
    every_fault_is_caught(notation, "i=5 j=7", &faults);
}

#[test]
fn faults_of_what_is_read_back_are_caught() {
    let faults: [Fault; 2] = [
        ("it is not stored", |module| drop_stores(module, "C"), "`c[0]` is read but nothing wrote"),
        ("launches are exchanged", exchange_launches, "is read but nothing wrote"),
    ];
    let invocation =
        format!("{CHAIN}, tile = 16, outputs = (C, s), extents = (i = 5, j = 8, k = 3)");
    every_fault_is_caught(&invocation, "i=5 j=8 k=3", &faults);
}

/// A schedule whose launch passes by an output that its strategy does not store is none.
#[test]
fn a_schedule_stores_every_output() {
    let mut schedule = common::compile(&format!("{RELU}, tile = 32, outputs = (Y, C)")).schedule;
    assert_eq!(schedule::verify(&schedule), Ok(()));
    schedule.launches.truncate(1);
    schedule.launches[0].last = 1;
    let why = schedule::verify(&schedule).expect_err("`C` is passed by");
    assert!(why.contains("output `C` is not stored"), "{why}");
}

/// Starts the last launch before the one before it.
fn exchange_launches(module: &mut Module) -> usize {
    let last = module.host.len() - 1;
    module.host.swap(last - 1, last);
    1
}
