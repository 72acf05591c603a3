//! Correct kernels give the right values.

use mage_codegen::kernel::{Expr, HostExpr, Module, RegId, Stmt, Value};
use mage_einsum::dtype::Dtype;
use mage_einsum::function::Function;

use crate::build::{Builder, at, fill, global, load, module, n, run_aligned, store};
use crate::kernels::{Tiles, copy, matmul, transpose};

/// Small integers, so that sums are exact in any order.
fn numbers(len: usize) -> Vec<f64> {
    (0..len).map(|position| (position * 7 % 11) as f64 - 5.0).collect()
}

#[test]
fn copies_a_tail() {
    for extent in [1, 31, 32, 33, 100] {
        let input = numbers(extent);
        let run =
            run_aligned(&copy(), &[extent as u64], std::slice::from_ref(&input), extent).unwrap();
        assert_eq!(run.outputs[0], input);
        assert_eq!(run.launches[0].blocks, extent.div_ceil(32) as u64);
    }
}

#[test]
fn transposes_through_shared_memory() {
    let input = numbers(64);
    let run = run_aligned(&transpose(), &[8, 8], std::slice::from_ref(&input), 64).unwrap();
    for (position, value) in run.outputs[0].iter().enumerate() {
        assert_eq!(*value, input[position % 8 * 8 + position / 8]);
    }
}

#[test]
fn multiplies_matrices() {
    let small = Tiles { m: 16, n: 8, k: 4 };
    let large = Tiles { m: 64, n: 64, k: 16 };
    for (tiles, [i, k, j]) in [
        (small, [16, 4, 8]),
        (small, [17, 5, 9]),
        (small, [1, 1, 1]),
        (small, [33, 0, 7]),
        (large, [65, 63, 66]),
        (large, [128, 128, 128]),
    ] {
        let (a, b) = (numbers(i * k), numbers(k * j));
        let extents = [i as u64, k as u64, j as u64];
        let run = run_aligned(&matmul(tiles), &extents, &[a.clone(), b.clone()], i * j).unwrap();
        for row in 0..i {
            for col in 0..j {
                let expected: f64 = (0..k).map(|at| a[row * k + at] * b[at * j + col]).sum();
                assert_eq!(run.outputs[0][row * j + col], expected, "{row} {col}");
            }
        }
    }
}

/// One thread that computes a value of two elements.
fn computes(dtype: Dtype, value: Value) -> Module {
    let mut b = Builder::new(1);
    let r = b.registers("r", 3);
    b.kernel.registers[r.0].dtype = dtype;
    let of = |position| at(r, n(position));
    b.kernel.body = vec![
        fill(r),
        load(of(0), global(0), Expr::u64(0)),
        load(of(1), global(0), Expr::u64(1)),
        Stmt::Compute { to: of(2), value },
        store(global(1), Expr::u64(0), of(2)),
    ];
    let mut module = module(&["i", "j"], &[&[0], &[1]], HostExpr::Const(1), b.kernel);
    module.buffers.iter_mut().for_each(|buffer| buffer.dtype = dtype);
    module
}

#[test]
fn values_are_rounded_once() {
    let [a, b] = [0, 1].map(|position| at(RegId(0), n(position)));
    let (third, tiny) = (f64::from(1.0_f32 / 3.0), f64::from(f32::EPSILON / 4.0));
    // An f64 rounds it to the middle between two f32, which would then round down.
    let beyond = (1_u64 << 60) + (1 << 36) + 1;
    let twice = ((1_u64 << 60) + (1 << 37)) as f64;
    let rows = [
        (Value::Sub(a.clone(), b.clone()), [1.0, tiny], 1.0, 1.0 - tiny),
        (Value::Div(a.clone(), b.clone()), [1.0, 3.0], third, 1.0 / 3.0),
        (Value::Max(a.clone(), b.clone()), [1.0, -3.0], 1.0, 1.0),
        (Value::Min(a.clone(), b.clone()), [1.0, -3.0], -3.0, -3.0),
        (Value::Number(0.1), [0.0; 2], f64::from(0.1_f32), 0.1),
        (Value::Number(1e39), [0.0; 2], f64::INFINITY, 1e39),
        (Value::Index(Expr::u64(beyond)), [0.0; 2], twice, beyond as f64),
        (Value::Index(Expr::Thread), [0.0; 2], 0.0, 0.0),
        (Value::Call(Function::Rsqrt, a.clone()), [9.0, 0.0], third, 1.0 / 3.0),
        (Value::Call(Function::Negate, a.clone()), [9.0, 0.0], -9.0, -9.0),
    ];
    let computed = |dtype, value, [first, second]: [f64; 2]| {
        let run = run_aligned(&computes(dtype, value), &[2, 1], &[vec![first, second]], 1);
        run.unwrap().outputs[0][0]
    };
    for (value, given, single, double) in rows {
        assert_eq!(computed(Dtype::F32, value.clone(), given), single, "{value:?}");
        assert_eq!(computed(Dtype::F64, value.clone(), given), double, "{value:?}");
    }
    for value in [Value::Max(a.clone(), b.clone()), Value::Min(a, b)] {
        for given in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            assert!(computed(Dtype::F32, value.clone(), given).is_nan(), "{value:?}");
        }
    }
}
