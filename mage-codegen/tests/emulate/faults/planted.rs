//! The faults: each row has a name, the statements that are wrong, and what the trap must say.

use mage_codegen::kernel::{
    Expr, HostExpr, Module, Place, Pred, Reg, RegId, SharedId, Space, Stmt, Ty, Value, VarId, Width,
};

use crate::build::{
    Builder, at, bind, copy_async, fill, global, load, load_four, module, n, serial, store,
    unrolled, v, when,
};

const X: VarId = VarId(0);
const Y: VarId = VarId(1);
const WIDE: VarId = VarId(2);
const TURN: VarId = VarId(3);
const FOUR: RegId = RegId(0);
const OTHER: RegId = RegId(1);
const CELLS: Space = Space::Shared(SharedId(0));

/// A kernel of one block of 64 threads that writes every output element, after `planted`. It has
/// 64 shared cells, a filled array of four registers and an array that nothing fills.
pub fn probe(planted: Vec<Stmt>) -> Module {
    let mut b = Builder::new(64);
    b.typed_var("x", Ty::U32, false);
    b.typed_var("y", Ty::U32, true);
    b.typed_var("wide", Ty::U64, false);
    b.typed_var("turn", Ty::U32, false);
    b.shared("cells", 64);
    b.registers("four", 4);
    b.registers("other", 1);
    b.kernel.body = vec![fill(FOUR)];
    b.kernel.body.extend(planted);
    b.kernel.body.push(store(global(1), Expr::Thread.widen(), r(0)));
    module(&["i"], &[&[0], &[0]], HostExpr::Const(1), b.kernel)
}

pub fn r(element: u32) -> Reg {
    at(FOUR, n(element))
}

pub fn thread() -> Expr {
    Expr::Thread
}

fn lane_zero() -> Pred {
    thread().less(n(1))
}

fn max() -> Expr {
    n(u32::MAX)
}

fn store_four(space: Space, offset: Expr) -> Stmt {
    let from = (0..4).map(r).collect();
    Stmt::Store { to: Place { space, offset }, from, width: Width::Four, when: None }
}

/// The name of a fault, the statements that have it, and what the trap must say.
pub type Row = (&'static str, Vec<Stmt>, &'static str);

pub fn memory_faults() -> Vec<Row> {
    let wide = |expr: Expr| expr.widen();
    vec![
        (
            "global load past the end",
            vec![load(r(0), global(0), wide(thread().plus(n(1))))],
            "thread 63, at `1: load four from a`: `a[64]`, 1 wide, is out of bounds: the buffer has 64",
        ),
        (
            "global four past the end",
            vec![load_four(r(0), global(0), wide(thread().times(n(4))))],
            "thread 16, at `1: load four four from a`: `a[64]`, 4 wide, is out of bounds",
        ),
        (
            "global store past the end",
            vec![store(global(1), wide(n(64)), r(0))],
            "`out[64]`, 1 wide, is out of bounds",
        ),
        (
            "global offset not a multiple of four",
            vec![load_four(r(0), global(0), wide(n(2)))],
            "the access of `a[2]`, 4 wide, is misaligned",
        ),
        (
            "store to an input",
            vec![store(global(0), wide(thread()), r(0))],
            "`a[0]` is written but the buffer is for reading only",
        ),
        (
            "load from the output",
            vec![load(r(0), global(1), wide(thread()))],
            "`out[0]` is read but the buffer is for writing only",
        ),
        (
            "output written twice",
            vec![store(global(1), wide(thread()), r(0))],
            "thread 0, at `2: store four to out`: output element `out[0]` is written twice",
        ),
        (
            "shared load past the end",
            vec![load(r(0), CELLS, n(64))],
            "`cells[64]`, 1 wide, is out of bounds: the array has 64",
        ),
        (
            "shared four past the end",
            vec![store_four(CELLS, thread().times(n(4)))],
            "thread 16, at `1: store four four to cells`: `cells[64]`, 4 wide, is out of bounds",
        ),
        (
            "shared offset not a multiple of four",
            vec![store_four(CELLS, n(2))],
            "the access of `cells[2]`, 4 wide, is misaligned",
        ),
        (
            "shared read before any write",
            vec![load(r(0), CELLS, thread())],
            "`cells[0]` is read but nothing in the block wrote it",
        ),
    ]
}

pub fn race_faults() -> Vec<Row> {
    let own = || store(CELLS, thread(), r(0));
    let next = || thread().plus(n(1)).modulo(n(64));
    vec![
        (
            "two writers",
            vec![store(CELLS, n(5), r(0))],
            "thread 1, at `1: store four to cells`: race: `cells[5]` is written, and thread 0 wrote it",
        ),
        (
            "write then read",
            vec![own(), load(r(1), CELLS, next())],
            "race: `cells[1]` is read, and thread 1 wrote it since the last barrier",
        ),
        (
            "read then write",
            vec![own(), Stmt::Barrier, load(r(1), CELLS, next()), own()],
            "race: `cells[0]` is written, and thread 63 read it since the last barrier",
        ),
        (
            "many reads then write",
            vec![own(), Stmt::Barrier, load(r(1), CELLS, n(3)), own()],
            "race: `cells[3]` is written, and more than one thread read it",
        ),
        (
            "race between branches",
            vec![
                own(),
                Stmt::Barrier,
                Stmt::If {
                    when: lane_zero(),
                    then: vec![load(r(1), CELLS, n(9))],
                    otherwise: vec![own()],
                },
            ],
            "thread 9, at `3: if else > 0: store four to cells`: race: `cells[9]` is written, and thread 0",
        ),
        (
            "barrier in a branch",
            vec![when(lane_zero(), vec![Stmt::Barrier])],
            "the barrier is reached by 1 of the block's 64 threads",
        ),
        (
            "barrier in a divergent loop",
            vec![serial(TURN, thread(), 1, vec![Stmt::Barrier])],
            "thread 1, at `1: for turn > 0: barrier`: the barrier is reached by 63 of the block's 64",
        ),
    ]
}

pub fn warp_faults() -> Vec<Row> {
    let shuffle = |lane_mask| Stmt::ShuffleXor { to: r(0), from: r(1), lane_mask };
    vec![
        (
            "shuffle in a branch",
            vec![when(lane_zero(), vec![shuffle(1)])],
            "thread 0, at `1: if > 0: shuffle xor 1 four`: the shuffle is reached by 1 of the warp's 32",
        ),
        (
            "shuffle in a branch that tears the second warp",
            vec![when(thread().less(n(40)), vec![shuffle(16)])],
            "thread 32, at `1: if > 0: shuffle xor 16 four`: the shuffle is reached by 8 of the warp's 32",
        ),
        (
            "shuffle in a divergent loop",
            vec![serial(TURN, thread(), 2, vec![shuffle(1)])],
            "thread 1, at `1: for turn > 0: shuffle xor 1 four`: the shuffle is reached by 31 of",
        ),
        ("shuffle with itself", vec![shuffle(0)], "the lane mask is 0, limit 1 to 31"),
        ("shuffle across warps", vec![shuffle(32)], "the lane mask is 32, limit 1 to 31"),
        (
            "shuffle of a register without a value",
            vec![Stmt::ShuffleXor { to: r(0), from: at(OTHER, n(0)), lane_mask: 1 }],
            "register `other[0]` is used before it has a value",
        ),
    ]
}

pub fn copy_faults() -> Vec<Row> {
    let copied =
        |to: Expr, from: Expr, elems| copy_async((CELLS, to), (global(0), from.widen()), elems);
    let own = || copied(thread(), thread(), 1);
    let read = |at: Expr| load(r(0), CELLS, at);
    let (commit, wait) = (Stmt::CommitCopies, |pending| Stmt::AwaitCopies { pending });
    let flying = "`cells[0]` is read, and a copy that nobody waited for wrote it";
    let four_times = || thread().modulo(n(16)).times(n(4));
    vec![
        ("copy that nobody waits for", vec![own(), read(thread())], flying),
        ("copy without a group", vec![own(), wait(0), read(thread())], flying),
        (
            "copy whose group may go on",
            vec![own(), commit.clone(), wait(1), read(thread())],
            flying,
        ),
        (
            "copy of another thread",
            vec![own(), commit.clone(), wait(0), read(thread().xor(n(1)))],
            "race: `cells[1]` is read, and thread 1 wrote it since the last barrier",
        ),
        (
            "store where a copy goes",
            vec![own(), store(CELLS, thread(), r(0))],
            "race: `cells[0]` is written, and a copy that nobody waited for wrote it",
        ),
        (
            "two copies to one cell",
            vec![copied(four_times(), four_times(), 4)],
            "thread 16, at `1: copy 4 from a to cells`: race: `cells[0]` is written",
        ),
        ("copy to no chunk", vec![copied(n(2), n(0), 4)], "`cells[2]`, 4 wide, is misaligned"),
        ("copy past the end", vec![copied(thread(), thread().plus(n(1)), 1)], "is out of bounds"),
        (
            "copy out of shared memory",
            vec![copy_async((global(1), thread().widen()), (CELLS, thread()), 1)],
            "a copy does not go from global to shared memory",
        ),
    ]
}

pub fn fragment_faults() -> Vec<Row> {
    let mma = |col: u32| Stmt::Mma { acc: r(0), row: r(0), col: r(col) };
    let matrices = |transposed, from| Stmt::LoadMatrices {
        to: r(0),
        from: Place { space: CELLS, offset: from },
        transposed,
    };
    vec![
        (
            "mma in a branch",
            vec![when(lane_zero(), vec![mma(0)])],
            "the mma is reached by 1 of the warp's 32",
        ),
        ("mma past the registers", vec![mma(3)], "register 3, 2 wide, is out of range"),
        (
            "mma of what is no TF32",
            vec![Stmt::Fill { reg: FOUR, value: 0.1 }, mma(0)],
            "which is not rounded to TF32, in an mma",
        ),
        (
            "matrices of f32 transposed",
            vec![matrices(true, n(0))],
            "matrices of f32 have no transposed load",
        ),
        (
            "matrices that nothing wrote",
            vec![matrices(false, thread().modulo(n(16)).times(n(4)))],
            "`cells[0]` is read but nothing in the block wrote it",
        ),
        ("a row between chunks", vec![matrices(false, n(2))], "`cells[2]`, 4 wide, is misaligned"),
    ]
}

pub fn index_faults() -> Vec<Row> {
    let y = |value: Expr| vec![bind(Y, value)];
    let wide = |value: Expr| vec![bind(WIDE, value)];
    vec![
        (
            "sum past 32 bits",
            y(thread().plus(max())),
            "thread 1, at `1: let y`: 1 + 4294967295 overflows u32",
        ),
        (
            "uniform sum past 32 bits",
            y(Expr::Block.plus(n(1)).plus(max())),
            "1 + 4294967295 overflows u32",
        ),
        ("product past 32 bits", y(thread().times(n(1 << 31))), "2 * 2147483648 overflows u32"),
        (
            "product past 64 bits",
            wide(thread().widen().times(Expr::u64(1 << 63))),
            "2 * 9223372036854775808 overflows u64",
        ),
        ("sum past 64 bits", wide(thread().widen().plus(Expr::u64(u64::MAX))), "overflows u64"),
        (
            "difference below zero",
            y(thread().minus(n(1))),
            "thread 0, at `1: let y`: 0 - 1 is below zero",
        ),
        (
            "wide difference below zero",
            wide(thread().widen().minus(Expr::u64(1))),
            "0 - 1 is below zero",
        ),
        ("quotient by zero", y(n(7).over(thread())), "7 / 0 divides by zero"),
        ("remainder by zero", y(n(7).modulo(Expr::Block)), "7 % 0 divides by zero"),
        (
            "narrowed value does not fit",
            y(thread().widen().times(Expr::u64(1 << 32)).narrow()),
            "thread 1, at `1: let y`: 4294967296 does not fit 32 bits",
        ),
        ("constant fault", y(n(0).minus(n(1))), "0 - 1 is below zero"),
    ]
}

pub fn value_faults() -> Vec<Row> {
    let copy = |from| vec![Stmt::Compute { to: r(0), value: Value::Copy(from) }];
    let indexed = |index| copy(at(FOUR, index));
    vec![
        (
            "immutable variable assigned",
            vec![bind(X, n(1)), Stmt::Assign { var: X, value: n(2) }],
            "`x` is assigned but not mutable",
        ),
        (
            "assigned before a value",
            vec![Stmt::Assign { var: Y, value: n(2) }],
            "`y` is assigned before it has a value",
        ),
        ("variable before its value", vec![bind(X, v(Y))], "`y` is used before it has a value"),
        (
            "loop variable after the loop",
            vec![serial(TURN, n(2), 1, vec![]), bind(X, v(TURN))],
            "`turn` is used before it has a value",
        ),
        (
            "register before its value",
            copy(at(OTHER, n(0))),
            "register `other[0]` is used before it has a value",
        ),
        ("register past the array", indexed(n(4)), "register 4, 1 wide, is out of range"),
        (
            "register past the array in a loop",
            vec![unrolled(TURN, 5, indexed(v(TURN)))],
            "at `1: for turn > 0: copy four`: register 4, 1 wide, is out of range",
        ),
        (
            "four registers past the array",
            vec![load_four(r(1), global(0), n(0).widen())],
            "register 1, 4 wide, is out of range",
        ),
        (
            "register chosen by the thread",
            indexed(thread()),
            "a register index is not made of constants",
        ),
        (
            "register chosen by a lane's variable",
            vec![bind(X, thread()), Stmt::Compute { to: r(0), value: Value::Copy(at(FOUR, v(X))) }],
            "a register index uses `x`, which differs between threads",
        ),
        (
            "store of too few registers",
            vec![Stmt::Store {
                to: Place { space: CELLS, offset: n(0) },
                from: vec![r(0)],
                width: Width::Four,
                when: None,
            }],
            "the store has 1 registers for 4 elements",
        ),
        ("unknown variable", vec![bind(VarId(99), n(0))], "VarId(99) does not exist"),
    ]
}
