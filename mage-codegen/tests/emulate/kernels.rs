//! Correct kernels to run and to break: a copy, a shared transpose, a tiled matmul.

use mage_codegen::kernel::{Expr, HostExpr, Module, Place, Pred, RegId, Space, Stmt, VarId, Width};

use crate::build::{
    Builder, at, bind, fill, fma, global, load, load_four, load_when, module, n, serial, store,
    store_when, unrolled, v,
};

/// `i->i` by 32 threads a block, masked at the tail.
pub fn copy() -> Module {
    let mut b = Builder::new(32);
    let extent = b.extent("i_extent", 0);
    let i = b.var("i");
    let one = b.registers("one", 1);
    let inside = v(i).less(extent);
    b.kernel.body = vec![
        bind(i, Expr::Block.times(n(32)).plus(Expr::Thread)),
        fill(one),
        load_when(at(one, n(0)), global(0), v(i).widen(), inside.clone()),
        store_when(global(1), v(i).widen(), at(one, n(0)), inside),
    ];
    let blocks = HostExpr::Extent(0).ceil_div(32);
    module(&["i"], &[&[0], &[0]], blocks, b.kernel)
}

/// `ij->ji` for an 8 by 8 matrix through shared memory, one block of 64 threads, two stages: the
/// second goes through the same cells the other way and so undoes nothing but needs its barriers.
pub fn transpose() -> Module {
    let mut b = Builder::new(64);
    let tile = b.shared("tile", 64);
    let one = b.registers("one", 1);
    let (row, col) = (b.var("row"), b.var("col"));
    let straight = v(row).times(n(8)).plus(v(col));
    let across = v(col).times(n(8)).plus(v(row));
    b.kernel.body = vec![
        bind(row, Expr::Thread.over(n(8))),
        bind(col, Expr::Thread.modulo(n(8))),
        fill(one),
        load(at(one, n(0)), global(0), straight.clone().widen()),
        store(tile, straight.clone(), at(one, n(0))),
        Stmt::Barrier,
        load(at(one, n(0)), tile, across.clone()),
        Stmt::Barrier,
        store(tile, straight.clone(), at(one, n(0))),
        Stmt::Barrier,
        load(at(one, n(0)), tile, straight.clone()),
        store(global(1), straight.widen(), at(one, n(0))),
    ];
    module(&["i", "j"], &[&[0, 1], &[1, 0]], HostExpr::Const(1), b.kernel)
}

/// Tiles of the matmul; a thread owns four by four elements.
#[derive(Clone, Copy)]
pub struct Tiles {
    pub m: u32,
    pub n: u32,
    pub k: u32,
}

impl Tiles {
    pub fn threads(self) -> u32 {
        self.m / 4 * (self.n / 4)
    }

    pub fn blocks(self) -> HostExpr {
        HostExpr::Product(vec![
            HostExpr::Extent(0).ceil_div(u64::from(self.m)),
            HostExpr::Extent(2).ceil_div(u64::from(self.n)),
        ])
    }
}

/// What stages one operand: a tile of `rows` by `cols` of a matrix, masked at the edges.
struct Stage {
    from: Space,
    to: Space,
    rows: u32,
    cols: u32,
    /// First row and column of the tile, and the matrix's extents.
    corner: (Expr, Expr),
    extents: (Expr, Expr),
    /// Whether columns become rows on the way.
    transposed: bool,
    names: [&'static str; 4],
}

fn stage(b: &mut Builder, staged: RegId, stage: Stage) -> Stmt {
    let threads = b.kernel.block_threads;
    let [turn, flat, row, col] = stage.names.map(|name| b.var(name));
    let in_row = stage.corner.0.plus(v(row));
    let in_col = stage.corner.1.plus(v(col));
    let offset =
        in_row.clone().widen().times(stage.extents.1.clone().widen()).plus(in_col.clone().widen());
    let place = if stage.transposed {
        v(col).times(n(stage.rows)).plus(v(row))
    } else {
        v(row).times(n(stage.cols)).plus(v(col))
    };
    let inside = Pred::All(vec![in_row.less(stage.extents.0), in_col.less(stage.extents.1)]);
    unrolled(
        turn,
        stage.rows * stage.cols / threads,
        vec![
            bind(flat, v(turn).times(n(threads)).plus(Expr::Thread)),
            bind(row, v(flat).over(n(stage.cols))),
            bind(col, v(flat).modulo(n(stage.cols))),
            load_when(at(staged, n(0)), stage.from, offset, inside),
            store(stage.to, place, at(staged, n(0))),
        ],
    )
}

/// `ik,kj->ij`, labels i, k, j; both operands through shared memory.
pub fn matmul(tiles: Tiles) -> Module {
    let mut b = Builder::new(tiles.threads());
    let (i, k, j) = (b.extent("i", 0), b.extent("k", 1), b.extent("j", 2));
    let [i_tile, j_tile, row, col, k_tile] =
        ["i_tile", "j_tile", "row", "col", "k_tile"].map(|name| b.var(name));
    let a_tile = b.shared("a_tile", tiles.m * tiles.k);
    let b_tile = b.shared("b_tile", tiles.k * tiles.n);
    let (acc, staged) = (b.registers("acc", 16), b.registers("staged", 1));
    let columns = j.clone().plus(n(tiles.n - 1)).over(n(tiles.n));
    let a_stage = Stage {
        from: global(0),
        to: a_tile,
        rows: tiles.m,
        cols: tiles.k,
        corner: (v(i_tile), v(k_tile)),
        extents: (i.clone(), k.clone()),
        transposed: true,
        names: ["a_turn", "a_flat", "a_row", "a_col"],
    };
    let b_stage = Stage {
        from: global(1),
        to: b_tile,
        rows: tiles.k,
        cols: tiles.n,
        corner: (v(k_tile), v(j_tile)),
        extents: (k.clone(), j.clone()),
        transposed: false,
        names: ["b_turn", "b_flat", "b_row", "b_col"],
    };
    let turn = vec![
        stage(&mut b, staged, a_stage),
        stage(&mut b, staged, b_stage),
        Stmt::Barrier,
        product(&mut b, tiles, acc, [a_tile, b_tile], [row, col]),
        Stmt::Barrier,
    ];
    b.kernel.body = vec![
        bind(i_tile, Expr::Block.over(columns.clone()).times(n(tiles.m))),
        bind(j_tile, Expr::Block.modulo(columns).times(n(tiles.n))),
        bind(row, Expr::Thread.over(n(tiles.n / 4)).times(n(4))),
        bind(col, Expr::Thread.modulo(n(tiles.n / 4)).times(n(4))),
        fill(acc),
        fill(staged),
        serial(k_tile, k, tiles.k, turn),
        write_back(&mut b, acc, (v(i_tile).plus(v(row)), v(j_tile).plus(v(col))), (i, j)),
    ];
    // Fragments are filled where the rest is, before their first use in the loop.
    b.kernel.body.insert(4, fill(RegId(2)));
    b.kernel.body.insert(4, fill(RegId(3)));
    module(&["i", "k", "j"], &[&[0, 1], &[1, 2], &[0, 2]], tiles.blocks(), b.kernel)
}

fn product(
    b: &mut Builder,
    tiles: Tiles,
    acc: RegId,
    [a_tile, b_tile]: [Space; 2],
    [row, col]: [VarId; 2],
) -> Stmt {
    let (a, right) = (b.registers("a_frag", 4), b.registers("b_frag", 4));
    let [inner, u, w] = ["k_inner", "u", "w"].map(|name| b.var(name));
    let element = at(acc, v(u).times(n(4)).plus(v(w)));
    serial(
        inner,
        n(tiles.k),
        1,
        vec![
            load_four(at(a, n(0)), a_tile, v(inner).times(n(tiles.m)).plus(v(row))),
            load_four(at(right, n(0)), b_tile, v(inner).times(n(tiles.n)).plus(v(col))),
            unrolled(u, 4, vec![unrolled(w, 4, vec![fma(element, at(a, v(u)), at(right, v(w)))])]),
        ],
    )
}

fn write_back(b: &mut Builder, acc: RegId, from: (Expr, Expr), extents: (Expr, Expr)) -> Stmt {
    let [u, w] = ["u_out", "w_out"].map(|name| b.var(name));
    let (row, col) = (from.0.plus(v(u)), from.1.plus(v(w)));
    let offset = row.clone().widen().times(extents.1.clone().widen()).plus(col.clone().widen());
    let to = Stmt::Store {
        to: Place { space: global(2), offset },
        from: vec![at(acc, v(u).times(n(4)).plus(v(w)))],
        width: Width::One,
        when: Some(Pred::All(vec![row.less(extents.0), col.less(extents.1)])),
    };
    unrolled(u, 4, vec![unrolled(w, 4, vec![to])])
}
