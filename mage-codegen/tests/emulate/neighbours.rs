//! A hand-built module with index operands: `Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]`,
//! one thread an element of the output. The stand-in runs its source.

use mage_codegen::kernel::{
    Buffer, BufferId, BufferUse, Expr, HostError, HostExpr, HostPred, HostStep, IndexUse, Kernel,
    Label, Module, Param, ParamValue, Place, Provenance, Reg, RegArray, RegId, Space, Stmt, Ty,
    Value, Var, VarId, Width,
};
use mage_einsum::dtype::Dtype;
use mage_einsum::index::{Extent, Layout};

const BLOCK_THREADS: u32 = 64;

/// Positions of the labels.
const I: usize = 0;
const F: usize = 1;
const N: usize = 2;
const E: usize = 3;

/// The buffers.
pub const W: BufferId = BufferId(0);
pub const X: BufferId = BufferId(1);
pub const P: BufferId = BufferId(2);
pub const S: BufferId = BufferId(3);
pub const Y: BufferId = BufferId(4);

/// The module.
pub fn module() -> Module {
    let label =
        |name: &str| Label { name: name.into(), ident: name.into(), extent: Extent::Runtime };
    let pointers = Some(IndexUse::Pointers { into: E });
    let mut module = Module {
        name: "neighbours".to_string(),
        provenance: Provenance {
            notation: "Y[i,f] = sum(e in p[i]..p[i+1]) w[e] * X[s[e],f]".to_string(),
            ..Provenance::default()
        },
        labels: ["i", "f", "n", "e"].map(label).to_vec(),
        buffers: vec![
            buffer("W", &[E], BufferUse::Read, None),
            buffer("X", &[N, F], BufferUse::Read, None),
            buffer("P", &[I], BufferUse::Index, pointers),
            buffer("S", &[E], BufferUse::Index, Some(IndexUse::Below(N))),
            buffer("Y", &[I, F], BufferUse::Write, None),
        ],
        workspace: None,
        host: Vec::new(),
        kernels: vec![kernel()],
    };
    module.host = host(&module);
    module
}

fn buffer(name: &str, dims: &[usize], usage: BufferUse, index: Option<IndexUse>) -> Buffer {
    Buffer {
        name: name.to_string(),
        ident: name.to_lowercase(),
        parts: None,
        dims: dims.to_vec(),
        dtype: Dtype::F32,
        index,
        layout: Layout::RowMajor,
        usage,
    }
}

fn host(module: &Module) -> Vec<HostStep> {
    let mut steps = Vec::new();
    let mut require = |that, error| steps.push(HostStep::Require { that, error });
    for label in [I, F, N, E] {
        let limit = u64::from(u32::MAX);
        require(
            HostPred::AtMost(HostExpr::Extent(label), limit),
            HostError::ExtentLimit { label, limit },
        );
    }
    for (id, buffer) in [W, X, P, S, Y].into_iter().zip(&module.buffers) {
        let product = HostExpr::product(buffer.dims.iter().map(|dim| HostExpr::Extent(*dim)));
        let more = u64::from(id == P);
        let elems = HostExpr::sum([product, HostExpr::Const(more)]);
        if buffer.dims.len() > 1 {
            let overflow = HostError::SizeOverflow { buffer: id };
            require(HostPred::AtMost(elems.clone(), u64::from(u32::MAX)), overflow);
        }
        require(HostPred::LengthIs(id, elems), HostError::LengthMismatch { buffer: id });
        if let Some(that) = module.index_requirement(id) {
            require(that, HostError::IndexOutOfRange { buffer: id });
        }
    }
    let elems = HostExpr::Product(vec![HostExpr::Extent(I), HostExpr::Extent(F)]);
    steps.push(HostStep::ReturnIf(HostPred::IsZero(elems.clone())));
    let blocks = elems.ceil_div(u64::from(BLOCK_THREADS));
    steps.push(HostStep::Launch { kernel: 0, blocks });
    steps
}

fn kernel() -> Kernel {
    let names = ["position", "i", "f", "begin", "end", "e", "source", "f_extent", "y_elems"];
    let [position, i, f, begin, end, e, source, f_extent, y_elems] =
        [0, 1, 2, 3, 4, 5, 6, 7, 8].map(VarId);
    let elems = HostExpr::Product(vec![HostExpr::Extent(I), HostExpr::Extent(F)]);
    let at = |array: usize| Reg { array: RegId(array), at: Expr::u32(0) };
    let var = Expr::Var;
    let place = |buffer, offset| Place { space: Space::Global(buffer), offset };
    let load = |array, from| Stmt::Load { to: at(array), from, width: Width::One, when: None };
    let index = |var, from| Stmt::LoadIndex { var, from };
    let x = var(source).widen().times(var(f_extent).widen()).plus(var(f).widen());
    let turn = vec![
        index(source, place(S, var(e).widen())),
        load(1, place(W, var(e).widen())),
        load(2, place(X, x)),
        Stmt::Compute { to: at(0), value: Value::Fma(at(1), at(2), at(0)) },
    ];
    let inside = vec![
        Stmt::Let { var: i, value: var(position).over(var(f_extent)) },
        Stmt::Let { var: f, value: var(position).modulo(var(f_extent)) },
        index(begin, place(P, var(i).widen())),
        index(end, place(P, var(i).widen().plus(Expr::u64(1)))),
        Stmt::serial(e, [var(begin), var(end)], 1, turn),
        Stmt::Store {
            to: place(Y, var(position).widen()),
            from: vec![at(0)],
            width: Width::One,
            when: None,
        },
    ];
    let thread = Expr::Block.times(Expr::u32(BLOCK_THREADS)).plus(Expr::Thread);
    let fill = |array| Stmt::Fill { reg: RegId(array), value: 0.0 };
    Kernel {
        name: "neighbours".to_string(),
        summary: "One thread an element of the output.".to_string(),
        block_threads: BLOCK_THREADS,
        min_blocks: 1,
        params: vec![
            Param { var: f_extent, value: ParamValue::Unsigned(HostExpr::Extent(F)) },
            Param { var: y_elems, value: ParamValue::Unsigned(elems) },
        ],
        shared: Vec::new(),
        registers: ["sum", "weight", "element"]
            .map(|name| RegArray { name: name.to_string(), elems: 1, dtype: Dtype::F32 })
            .to_vec(),
        vars: names
            .map(|name| Var { name: name.to_string(), ty: Ty::U32, mutable: false })
            .to_vec(),
        body: vec![
            fill(0),
            fill(1),
            fill(2),
            Stmt::Let { var: position, value: thread },
            Stmt::If {
                when: var(position).less(var(y_elems)),
                then: inside,
                otherwise: Vec::new(),
            },
        ],
    }
}
