//! Short names for building modules by hand; the only file here that spells the IR's types out.

use mage_codegen::emulate::{Arguments, Failure, Input, Output, Run, run};
use mage_codegen::kernel::{
    Buffer, BufferId, BufferUse, Expr, HostExpr, HostStep, Kernel, Label, Module, Param,
    ParamValue, Place, Pred, Provenance, Reg, RegArray, RegId, SharedArray, SharedId, Space, Stmt,
    Ty, Value, Var, VarId, Width,
};
use mage_einsum::dtype::Dtype;
use mage_einsum::index::{Extent, Layout};

/// A kernel under construction.
pub struct Builder {
    /// The kernel so far.
    pub kernel: Kernel,
}

impl Builder {
    /// A kernel without anything in it.
    pub fn new(block_threads: u32) -> Builder {
        Builder {
            kernel: Kernel {
                name: "test".to_string(),
                summary: "a test".to_string(),
                block_threads,
                min_blocks: 1,
                params: Vec::new(),
                shared: Vec::new(),
                registers: Vec::new(),
                vars: Vec::new(),
                body: Vec::new(),
            },
        }
    }

    /// A new 32-bit variable.
    pub fn var(&mut self, name: &str) -> VarId {
        self.typed_var(name, Ty::U32, false)
    }

    /// A new variable.
    pub fn typed_var(&mut self, name: &str, ty: Ty, mutable: bool) -> VarId {
        self.kernel.vars.push(Var { name: name.to_string(), ty, mutable });
        VarId(self.kernel.vars.len() - 1)
    }

    /// A parameter that is the extent of a label.
    pub fn extent(&mut self, name: &str, label: usize) -> Expr {
        let var = self.var(name);
        self.kernel
            .params
            .push(Param { var, value: ParamValue::Unsigned(HostExpr::Extent(label)) });
        Expr::Var(var)
    }

    /// A new register array.
    pub fn registers(&mut self, name: &str, elems: u32) -> RegId {
        let array = RegArray { name: name.to_string(), elems, dtype: Dtype::F32 };
        self.kernel.registers.push(array);
        RegId(self.kernel.registers.len() - 1)
    }

    /// A new shared array.
    pub fn shared(&mut self, name: &str, elems: u32) -> Space {
        let array = SharedArray { name: name.to_string(), elems, dtype: Dtype::F32 };
        self.kernel.shared.push(array);
        Space::Shared(SharedId(self.kernel.shared.len() - 1))
    }
}

pub fn n(value: u32) -> Expr {
    Expr::u32(value)
}

pub fn v(var: VarId) -> Expr {
    Expr::Var(var)
}

pub fn at(array: RegId, at: Expr) -> Reg {
    Reg { array, at }
}

pub fn global(buffer: usize) -> Space {
    Space::Global(BufferId(buffer))
}

pub fn bind(var: VarId, value: Expr) -> Stmt {
    Stmt::Let { var, value }
}

pub fn fill(reg: RegId) -> Stmt {
    Stmt::Fill { reg, value: 0.0 }
}

pub fn serial(var: VarId, end: Expr, step: u32, body: Vec<Stmt>) -> Stmt {
    Stmt::For { var, begin: n(0), end, step, unroll: false, body }
}

pub fn unrolled(var: VarId, end: u32, body: Vec<Stmt>) -> Stmt {
    Stmt::For { var, begin: n(0), end: n(end), step: 1, unroll: true, body }
}

pub fn when(when: Pred, then: Vec<Stmt>) -> Stmt {
    Stmt::If { when, then, otherwise: Vec::new() }
}

pub fn load(to: Reg, space: Space, offset: Expr) -> Stmt {
    Stmt::Load { to, from: Place { space, offset }, width: Width::One, when: None }
}

pub fn load_four(to: Reg, space: Space, offset: Expr) -> Stmt {
    Stmt::Load { to, from: Place { space, offset }, width: Width::Four, when: None }
}

pub fn load_when(to: Reg, space: Space, offset: Expr, when: Pred) -> Stmt {
    Stmt::Load { to, from: Place { space, offset }, width: Width::One, when: Some(when) }
}

pub fn store(space: Space, offset: Expr, from: Reg) -> Stmt {
    Stmt::Store { to: Place { space, offset }, from: vec![from], width: Width::One, when: None }
}

pub fn store_when(space: Space, offset: Expr, from: Reg, when: Pred) -> Stmt {
    Stmt::Store {
        to: Place { space, offset },
        from: vec![from],
        width: Width::One,
        when: Some(when),
    }
}

/// Starts a copy to shared memory.
pub fn copy_async(to: (Space, Expr), from: (Space, Expr), elems: u32) -> Stmt {
    let place = |(space, offset)| Place { space, offset };
    Stmt::Copy { to: place(to), from: place(from), elems, when: None }
}

pub fn fma(to: Reg, first: Reg, second: Reg) -> Stmt {
    Stmt::Compute { to: to.clone(), value: Value::Fma(first, second, to) }
}

/// A module of one kernel: inputs with the named labels, then the output.
pub fn module(labels: &[&str], tensors: &[&[usize]], blocks: HostExpr, kernel: Kernel) -> Module {
    let last = tensors.len() - 1;
    Module {
        name: "test".to_string(),
        provenance: Provenance::default(),
        labels: labels
            .iter()
            .map(|name| Label {
                name: name.to_string(),
                ident: name.to_string(),
                extent: Extent::Runtime,
            })
            .collect(),
        buffers: tensors
            .iter()
            .enumerate()
            .map(|(position, dims)| Buffer {
                name: tensor_name(position, last).to_uppercase(),
                ident: tensor_name(position, last),
                parts: None,
                dims: dims.to_vec(),
                dtype: Dtype::F32,
                index: None,
                layout: Layout::RowMajor,
                usage: if position == last { BufferUse::Write } else { BufferUse::Read },
            })
            .collect(),
        workspace: None,
        host: vec![HostStep::Launch { kernel: 0, blocks }],
        kernels: vec![kernel],
    }
}

fn tensor_name(position: usize, last: usize) -> String {
    if position == last { "out".to_string() } else { ["a", "b", "c"][position].to_string() }
}

/// Runs with aligned buffers.
pub fn run_aligned(
    module: &Module,
    extents: &[u64],
    inputs: &[Vec<f64>],
    output_len: usize,
) -> Result<Run, Failure> {
    let inputs: Vec<Input> =
        inputs.iter().map(|data| Input { data, view: None, byte_alignment: 16 }).collect();
    let arguments = Arguments {
        extents,
        inputs: &inputs,
        indices: &[],
        outputs: &[Output { len: output_len, before: &[], byte_alignment: 16 }],
        workspace_len: None,
        workspace_byte_alignment: 16,
    };
    run(module, &arguments)
}
