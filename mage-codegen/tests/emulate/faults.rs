//! One planted fault for every rule of the emulator, and the trap that each must end in.

mod planted;

use mage_codegen::emulate::{Arguments, Failure, Input, Output, Trap, run};
use mage_codegen::kernel::{
    HostExpr, Module, Param, ParamValue, RegId, SharedId, Space, Stmt, VarId,
};

use crate::build::{at, copy_async, global, load, load_four, n, run_aligned, store_when};
use crate::kernels::{Tiles, copy, matmul, transpose};
use planted::{probe, r, thread};

fn trap_of(module: &Module, byte_alignment: u64) -> Result<Trap, String> {
    let data = vec![1.0; 64];
    let inputs = [Input { data: &data, view: None, byte_alignment }];
    let arguments = Arguments {
        extents: &[64],
        inputs: &inputs,
        indices: &[],
        outputs: &[Output { len: 64, before: &[], byte_alignment }],
        workspace_len: None,
        workspace_byte_alignment: byte_alignment,
    };
    match run(module, &arguments) {
        Err(Failure::Trap(trap)) => Ok(trap),
        Err(Failure::Host(failure)) => Err(failure.message),
        Ok(_) => Err("no trap".to_string()),
    }
}

#[test]
fn every_planted_fault_traps() {
    let rows = [
        planted::memory_faults(),
        planted::race_faults(),
        planted::warp_faults(),
        planted::copy_faults(),
        planted::fragment_faults(),
        planted::index_faults(),
        planted::value_faults(),
    ]
    .concat();
    for (name, planted, expected) in rows {
        let trap = trap_of(&probe(planted), 16).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(trap.kernel, "test", "{name}");
        assert!(trap.to_string().contains(expected), "{name}: {trap}");
    }
}

#[test]
fn the_probe_itself_is_right() {
    assert_eq!(trap_of(&probe(vec![]), 16), Err("no trap".to_string()));
}

#[test]
fn a_copy_that_is_waited_for_behind_a_barrier_is_right() {
    let cells = Space::Shared(SharedId(0));
    let planted = vec![
        copy_async((cells, thread()), (global(0), thread().widen()), 1),
        Stmt::CommitCopies,
        Stmt::AwaitCopies { pending: 0 },
        Stmt::Barrier,
        load(r(0), cells, thread().xor(n(1))),
    ];
    assert_eq!(trap_of(&probe(planted), 16), Err("no trap".to_string()));
}

/// Four products together are 1.27 times half a unit of 1, which would be rounded to a whole one.
#[test]
fn the_tensor_cores_cut_off() {
    let fill = |array, value| Stmt::Fill { reg: RegId(array), value };
    let factor = || at(RegId(1), n(0));
    let mut module = probe(vec![
        fill(0, 1.0),
        fill(1, 1.125 / 8192.0),
        Stmt::Mma { acc: r(0), row: factor(), col: factor() },
    ]);
    module.kernels[0].registers[1].elems = 4;
    let run = run_aligned(&module, &[64], &[vec![1.0; 64]], 64).unwrap();
    assert!(run.outputs[0].iter().all(|sum| *sum == 1.0), "{:?}", run.outputs);
}

#[test]
fn four_wide_needs_an_aligned_buffer() {
    let module = probe(vec![load_four(r(0), global(0), n(0).widen())]);
    assert_eq!(trap_of(&module, 16), Err("no trap".to_string()));
    let trap = trap_of(&module, 4).unwrap();
    assert!(trap.message.contains("is misaligned: the buffer is aligned to 4 bytes"), "{trap}");
}

#[test]
fn kernels_and_launches_are_checked() {
    let mut module = probe(vec![]);
    module.kernels[0].block_threads = 2048;
    let trap = trap_of(&module, 16).unwrap();
    assert_eq!(trap.to_string(), "kernel `test`, block 0: 2048 threads a block, limit 1 to 1024");

    let mut module = probe(vec![]);
    let value = ParamValue::Unsigned(HostExpr::Const(1 << 32));
    module.kernels[0].params.push(Param { var: VarId(0), value });
    let trap = trap_of(&module, 16).unwrap();
    assert_eq!(trap.message, "the parameter `x` is 4294967296, which does not fit u32");

    let mut module = probe(vec![]);
    module.host.clear();
    let trap = trap_of(&module, 16).unwrap();
    assert_eq!(trap.to_string(), "without a launch: output element `out[0]` is never written");
}

#[test]
fn an_element_that_is_never_written_traps() {
    let mut module = probe(vec![]);
    let body = &mut module.kernels[0].body;
    body.pop();
    body.push(store_when(global(1), thread().widen(), r(0), thread().less(n(63))));
    let trap = trap_of(&module, 16).unwrap();
    assert_eq!(trap.to_string(), "kernel `test`: output element `out[63]` is never written");
}

#[test]
fn an_unmasked_tail_traps() {
    for (statement, expected) in [(2, "`a[33]`"), (3, "`out[33]`")] {
        let mut module = copy();
        match &mut module.kernels[0].body[statement] {
            Stmt::Load { when, .. } | Stmt::Store { when, .. } => *when = None,
            other => panic!("{other:?}"),
        }
        let failure = run_aligned(&module, &[33], &[vec![0.0; 33]], 33).unwrap_err().to_string();
        assert!(failure.contains(expected) && failure.contains("block 1, thread 1"), "{failure}");
    }
}

#[test]
fn a_dropped_barrier_traps() {
    for barrier in [5, 7, 9] {
        let mut module = transpose();
        assert_eq!(module.kernels[0].body.remove(barrier), Stmt::Barrier);
        let failure = run_aligned(&module, &[8, 8], &[vec![0.0; 64]], 64);
        if barrier == 9 {
            // After it every thread reads its own cell, so it orders nothing.
            assert!(failure.is_ok());
        } else {
            assert!(failure.unwrap_err().to_string().contains("race"), "{barrier}");
        }
    }
    for barrier in [2, 4] {
        let mut module = matmul(Tiles { m: 16, n: 8, k: 4 });
        let Stmt::For { body, .. } = &mut module.kernels[0].body[8] else { panic!("no loop") };
        assert_eq!(body.remove(barrier), Stmt::Barrier);
        let inputs = [vec![1.0; 16 * 8], vec![1.0; 8 * 8]];
        let failure = run_aligned(&module, &[16, 8, 8], &inputs, 128).unwrap_err().to_string();
        assert!(failure.contains("race"), "{failure}");
    }
}
