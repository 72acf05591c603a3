//! Index operands: what is read through them, and what is refused before anything runs.

use mage_codegen::emulate::{Arguments, Failure, Input, Output, Run, Sample, count, run};
use mage_codegen::kernel::{
    BufferId, BufferUse, Expr, HostExpr, HostPred, HostStep, IndexUse, Module, Place, Reg, RegId,
    Space, Stmt, Ty, Var, VarId, Width, parts_of_long_rows, print, verify,
};
use mage_einsum::diagnostic::Code;

use crate::neighbours::{P, S, W, module};

const POINTERS: [u32; 4] = [0, 2, 2, 5];
const SOURCES: [u32; 5] = [1, 3, 0, 3, 3];

fn run_with(module: &Module, pointers: &[u32], sources: &[u32]) -> Result<Run, Failure> {
    let weights: Vec<f64> = (1..=5).map(f64::from).collect();
    let elements: Vec<f64> = (0..8).map(|at| f64::from(at * at)).collect();
    let input = |data| Input { data, view: None, byte_alignment: 16 };
    run(
        module,
        &Arguments {
            extents: &[3, 2, 4, 5],
            inputs: &[input(&weights), input(&elements)],
            indices: &[pointers, sources],
            outputs: &[Output { len: 6, before: &[], byte_alignment: 16 }],
            workspace_len: None,
            workspace_byte_alignment: 16,
        },
    )
}

#[test]
fn sums_over_rows_of_edges() {
    assert_eq!(verify(&module()), Ok(()));
    let run = run_with(&module(), &POINTERS, &SOURCES).unwrap();
    // Row 0: X[1] + 2 X[3]; row 1: none; row 2: 3 X[0] + 9 X[3].
    assert_eq!(run.outputs[0], [76.0, 107.0, 0.0, 0.0, 324.0, 444.0]);
}

#[test]
fn wrong_indices_are_refused_before_anything_runs() {
    let rows: [(&[u32], &[u32], &str); 6] = [
        (&POINTERS, &[1, 3, 0, 4, 3], "index operand `S` is 4 at 3, but label `n` is 4"),
        (&[1, 2, 2, 5], &SOURCES, "index operand `P` begins at 1, not at 0"),
        (&[0, 3, 2, 5], &SOURCES, "index operand `P` falls from 3 to 2 at 2"),
        (&[0, 2, 2, 4], &SOURCES, "index operand `P` ends at 4, but label `e` is 5"),
        (
            &[0, 2, 5],
            &SOURCES,
            "index operand `P` has 3 elements but its extent i = 3 asks for one more",
        ),
        (
            &POINTERS,
            &[0; 4],
            "index operand `S` has 4 elements but its extent e = 5 asks for as many",
        ),
    ];
    for (pointers, sources, expected) in rows {
        match run_with(&module(), pointers, sources) {
            Err(Failure::Host(failure)) => {
                assert_eq!(failure.message, expected);
                let is_length = expected.contains("elements");
                let code = if is_length { Code::LengthMismatch } else { Code::IndexOutOfRange };
                assert_eq!(failure.code, code);
            }
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[test]
fn the_host_must_require_what_indices_are() {
    for buffer in [P, S] {
        let mut module = module();
        module.host.retain(|step| match step {
            HostStep::Require { that: HostPred::IndicesBelow(id, _), .. }
            | HostStep::Require { that: HostPred::PointersInto(id, _), .. } => *id != buffer,
            _ => true,
        });
        let why = verify(&module).unwrap_err();
        assert!(why.contains("the host does not require what the elements of"), "{why}");
    }
}

#[test]
fn indices_and_values_are_not_mixed() {
    let planted = |stmt: Stmt| {
        let mut module = module();
        module.kernels[0].body.insert(3, stmt);
        module
    };
    let place = |buffer| Place { space: Space::Global(buffer), offset: Expr::u64(0) };
    let to = Reg { array: RegId(0), at: Expr::u32(0) };
    let load = planted(Stmt::Load { to, from: place(S), width: Width::One, when: None });
    assert!(verify(&load).unwrap_err().contains("an access to indices that loads no index"));
    let trap = run_with(&load, &POINTERS, &SOURCES).unwrap_err().to_string();
    assert!(trap.contains("an index read as a value"), "{trap}");
    let mut index = module();
    let var = VarId(index.kernels[0].vars.len());
    let other = Var { name: "other".to_string(), ty: Ty::U32, mutable: false };
    index.kernels[0].vars.push(other);
    index.kernels[0].body.insert(3, Stmt::LoadIndex { var, from: place(W) });
    assert!(verify(&index).unwrap_err().contains("an index from a buffer that has none"));
    let mut unsaid = module();
    unsaid.buffers[S.0].index = None;
    assert!(verify(&unsaid).unwrap_err().contains("buffer `S` and its indices disagree"));
    unsaid.buffers[S.0].index = Some(IndexUse::Below(7));
    assert!(verify(&unsaid).unwrap_err().contains("label 7"));
}

#[test]
fn parts_are_those_of_long_rows() {
    let rows: [(&[u32], &[[u32; 3]]); 6] = [
        (&[], &[]),
        (&[0, 2, 2, 4], &[]),
        (&[0, 3], &[[0, 0, 3]]),
        (&[0, 0, 5, 5], &[[1, 0, 5]]),
        (&[0, 2, 8, 11], &[[1, 2, 5], [1, 5, 8], [2, 8, 11]]),
        (&[0, 1, 12, 14], &[[1, 1, 4], [1, 4, 7], [1, 7, 12]]),
    ];
    for (pointers, expected) in rows {
        assert_eq!(parts_of_long_rows(pointers, 3), expected, "{pointers:?}");
    }
}

#[test]
fn parts_are_listed_of_row_pointers_alone() {
    let listed = |pointers: BufferId, part_elems: u32| {
        let mut module = module();
        let list = BufferId(module.buffers.len());
        let mut buffer = module.buffers[P.0].clone();
        buffer.usage = BufferUse::Listed;
        buffer.index = Some(IndexUse::Parts { pointers, part_elems });
        buffer.ident = "p_parts".to_string();
        buffer.dims.clear();
        buffer.parts = Some(HostExpr::Listed(list));
        module.buffers.push(buffer);
        verify(&module)
    };
    assert_eq!(listed(P, 2), Ok(()));
    for (pointers, part_elems) in [(S, 2), (W, 2), (BufferId(9), 2), (P, 0)] {
        let why = listed(pointers, part_elems).unwrap_err();
        assert!(why.contains("and its indices disagree"), "{why}");
    }
    let mut module = module();
    module.host.push(HostStep::ReturnIf(HostPred::IsZero(HostExpr::Listed(P))));
    assert!(verify(&module).unwrap_err().contains("lists nothing"));
}

#[test]
fn the_text_says_what_indices_are() {
    let text = print(&module());
    for part in [
        "reads p: u32[i + 1], row pointers into e\n",
        "reads s: u32[e], each below n\n",
        "require end(p) == e, else index out of range of P\n",
        "require below(s) <= n, else index out of range of S\n",
        "let source: u32 = global s[u64(e)]\n",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn counting_walks_even_rows() {
    let sample =
        Sample { extents: &[4, 16, 8, 64], byte_alignments: &[16; 5], launch: 0, block: 0 };
    let counts = count(&module(), &sample).unwrap();
    assert_eq!(counts.fmas, 64 * 16);
}
