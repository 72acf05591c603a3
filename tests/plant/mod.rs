//! Changes to a module that make it wrong. Each returns the number of places it changed, so that
//! a fault that is not there any more cannot pass for one that is caught.

#![allow(dead_code, reason = "each test takes what it needs")]

use mage_codegen::kernel::{
    Arm, BinOp, Expr, HostExpr, HostPred, HostStep, Module, ParamValue, Place, Pred, RegId,
    SharedId, Space, Stmt, Value, VarId,
};

/// Leaves out the barrier that is number `position` in each kernel.
pub fn drop_barrier(module: &mut Module, position: usize) -> usize {
    let mut n_dropped = 0;
    for kernel in &mut module.kernels {
        let mut n_seen = 0;
        kernel.body = rewritten(std::mem::take(&mut kernel.body), &mut |stmt| {
            let is_barrier = matches!(stmt, Stmt::Barrier);
            n_seen += usize::from(is_barrier);
            let dropped = is_barrier && n_seen == position + 1;
            n_dropped += usize::from(dropped);
            (!dropped).then_some(stmt)
        });
    }
    n_dropped
}

/// Leaves out every assignment: the flip of the stage.
pub fn drop_assignments(module: &mut Module) -> usize {
    dropped(module, |stmt| matches!(stmt, Stmt::Assign { .. }))
}

/// Leaves out the shuffle across one lane mask.
pub fn drop_shuffle(module: &mut Module, mask: u32) -> usize {
    dropped(module, |stmt| matches!(stmt, Stmt::ShuffleXor { lane_mask, .. } if *lane_mask == mask))
}

/// Reads for a reduction what the warps left of another one.
pub fn reread(module: &mut Module, wanted: &str, instead: &str) -> usize {
    let mut n_changed = 0;
    for kernel in &mut module.kernels {
        let cells = |name: &str| kernel.shared.iter().position(|shared| shared.name == name);
        let (Some(wanted), Some(instead)) = (cells(wanted), cells(instead)) else { continue };
        kernel.body = rewritten(std::mem::take(&mut kernel.body), &mut |mut stmt| {
            if let Stmt::Load { from, .. } = &mut stmt
                && from.space == Space::Shared(SharedId(wanted))
            {
                from.space = Space::Shared(SharedId(instead));
                n_changed += 1;
            }
            Some(stmt)
        });
    }
    n_changed
}

/// Takes nothing off where a register of a name becomes a difference.
pub fn drop_difference(module: &mut Module, wanted: &str) -> usize {
    let mut n_changed = 0;
    for kernel in &mut module.kernels {
        let is_wanted = |reg: RegId| kernel.registers[reg.0].name == wanted;
        kernel.body = rewritten(std::mem::take(&mut kernel.body), &mut |mut stmt| {
            if let Stmt::Compute { to, value } = &mut stmt
                && is_wanted(to.array)
                && let Value::Sub(first, _) = value
            {
                *value = Value::Copy(first.clone());
                n_changed += 1;
            }
            Some(stmt)
        });
    }
    n_changed
}

/// Takes the first of two values for the larger one.
pub fn drop_max(module: &mut Module) -> usize {
    changed(module, |stmt| match stmt {
        Stmt::Compute { value, .. } => match value {
            Value::Max(first, _) => {
                *value = Value::Copy(first.clone());
                true
            }
            _ => false,
        },
        _ => false,
    })
}

/// Puts every shuffle under a condition that only some threads of a warp meet.
pub fn tear_warps(module: &mut Module) -> usize {
    let mut n_changed = 0;
    each(module, |stmt| {
        if let Stmt::ShuffleXor { .. } = stmt {
            let (when, then) = (Expr::Thread.less(Expr::u32(7)), vec![stmt.clone()]);
            *stmt = Stmt::If { when, then, otherwise: Vec::new() };
            n_changed += 1;
        }
    });
    n_changed
}

/// Leaves out every wait for copies.
pub fn drop_awaits(module: &mut Module) -> usize {
    dropped(module, |stmt| matches!(stmt, Stmt::AwaitCopies { .. }))
}

/// Waits for one group fewer.
pub fn await_less(module: &mut Module) -> usize {
    changed(module, |stmt| match stmt {
        Stmt::AwaitCopies { pending } => {
            *pending += 1;
            true
        }
        _ => false,
    })
}

/// Makes no groups of copies.
pub fn drop_commits(module: &mut Module) -> usize {
    dropped(module, |stmt| matches!(stmt, Stmt::CommitCopies))
}

/// Takes fragments of matrices whose rows and columns are not exchanged for such, and the reverse.
pub fn transpose_matrices(module: &mut Module) -> usize {
    changed(module, |stmt| match stmt {
        Stmt::LoadMatrices { transposed, .. } => {
            *transposed = !*transposed;
            true
        }
        _ => false,
    })
}

/// Takes the first registers of each fragment for all.
pub fn one_fragment(module: &mut Module) -> usize {
    changed(module, |stmt| match stmt {
        Stmt::Mma { col, .. } => {
            col.at = Expr::u32(0);
            true
        }
        _ => false,
    })
}

/// Multiplies numbers of f32 as they are.
pub fn drop_rounding(module: &mut Module) -> usize {
    dropped(module, |stmt| matches!(stmt, Stmt::Compute { value: Value::Tf32(_), .. }))
}

/// Lets chunks that change places meet in one.
pub fn collapse_swizzle(module: &mut Module) -> usize {
    rebind(module, "a_load_cell", |mut cell| {
        parts(&mut cell, &mut |part| {
            if let Expr::Binary(op @ BinOp::Xor, ..) = part {
                *op = BinOp::Min;
            }
        });
        cell
    })
}

/// Leaves the chunks where they are when they are read, or when they are written.
pub fn straighten(module: &mut Module, cell: &str) -> usize {
    rebind(module, cell, |value| match value {
        Expr::Binary(BinOp::Add, first, swizzled) => first.plus(sides(*swizzled)[0].clone()),
        other => other,
    })
}

/// Ends each loop over the terms that are left over before the first of them.
pub fn drop_rest(module: &mut Module) -> usize {
    let mut n_changed = 0;
    each(module, |stmt| {
        if let Stmt::For { begin: Expr::Binary(BinOp::Add, whole, _), end, .. } = stmt {
            *end = (**whole).clone();
            n_changed += 1;
        }
    });
    n_changed
}

/// Leaves out the first values of registers.
pub fn drop_fills(module: &mut Module) -> usize {
    dropped(module, |stmt| matches!(stmt, Stmt::Fill { .. }))
}

/// Gives a named constant another value.
pub fn constant(module: &mut Module, wanted: &str, new: u64) -> usize {
    let mut n_changed = 0;
    let mut change = |expr: &mut Expr| {
        if let Expr::Const { value, name: Some(name), .. } = expr
            && name == wanted
        {
            *value = new;
            n_changed += 1;
        }
    };
    each(module, |stmt| match stmt {
        Stmt::Let { value, .. } | Stmt::Assign { value, .. } => parts(value, &mut change),
        Stmt::Load { from: place, .. }
        | Stmt::Store { to: place, .. }
        | Stmt::LoadIndex { from: place, .. }
        | Stmt::LoadMatrices { from: place, .. } => parts(&mut place.offset, &mut change),
        Stmt::Copy { to, from, .. } => {
            [to, from].into_iter().for_each(|place| parts(&mut place.offset, &mut change));
        }
        Stmt::For { .. } | Stmt::If { .. } | Stmt::Fill { .. } | Stmt::Barrier => {}
        Stmt::ShuffleXor { .. } | Stmt::Compute { .. } | Stmt::Mma { .. } => {}
        Stmt::CommitCopies | Stmt::AwaitCopies { .. } => {}
    });
    n_changed
}

/// Lets the tensor cores go on with each sum: what was summed apart is added to where it belongs at
/// once. A tile of 16 has one product of sums a warp, two of columns.
pub fn sum_running(module: &mut Module) -> usize {
    let mut n_changed = 0;
    for kernel in &mut module.kernels {
        let Some(acc) = kernel.registers.iter().position(|array| array.name == "acc") else {
            continue;
        };
        let Some(apart) = kernel.registers.iter().position(|array| array.name == "apart") else {
            continue;
        };
        let col = kernel.vars.iter().position(|var| var.name == "col").map(VarId);
        kernel.body =
            rewritten(std::mem::take(&mut kernel.body), &mut |mut stmt| match &mut stmt {
                Stmt::Fill { reg, .. } if reg.0 == apart => None,
                Stmt::Compute { value: Value::Add(_, added), .. } if added.array.0 == apart => None,
                Stmt::Mma { acc: to, .. } => {
                    to.array = RegId(acc);
                    to.at = col.map_or(Expr::u32(0), Expr::Var).times(Expr::u32(4));
                    n_changed += 1;
                    Some(stmt)
                }
                _ => Some(stmt),
            });
    }
    n_changed
}

/// Passes another number under a parameter's name.
pub fn param(module: &mut Module, wanted: &str, new: u64) -> usize {
    let mut n_changed = 0;
    for kernel in &mut module.kernels {
        let of_name =
            kernel.params.iter_mut().filter(|param| kernel.vars[param.var.0].name == wanted);
        for param in of_name {
            param.value = ParamValue::Unsigned(HostExpr::Const(new));
            n_changed += 1;
        }
    }
    n_changed
}

/// Binds another value under a variable's name.
pub fn rebind(module: &mut Module, wanted: &str, change: fn(Expr) -> Expr) -> usize {
    let mut n_changed = 0;
    for kernel in &mut module.kernels {
        let vars = kernel.vars.clone();
        kernel.body = rewritten(std::mem::take(&mut kernel.body), &mut |mut stmt| {
            if let Stmt::Let { var, value } = &mut stmt
                && vars[var.0].name == wanted
            {
                *value = change(value.clone());
                n_changed += 1;
            }
            Some(stmt)
        });
    }
    n_changed
}

/// Both sides of an operation.
pub fn sides(value: Expr) -> [Expr; 2] {
    match value {
        Expr::Binary(_, left, right) => [*left, *right],
        other => [other.clone(), other],
    }
}

/// Exchanges row and column where `space` is accessed: `row * stride + column`, and what comes after.
pub fn swap(module: &mut Module, space: Space) -> usize {
    let mut n_changed = 0;
    each_access(module, space, |place, _| n_changed += usize::from(swapped(&mut place.offset)));
    n_changed
}

fn swapped(offset: &mut Expr) -> bool {
    let Expr::Binary(BinOp::Add, left, column) = offset else { return false };
    match &mut **left {
        Expr::Binary(BinOp::Mul, row, _) => {
            std::mem::swap(row, column);
            true
        }
        sum => swapped(sum),
    }
}

/// Takes the predicate off every access of `space`.
pub fn unmask(module: &mut Module, space: Space) -> usize {
    let mut n_changed = 0;
    each_access(module, space, |_, when| n_changed += usize::from(when.take().is_some()));
    n_changed
}

/// Leaves out every store to `space`.
pub fn drop_stores(module: &mut Module, space: Space) -> usize {
    dropped(module, |stmt| matches!(stmt, Stmt::Store { to, .. } if to.space == space))
}

/// Stores to one of two buffers what belongs to the other.
pub fn exchange(module: &mut Module, [one, other]: [Space; 2]) -> usize {
    changed(module, |stmt| match stmt {
        Stmt::Store { to, .. } if to.space == one => {
            to.space = other;
            true
        }
        Stmt::Store { to, .. } if to.space == other => {
            to.space = one;
            true
        }
        _ => false,
    })
}

/// Ends each loop that has a barrier one turn earlier.
pub fn drop_last_step(module: &mut Module) -> usize {
    let mut n_changed = 0;
    each(module, |stmt| {
        if let Stmt::For { end, body, .. } = stmt
            && body.contains(&Stmt::Barrier)
        {
            *end = end.clone().minus(Expr::u32(1));
            n_changed += 1;
        }
    });
    n_changed
}

/// Forgets the sum so far at every term.
pub fn overwrite(module: &mut Module) -> usize {
    let mut n_changed = 0;
    each(module, |stmt| {
        if let Stmt::Compute { value, .. } = stmt
            && let Value::Fma(first, second, _) = value
        {
            *value = Value::Mul(first.clone(), second.clone());
            n_changed += 1;
        }
    });
    n_changed
}

/// Launches so many blocks.
pub fn blocks(module: &mut Module, n_blocks: u64) -> usize {
    each_arm(module, |arm| {
        let mut n_changed = 0;
        for step in &mut arm.steps {
            if let HostStep::Launch { blocks, .. } = step {
                *blocks = HostExpr::Const(n_blocks);
                n_changed += 1;
            }
        }
        n_changed
    })
}

/// Launches so many blocks of the kernels whose names end so.
pub fn blocks_of(module: &mut Module, ending: &str, n_blocks: u64) -> usize {
    let is_one = |kernel: usize| module.kernels[kernel].name.ends_with(ending);
    let kernels: Vec<usize> = (0..module.kernels.len()).filter(|at| is_one(*at)).collect();
    set_blocks(&mut module.host, &kernels, n_blocks)
}

fn set_blocks(steps: &mut [HostStep], kernels: &[usize], n_blocks: u64) -> usize {
    let mut n_changed = 0;
    for step in steps {
        match step {
            HostStep::Launch { kernel, blocks } if kernels.contains(kernel) => {
                *blocks = HostExpr::Const(n_blocks);
                n_changed += 1;
            }
            HostStep::Select(arms) => {
                let changed = |arm: &mut Arm| set_blocks(&mut arm.steps, kernels, n_blocks);
                n_changed += arms.iter_mut().map(changed).sum::<usize>();
            }
            HostStep::Unless(_, steps) => n_changed += set_blocks(steps, kernels, n_blocks),
            HostStep::Launch { .. }
            | HostStep::Require { .. }
            | HostStep::ReturnIf(_)
            | HostStep::Let { .. } => {}
        }
    }
    n_changed
}

/// Lets the wide variant run on anything.
pub fn always_wide(module: &mut Module) -> usize {
    each_arm(module, |arm| {
        let is_wide = arm.name == "wide";
        if is_wide {
            arm.eligible = HostPred::All(Vec::new());
        }
        usize::from(is_wide)
    })
}

fn each_arm(module: &mut Module, mut change: impl FnMut(&mut Arm) -> usize) -> usize {
    let mut n_changed = 0;
    for step in &mut module.host {
        if let HostStep::Select(arms) = step {
            n_changed += arms.iter_mut().map(&mut change).sum::<usize>();
        }
    }
    n_changed
}

fn dropped(module: &mut Module, is_one: impl Fn(&Stmt) -> bool) -> usize {
    let mut n_dropped = 0;
    for kernel in &mut module.kernels {
        kernel.body = rewritten(std::mem::take(&mut kernel.body), &mut |stmt| {
            let drops = is_one(&stmt);
            n_dropped += usize::from(drops);
            (!drops).then_some(stmt)
        });
    }
    n_dropped
}

fn each(module: &mut Module, mut change: impl FnMut(&mut Stmt)) {
    for kernel in &mut module.kernels {
        kernel.body = rewritten(std::mem::take(&mut kernel.body), &mut |mut stmt| {
            change(&mut stmt);
            Some(stmt)
        });
    }
}

/// Changes the statements that `change` says it did.
fn changed(module: &mut Module, mut change: impl FnMut(&mut Stmt) -> bool) -> usize {
    let mut n_changed = 0;
    each(module, |stmt| n_changed += usize::from(change(stmt)));
    n_changed
}

fn each_access(
    module: &mut Module,
    space: Space,
    mut change: impl FnMut(&mut Place, &mut Option<Pred>),
) {
    each(module, |stmt| {
        if let Stmt::Load { from: place, when, .. } | Stmt::Store { to: place, when, .. } = stmt
            && place.space == space
        {
            change(place, when);
        }
    });
}

/// The statements after `edit`, which sees inner ones first and may leave one out.
fn rewritten(body: Vec<Stmt>, edit: &mut dyn FnMut(Stmt) -> Option<Stmt>) -> Vec<Stmt> {
    let mut edited = Vec::new();
    for mut stmt in body {
        match &mut stmt {
            Stmt::For { body, .. } => *body = rewritten(std::mem::take(body), edit),
            Stmt::If { then, otherwise, .. } => {
                *then = rewritten(std::mem::take(then), edit);
                *otherwise = rewritten(std::mem::take(otherwise), edit);
            }
            Stmt::Let { .. }
            | Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::Barrier
            | Stmt::Load { .. }
            | Stmt::Store { .. }
            | Stmt::ShuffleXor { .. }
            | Stmt::Copy { .. }
            | Stmt::CommitCopies
            | Stmt::AwaitCopies { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadIndex { .. }
            | Stmt::Mma { .. }
            | Stmt::Compute { .. } => {}
        }
        edited.extend(edit(stmt));
    }
    edited
}

fn parts(expr: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
    change(expr);
    match expr {
        Expr::Binary(_, left, right) => {
            parts(left, change);
            parts(right, change);
        }
        Expr::Widen(inner) | Expr::Signed(inner) | Expr::Narrow(inner) => parts(inner, change),
        Expr::Const { .. } | Expr::Var(_) | Expr::Thread | Expr::Block => {}
    }
}
