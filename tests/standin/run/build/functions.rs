//! Hand-built modules `Y[i] = f(X[i])`, one for every function that kernels have for f32.

use mage_codegen::kernel::{
    Buffer, BufferId, BufferUse, Expr, HostError, HostExpr, HostPred, HostStep, Kernel, Label,
    Module, Param, ParamValue, Place, Provenance, Reg, RegArray, RegId, Space, Stmt, Ty, Value,
    Var, VarId, Width,
};
use mage_einsum::dtype::Dtype;
use mage_einsum::function::Function;
use mage_einsum::index::{Extent, Layout};

const BLOCK_THREADS: u32 = 256;

/// The module of a function.
pub fn module(function: Function) -> Module {
    let extent = HostExpr::Extent(0);
    let length = |buffer| HostStep::Require {
        that: HostPred::LengthIs(buffer, extent.clone()),
        error: HostError::LengthMismatch { buffer },
    };
    let name = format!("function_{}", function.name());
    let label = Label { name: "i".to_string(), ident: "i".to_string(), extent: Extent::Runtime };
    let blocks = extent.clone().ceil_div(u64::from(BLOCK_THREADS));
    Module {
        name: name.clone(),
        provenance: Provenance {
            notation: format!("Y[i] = {}(X[i])", function.name()),
            ..Provenance::default()
        },
        labels: vec![label],
        buffers: vec![buffer("X", BufferUse::Read), buffer("Y", BufferUse::Write)],
        workspace: None,
        host: vec![
            HostStep::Require {
                that: HostPred::AtMost(extent.clone(), u64::from(u32::MAX)),
                error: HostError::ExtentLimit { label: 0, limit: u64::from(u32::MAX) },
            },
            length(BufferId(0)),
            length(BufferId(1)),
            HostStep::ReturnIf(HostPred::IsZero(extent.clone())),
            HostStep::Launch { kernel: 0, blocks },
        ],
        kernels: vec![kernel(name, function)],
    }
}

fn buffer(name: &str, usage: BufferUse) -> Buffer {
    Buffer {
        name: name.to_string(),
        ident: name.to_lowercase(),
        parts: None,
        dims: vec![0],
        dtype: Dtype::F32,
        index: None,
        layout: Layout::RowMajor,
        usage,
    }
}

fn kernel(name: String, function: Function) -> Kernel {
    let (i, i_extent) = (VarId(0), VarId(1));
    let var = |name: &str| Var { name: name.to_string(), ty: Ty::U32, mutable: false };
    let element = || Reg { array: RegId(0), at: Expr::u32(0) };
    let place = |buffer| Place { space: Space::Global(buffer), offset: Expr::Var(i).widen() };
    let inside = vec![
        Stmt::Fill { reg: RegId(0), value: 0.0 },
        Stmt::Load { to: element(), from: place(BufferId(0)), width: Width::One, when: None },
        Stmt::Compute { to: element(), value: Value::Call(function, element()) },
        Stmt::Store {
            to: place(BufferId(1)),
            from: vec![element()],
            width: Width::One,
            when: None,
        },
    ];
    let position = Expr::Block.times(Expr::u32(BLOCK_THREADS)).plus(Expr::Thread);
    Kernel {
        name,
        summary: "One thread an element.".to_string(),
        block_threads: BLOCK_THREADS,
        min_blocks: 1,
        params: vec![Param { var: i_extent, value: ParamValue::Unsigned(HostExpr::Extent(0)) }],
        shared: Vec::new(),
        registers: vec![RegArray { name: "value".to_string(), elems: 1, dtype: Dtype::F32 }],
        vars: vec![var("i"), var("i_extent")],
        body: vec![
            Stmt::Let { var: i, value: position },
            Stmt::If {
                when: Expr::Var(i).less(Expr::Var(i_extent)),
                then: inside,
                otherwise: Vec::new(),
            },
        ],
    }
}
