//! Names the statements of a kernel for `verify` and for the emulator's traps. A place is a path:
//! the position of each statement in its list, and in a few words what it does.

use super::{BufferId, Kernel, Module, RegId, SharedId, Space, Stmt, Value, VarId, Width};

/// One element of a path, for example `2: for k_step`.
pub(crate) fn describe(module: &Module, kernel: &Kernel, position: usize, stmt: &Stmt) -> String {
    let names = Names { module, kernel };
    let words = match stmt {
        Stmt::Let { var, value: _ } => format!("let {}", names.var(*var)),
        Stmt::Assign { var, value: _ } => format!("assign {}", names.var(*var)),
        Stmt::Fill { reg, value } => format!("fill {} with {value}", names.register(*reg)),
        Stmt::For { var, .. } => format!("for {}", names.var(*var)),
        Stmt::If { .. } => "if".to_string(),
        Stmt::Barrier => "barrier".to_string(),
        Stmt::Load { to, from, width, when } => format!(
            "load{}{} {} from {}",
            wide(*width),
            if when.is_some() { " predicated" } else { "" },
            names.register(to.array),
            names.space(from.space)
        ),
        Stmt::Store { to, from, width, when } => format!(
            "store{}{} {} to {}",
            wide(*width),
            if when.is_some() { " predicated" } else { "" },
            from.first().map_or("?", |reg| names.register(reg.array)),
            names.space(to.space)
        ),
        Stmt::ShuffleXor { to, from: _, lane_mask } => {
            format!("shuffle xor {lane_mask} {}", names.register(to.array))
        }
        Stmt::Copy { to, from, elems, when } => format!(
            "copy {elems}{} from {} to {}",
            if when.is_some() { " predicated" } else { "" },
            names.space(from.space),
            names.space(to.space)
        ),
        Stmt::CommitCopies => "commit copies".to_string(),
        Stmt::AwaitCopies { pending } => format!("await copies but {pending}"),
        Stmt::LoadMatrices { to, from, transposed } => format!(
            "load matrices{} {} from {}",
            if *transposed { " transposed" } else { "" },
            names.register(to.array),
            names.space(from.space)
        ),
        Stmt::LoadIndex { var, from } => {
            format!("load index {} from {}", names.var(*var), names.space(from.space))
        }
        Stmt::Mma { acc, .. } => format!("mma {}", names.register(acc.array)),
        Stmt::Compute { to, value } => {
            format!("{} {}", operation(value), names.register(to.array))
        }
    };
    format!("{position}: {words}")
}

fn wide(width: Width) -> &'static str {
    match width {
        Width::One => "",
        Width::Two => " two",
        Width::Four => " four",
    }
}

fn operation(value: &Value) -> &'static str {
    match value {
        Value::Copy(_) => "copy",
        Value::Number(_) => "number",
        Value::Index(_) => "index",
        Value::Add(..) => "add",
        Value::Sub(..) => "sub",
        Value::Mul(..) => "mul",
        Value::Div(..) => "div",
        Value::Max(..) => "max",
        Value::Min(..) => "min",
        Value::Call(function, _) => function.name(),
        Value::Fma(..) => "fma",
        Value::Tf32(_) => "round to tf32",
    }
}

/// Names by position; `?` where there is no such thing, because a trap must not panic.
struct Names<'a> {
    module: &'a Module,
    kernel: &'a Kernel,
}

impl<'a> Names<'a> {
    fn var(&self, id: VarId) -> &'a str {
        self.kernel.vars.get(id.0).map_or("?", |var| &var.name)
    }

    fn register(&self, id: RegId) -> &'a str {
        self.kernel.registers.get(id.0).map_or("?", |array| &array.name)
    }

    fn space(&self, space: Space) -> &'a str {
        match space {
            Space::Global(BufferId(position)) => {
                self.module.buffers.get(position).map_or("?", |buffer| &buffer.ident)
            }
            Space::Shared(SharedId(position)) => {
                self.kernel.shared.get(position).map_or("?", |array| &array.name)
            }
        }
    }
}
