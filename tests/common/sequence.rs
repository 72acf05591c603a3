//! Sequences of statements: specifications of several operands, each split into steps with
//! temporaries along a path that is written down here.

#![allow(dead_code, reason = "each user takes what it needs")]

use mage_codegen::kernel::{self, Module};
use mage_codegen::pipeline::Levels;
use mage_codegen::{emit, schedule};
use mage_einsum::index::{
    self, Access, Dtype, Expr, ModeId, Program, Role, Statement, Tensor, TensorId, TensorKind,
};
use mage_einsum::spec;

/// Which factors each step takes, by their positions among those that are left; its result takes
/// the place of the first.
pub type Path = &'static [&'static [usize]];

/// A sequence with the extents it is checked at.
pub struct Sequence {
    /// A Rust identifier.
    pub name: &'static str,
    /// What would stand between the macro's parentheses.
    pub invocation: &'static str,
    /// Its steps.
    pub path: Path,
    /// Extents; the first of them run every step.
    pub runs: &'static [&'static str],
}

/// Temporaries of odd extents, tiled and not, one after the other and two at a time.
#[rustfmt::skip]
pub const SEQUENCES: [Sequence; 4] = [
    Sequence {
        name: "sequence_chain",
        invocation: "\"ij,jk,kl->il\", tile = 16",
        path: &[&[0, 1], &[0, 1]],
        runs: &[
            "i=33 j=18 k=19 l=21", "i=20 j=16 k=36 l=24", "i=1 j=1 k=1 l=1",
            "i=5 j=0 k=3 l=4", "i=5 j=2 k=0 l=4", "i=0 j=2 k=3 l=4",
        ],
    },
    Sequence {
        name: "sequence_tree",
        invocation: "\"ij,jk,kl,lm->im\", tile = 16",
        path: &[&[0, 1], &[1, 2], &[0, 1]],
        runs: &["i=17 j=5 k=19 l=7 m=23", "i=20 j=8 k=16 l=12 m=4", "i=3 j=5 k=0 l=2 m=3"],
    },
    Sequence {
        name: "sequence_reduced_first",
        invocation: "\"ij,ik->k\", name = reduced_first",
        path: &[&[0], &[0, 1]],
        runs: &["i=33 j=70 k=37", "i=3 j=0 k=5"],
    },
    Sequence {
        name: "sequence_fixed",
        invocation: "\"ij,jk,k->i\", tile = 16, extents = (i = 17, j = 6, k = 9), name = fixed_chain",
        path: &[&[0, 1], &[0, 1]],
        runs: &["i=17 j=6 k=9"],
    },
];

/// Every level of a sequence; level 2 is the statement as written, which the oracle evaluates.
pub fn levels(invocation: &str, path: &[&[usize]]) -> Levels {
    let spec = spec::parse_invocation(invocation);
    let spec = spec.unwrap_or_else(|mistakes| panic!("{invocation}: {mistakes}"));
    let program = index::lower(&spec.notation, &spec.options).expect("a right specification");
    let steps = split(&program, path);
    index::verify(&steps).expect("a right program");
    let schedule = schedule::choose(&steps, &spec.options);
    let schedule = schedule.unwrap_or_else(|mistakes| panic!("{invocation}: {mistakes}"));
    schedule::verify(&schedule).expect("a right schedule");
    let module: Module = kernel::lower::lower(&schedule);
    kernel::verify(&module).expect("a right module");
    let source = emit::source(&module).expect("Rust");
    Levels { notation: spec.notation, program, schedule, module, source }
}

/// The one statement of `program` as steps along `path`.
fn split(program: &Program, path: &[&[usize]]) -> Program {
    let [whole] = program.statements.as_slice() else { panic!("one statement") };
    let mut split = program.clone();
    split.statements.clear();
    let output = split.tensors.pop().expect("an output");
    let n_inputs = split.tensors.len();
    let mut left: Vec<Access> = whole.factors().into_iter().cloned().collect();
    for (step, positions) in path.iter().enumerate() {
        let factors: Vec<Access> = positions.iter().map(|at| left[*at].clone()).collect();
        let mut rest = left.clone();
        for at in positions.iter().rev() {
            rest.remove(*at);
        }
        let is_last = step + 1 == path.len();
        let tensor = TensorId(n_inputs + step);
        let modes = if is_last { whole.target.modes.clone() } else { kept(&factors, &rest, whole) };
        if !is_last {
            let name = format!("t{step}");
            let dims = modes.clone();
            split.tensors.push(Tensor { name, kind: TensorKind::Temp, dtype: Dtype::F32, dims });
        }
        let target = Access { tensor, modes };
        split.statements.push(statement(target.clone(), factors));
        rest.insert(positions[0], target);
        left = rest;
    }
    split.tensors.push(output);
    split
}

/// The modes of `factors` that something later needs.
fn kept(factors: &[Access], rest: &[Access], whole: &Statement) -> Vec<ModeId> {
    let mut kept = Vec::new();
    for mode in factors.iter().flat_map(|factor| &factor.modes) {
        let is_needed = rest.iter().chain([&whole.target]).any(|later| later.modes.contains(mode));
        if is_needed && !kept.contains(mode) {
            kept.push(*mode);
        }
    }
    kept
}

fn statement(target: Access, factors: Vec<Access>) -> Statement {
    let mut roles: Vec<(ModeId, Role)> = Vec::new();
    for mode in factors.iter().flat_map(|factor| &factor.modes) {
        let holders = factors.iter().filter(|factor| factor.modes.contains(mode)).count();
        let role = match (target.modes.contains(mode), holders) {
            (false, 1) => Role::Reduced,
            (false, _) => Role::Contracted,
            (true, 2) => Role::Batch,
            (true, _) if factors[0].modes.contains(mode) => Role::FreeLeft,
            (true, _) => Role::FreeRight,
        };
        if roles.iter().all(|(known, _)| known != mode) {
            roles.push((*mode, role));
        }
    }
    let reduced = roles.iter().map(|(mode, _)| *mode);
    let reduced = reduced.filter(|mode| !target.modes.contains(mode)).collect();
    let mut factors: Vec<Expr> = factors.into_iter().map(Expr::Access).collect();
    let value = if factors.len() == 1 { factors.remove(0) } else { Expr::Product(factors) };
    Statement { target, reduced, value, roles }
}
