//! `kernel::verify` accepts correct modules and says why it refuses the others.

use mage_codegen::kernel::{
    Arm, BinOp, Expr, HostExpr, HostPred, HostStep, Module, ParamValue, Place, RegId, SharedId,
    Space, Stmt, Ty, Value, VarId, Width, verify,
};
use mage_einsum::dtype::Dtype;
use mage_einsum::function::Function;

use crate::build::{
    Builder, at, bind, copy_async, fill, global, load, load_four, module, n, serial, store,
    unrolled, v, when,
};
use crate::kernels::{Tiles, copy, matmul, transpose};

#[test]
fn correct_modules_pass() {
    for module in [copy(), transpose(), matmul(Tiles { m: 16, n: 8, k: 4 })] {
        assert_eq!(verify(&module), Ok(()));
    }
}

const X: VarId = VarId(0);
const Y: VarId = VarId(1);
const WIDE: VarId = VarId(2);
const FOUR: RegId = RegId(0);
const CELLS: Space = Space::Shared(SharedId(0));

fn probe(planted: Vec<Stmt>) -> Module {
    let mut b = Builder::new(64);
    b.typed_var("x", Ty::U32, false);
    b.typed_var("y", Ty::U32, true);
    b.typed_var("wide", Ty::U64, false);
    b.shared("cells", 64);
    b.registers("four", 4);
    b.kernel.body = planted;
    module(&["i"], &[&[0], &[0]], HostExpr::Const(1), b.kernel)
}

fn mixed() -> Expr {
    Expr::Binary(BinOp::Add, Box::new(Expr::Thread), Box::new(Expr::u64(1)))
}

fn r(element: u32) -> mage_codegen::kernel::Reg {
    at(FOUR, n(element))
}

fn shuffle(lane_mask: u32) -> Stmt {
    Stmt::ShuffleXor { to: r(0), from: r(1), lane_mask }
}

#[test]
fn refuses_a_shuffle_without_warps() {
    let mut module = probe(vec![fill(FOUR), shuffle(1)]);
    assert_eq!(verify(&module), Ok(()));
    module.kernels[0].block_threads = 48;
    let why = verify(&module).unwrap_err();
    assert!(why.contains("a shuffle in a block of 48 threads, which are no warps"), "{why}");
}

#[test]
fn refuses_what_feeds_the_tensor_cores_wrongly() {
    let copied = |elems| copy_async((CELLS, n(0)), (global(0), n(0).widen()), elems);
    let from = Place { space: CELLS, offset: n(0) };
    let matrices = Stmt::LoadMatrices { to: r(0), from, transposed: true };
    let mma = |col| Stmt::Mma { acc: r(0), row: r(0), col: r(col) };
    let outwards = copy_async((global(1), n(0).widen()), (CELLS, n(0)), 1);
    let rows = [
        (vec![copied(2)], "a copy of 8 bytes, which can be 4 or 16"),
        (vec![outwards], "a copy does not go from global to shared memory"),
        (vec![fill(FOUR), matrices], "matrices of f32 have no transposed load"),
        (vec![mma(0)], "`four` is used before it is filled"),
        (vec![fill(FOUR), mma(3)], "`four[3]`, 2 wide, is out of range: the array has 4"),
        (
            vec![fill(FOUR), when(Expr::Thread.less(n(1)), vec![mma(0)])],
            "an mma stands under an `if`",
        ),
    ];
    for (planted, expected) in rows {
        let why = verify(&probe(planted)).unwrap_err();
        assert!(why.contains(expected), "{why} instead of {expected}");
    }
    assert_eq!(verify(&probe(vec![copied(4), copied(1), fill(FOUR), mma(0)])), Ok(()));
}

#[test]
fn refuses_statements() {
    let thread = || Expr::Thread;
    let rows = [
        (vec![bind(WIDE, thread())], "the value is U32, not U64"),
        (vec![bind(X, mixed())], "Add of U32 and U64"),
        (vec![bind(X, thread().narrow())], "a narrowing of u32"),
        (vec![bind(X, n(1).over(n(0)))], "Div by zero"),
        (vec![bind(X, v(Y))], "`y` is used before it has a value"),
        (vec![bind(X, n(0)), bind(X, n(0))], "`x` is bound twice"),
        (vec![serial(X, n(2), 1, vec![]), bind(Y, v(X))], "`x` is used before"),
        (vec![when(thread().less(n(1)), vec![bind(X, n(0))]), bind(Y, v(X))], "`x` is used before"),
        (vec![bind(X, n(0)), Stmt::Assign { var: X, value: n(1) }], "assigned but not mutable"),
        (vec![serial(X, n(2), 0, vec![])], "the loop's step is zero"),
        (
            vec![Stmt::For {
                var: X,
                begin: n(0),
                end: thread(),
                step: 1,
                unroll: true,
                body: vec![],
            }],
            "an unrolled loop's bounds are not constant",
        ),
        (vec![when(thread().less(n(1)), vec![Stmt::Barrier])], "a barrier stands under an `if`"),
        (
            vec![fill(FOUR), when(thread().less(n(32)), vec![shuffle(1)])],
            "a shuffle stands under an `if`",
        ),
        (vec![fill(FOUR), shuffle(32)], "a shuffle with the lane mask 32, limit 1 to 31"),
        (vec![shuffle(1)], "`four` is used before it is filled"),
        (vec![load(r(0), CELLS, n(0))], "`four` is used before it is filled"),
        (vec![fill(FOUR), load(r(4), CELLS, n(0))], "`four[4]`, 1 wide, is out of range"),
        (vec![fill(FOUR), load_four(r(1), CELLS, n(0))], "`four[1]`, 4 wide, is out of range"),
        (vec![fill(FOUR), load(r(0), CELLS, Expr::u64(0))], "a shared offset is U64, not U32"),
        (vec![fill(FOUR), load(r(0), global(0), n(0))], "a global offset is U32, not U64"),
        (vec![fill(FOUR), load(r(0), global(1), Expr::u64(0))], "a load from a buffer for writing"),
        (vec![fill(FOUR), store(global(0), Expr::u64(0), r(0))], "a store to a buffer for reading"),
        (
            vec![fill(FOUR), serial(X, n(4), 1, vec![load(at(FOUR, v(X)), CELLS, n(0))])],
            "1: for x > 0: load four from cells > a register index uses `x`, \
             which is no unrolled loop's variable",
        ),
        (
            vec![
                fill(FOUR),
                Stmt::Store {
                    to: Place { space: CELLS, offset: n(0) },
                    from: vec![r(0)],
                    width: Width::Four,
                    when: None,
                },
            ],
            "the store has 1 registers for 4 elements",
        ),
    ];
    for (planted, expected) in rows {
        let why = verify(&probe(planted)).unwrap_err();
        assert!(why.starts_with("kernel `test`: ") && why.contains(expected), "{why}");
    }
    let indexed = unrolled(X, 4, vec![load(at(FOUR, v(X)), CELLS, n(0))]);
    assert_eq!(verify(&probe(vec![fill(FOUR), indexed])), Ok(()));
}

#[test]
fn refuses_values_of_other_types() {
    let compute = |value| vec![fill(FOUR), Stmt::Compute { to: r(0), value }];
    assert_eq!(verify(&probe(compute(Value::Call(Function::Erf, r(1))))), Ok(()));
    assert_eq!(verify(&probe(compute(Value::Index(Expr::Thread.widen())))), Ok(()));
    let signed = probe(compute(Value::Index(Expr::Thread.signed())));
    assert!(verify(&signed).unwrap_err().contains("a number has a sign"));
    let undefined = probe(compute(Value::Index(v(X))));
    assert!(verify(&undefined).unwrap_err().contains("`x`"));
    let mut double = probe(compute(Value::Call(Function::Erf, r(1))));
    double.kernels[0].registers[0].dtype = Dtype::F64;
    let why = verify(&double).unwrap_err();
    assert!(why.contains("`erf` has no kernel for f64"), "{why}");
    let mut half = probe(compute(Value::Number(1.0)));
    half.kernels[0].registers[0].dtype = Dtype::F16;
    assert!(verify(&half).unwrap_err().contains("`four` is of f16, not f32 or f64"));
}

#[test]
fn refuses_modules() {
    let spoilt = |spoil: fn(&mut Module)| {
        let mut module = copy();
        spoil(&mut module);
        verify(&module).unwrap_err()
    };
    assert!(spoilt(|m| m.kernels[0].block_threads = 0).contains("limit 1 to 1024"));
    assert!(spoilt(|m| m.kernels[0].block_threads = 1025).contains("limit 1 to 1024"));
    assert!(spoilt(|m| m.kernels[0].vars[1].name = "one".into()).contains("named `one`"));
    assert!(
        spoilt(|m| m.kernels[0].params[0].value = ParamValue::Unsigned(HostExpr::Extent(1)))
            .contains("label 1")
    );
    assert!(spoilt(|m| m.buffers[0].dims = vec![3]).contains("buffer `A`: label 3"));
    assert!(
        spoilt(|m| m.host.push(HostStep::Select(vec![]))).contains("host: a select has no arms")
    );
    let conditional = spoilt(|m| {
        let eligible = HostPred::MultipleOf(HostExpr::Extent(0), 4);
        let arm = Arm { name: "wide".into(), eligible, steps: vec![] };
        m.host.push(HostStep::Select(vec![arm]));
    });
    assert!(conditional.contains("the last arm of a select has a condition"));
    let unknown = HostStep::Launch { kernel: 7, blocks: HostExpr::Const(1) };
    let mut module = copy();
    module.host.push(unknown);
    assert!(verify(&module).unwrap_err().contains("kernel 7, which does not exist"));
    let by_zero = HostExpr::Const(1).ceil_div(0);
    module.host = vec![HostStep::Launch { kernel: 0, blocks: by_zero }];
    assert!(verify(&module).unwrap_err().contains("a division by zero"));
}
