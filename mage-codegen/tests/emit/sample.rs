//! Modules to print: a whole one from a specification, and one around a few statements.

use mage_codegen::kernel::{
    HostExpr, HostStep, Kernel, Module, RegArray, SharedArray, Stmt, Ty, Var,
};
use mage_codegen::pipeline;
use mage_einsum::dtype::Dtype;
use mage_einsum::spec;

/// `ik,kj->ij` in tiles, with a wide and a narrow variant.
pub fn matmul() -> Module {
    let spec = spec::parse_invocation("\"ik,kj->ij\", tile = 128").unwrap();
    pipeline::compile(&spec).unwrap().module
}

/// A module of one kernel with the given body, one 32-bit variable a name, which is mutable if it
/// begins so, a register array `acc` and a shared array `tiles`.
pub fn tiny(names: &[&str], body: Vec<Stmt>) -> Module {
    let vars = names.iter().map(|name| Var {
        name: (*name).to_string(),
        ty: Ty::U32,
        mutable: name.starts_with("mut_"),
    });
    let mut module = matmul();
    module.host = vec![HostStep::Launch { kernel: 0, blocks: HostExpr::Const(1) }];
    module.kernels = vec![Kernel {
        name: "tiny".to_string(),
        summary: "Nothing useful.".to_string(),
        block_threads: 32,
        min_blocks: 1,
        params: Vec::new(),
        shared: vec![SharedArray { name: "tiles".to_string(), elems: 64, dtype: Dtype::F32 }],
        registers: vec![RegArray { name: "acc".to_string(), elems: 8, dtype: Dtype::F32 }],
        vars: vars.collect(),
        body,
    }];
    module
}
