//! What a [`Program`] promises, as checks that say why not. A failure is a mistake of a level of
//! ours, never of the user.

use super::roles::roles;
use super::{
    Access, Expr, Extent, Layout, ModeId, Program, Statement, Tensor, TensorId, TensorKind,
};

/// Checks that `program` keeps what its types promise.
///
/// # Errors
/// The first promise that is broken, in words.
pub fn verify(program: &Program) -> Result<(), String> {
    program.modes.iter().enumerate().try_for_each(|(position, _)| mode(program, position))?;
    tensors(program)?;
    same_extents(program)?;
    let mut written: Vec<TensorId> = Vec::new();
    for (position, statement) in program.statements.iter().enumerate() {
        let told = |why: String| format!("statement {position}: {why}");
        self::statement(program, statement, &written).map_err(told)?;
        written.push(statement.target.tensor);
    }
    let last = written.last().and_then(|tensor| program.tensors.get(tensor.0));
    holds(last.is_some_and(|tensor| tensor.kind == TensorKind::Output), || {
        "the last statement does not write an output".to_owned()
    })?;
    let unwritten = (0..program.tensors.len())
        .map(TensorId)
        .find(|tensor| !program.tensor(*tensor).kind.is_given() && !written.contains(tensor));
    holds(unwritten.is_none(), || format!("tensor {unwritten:?} is never written"))?;
    temporaries_are_read(program)?;
    outputs_are_read_whole(program)
}

/// What is read of an output is what was stored there: its type is the one that sums have.
fn outputs_are_read_whole(program: &Program) -> Result<(), String> {
    let narrow = program.tensors_of(TensorKind::Output).find(|(id, output)| {
        let mut accesses = program.statements.iter().flat_map(Statement::factors);
        output.dtype != program.accumulator() && accesses.any(|access| access.tensor == *id)
    });
    holds(narrow.is_none(), || format!("output {narrow:?} is rounded and then read"))?;
    let mut dtypes = program.tensors_of(TensorKind::Output).map(|(_, output)| output.dtype);
    let first = dtypes.next();
    holds(dtypes.all(|dtype| Some(dtype) == first), || "outputs are of two types".to_owned())
}

fn temporaries_are_read(program: &Program) -> Result<(), String> {
    let reads = |statement: &Statement, temporary: TensorId| {
        statement.factors().iter().any(|factor| factor.tensor == temporary)
    };
    let unread = program
        .tensors_of(TensorKind::Temp)
        .find(|(id, _)| !program.statements.iter().any(|statement| reads(statement, *id)));
    holds(unread.is_none(), || format!("temporary {unread:?} is never read"))
}

fn holds(promise: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if promise { Ok(()) } else { Err(why()) }
}

fn mode(program: &Program, position: usize) -> Result<(), String> {
    let mode = &program.modes[position];
    let name = &mode.name;
    let is_doubled = program.modes[..position].iter().any(|earlier| earlier.name == *name);
    holds(!is_doubled, || format!("two modes have the name `{name}`"))?;
    holds(!mode.parts.is_empty(), || format!("mode `{name}` has no part"))?;
    let extent = Extent::product(mode.parts.iter().map(|part| part.extent));
    holds(mode.extent == extent, || format!("mode `{name}` has not its parts' extent"))
}

fn tensors(program: &Program) -> Result<(), String> {
    let order = |kind: TensorKind| match kind {
        TensorKind::Input => 0,
        TensorKind::Indices { .. } | TensorKind::Pointers { .. } => 1,
        TensorKind::Temp => 2,
        TensorKind::Output => 3,
    };
    holds(program.tensors.is_sorted_by_key(|tensor| order(tensor.kind)), || {
        "tensors are not in the order inputs, index operands, temporaries, outputs".to_owned()
    })?;
    let is_strided = |tensor: &&Tensor| tensor.layout == Layout::Strided;
    let stray = program.tensors.iter().filter(is_strided).find(|tensor| {
        let is_merged = |mode: &ModeId| program.mode(*mode).parts.len() > 1;
        tensor.kind != TensorKind::Input || tensor.dims.iter().any(is_merged)
    });
    holds(stray.is_none(), || {
        format!("{stray:?} is strided: it is no input, or modes are merged")
    })?;
    program.tensors.iter().try_for_each(|tensor| {
        in_range(program, &tensor.dims).map_err(|why| format!("tensor `{}`: {why}", tensor.name))
    })
}

fn in_range(program: &Program, modes: &[ModeId]) -> Result<(), String> {
    let stray = modes.iter().find(|mode| mode.0 >= program.modes.len());
    holds(stray.is_none(), || format!("{stray:?} is not a mode of the program"))
}

fn same_extents(program: &Program) -> Result<(), String> {
    program.same_extents.iter().try_for_each(|same| {
        in_range(program, &[same.first, same.other])?;
        let tensor = program.tensors.get(same.tensor.0);
        let first = tensor.and_then(|tensor| tensor.dims.get(same.dim));
        holds(first == Some(&same.first) && same.first != same.other, || {
            format!("{same:?} does not follow from an access")
        })
    })
}

fn statement(program: &Program, statement: &Statement, written: &[TensorId]) -> Result<(), String> {
    let target = &statement.target;
    let factors = statement.factors();
    flat(&statement.value)?;
    access(program, target)?;
    holds(target.gathers.is_empty(), || "writes through an index".to_owned())?;
    factors.iter().try_for_each(|factor| access(program, factor))?;
    segment(program, statement)?;
    in_range(program, &statement.reduced)?;

    let is_input = |tensor: TensorId| program.tensor(tensor).kind == TensorKind::Input;
    holds(!program.tensor(target.tensor).kind.is_given(), || "writes an input".to_owned())?;
    let is_output = program.tensor(target.tensor).kind == TensorKind::Output;
    holds(is_output || !statement.accumulates, || "adds to what is no output".to_owned())?;
    holds(!written.contains(&target.tensor), || "writes a tensor a second time".to_owned())?;
    holds(program.tensor(target.tensor).dims == target.modes, || {
        "the output's dimensions are not the target's modes".to_owned()
    })?;
    let is_readable = |tensor: TensorId| is_input(tensor) || written.contains(&tensor);
    holds(factors.iter().all(|factor| is_readable(factor.tensor)), || {
        "reads a tensor that is not written before".to_owned()
    })?;
    mode_use(statement, &factors)
}

/// Products have two factors or more, none of them a product, and powers are of two or more.
fn flat(value: &Expr) -> Result<(), String> {
    let is_flat = match value {
        Expr::Product(factors) => {
            factors.len() >= 2 && !factors.iter().any(|factor| matches!(factor, Expr::Product(_)))
        }
        Expr::Power(_, exponent) => *exponent >= 2,
        Expr::Access(_) | Expr::Number(_) | Expr::Binary(..) | Expr::Call(..) => true,
    };
    holds(is_flat, || "a product is not flat, or a power is none".to_owned())?;
    value.parts().into_iter().try_for_each(flat)
}

fn access(program: &Program, access: &Access) -> Result<(), String> {
    in_range(program, &access.modes)?;
    let tensor = program.tensors.get(access.tensor.0);
    let rank = tensor.map(|tensor| tensor.dims.len());
    holds(rank == Some(access.modes.len()), || format!("{access:?} is not of its tensor's rank"))?;
    access.gathers.iter().try_for_each(|gather| {
        in_range(program, &gather.modes)?;
        let indices = program.tensors.get(gather.indices.0);
        let of_mode = access.modes.get(gather.dim).copied();
        let fits = indices.is_some_and(|indices| match indices.kind {
            TensorKind::Indices { below } => {
                Some(below) == of_mode && indices.dims.len() == gather.modes.len()
            }
            TensorKind::Input
            | TensorKind::Pointers { .. }
            | TensorKind::Temp
            | TensorKind::Output => false,
        });
        holds(fits, || format!("{gather:?} is not through indices of the dimension's mode"))
    })
}

/// A segment is of the one reduced mode, between the pointers of a row.
fn segment(program: &Program, statement: &Statement) -> Result<(), String> {
    let Some(segment) = statement.segment else { return Ok(()) };
    in_range(program, &[segment.row])?;
    let pointers = program.tensors.get(segment.pointers.0);
    let fits =
        pointers.is_some_and(|pointers| match (pointers.kind, statement.reduced.as_slice()) {
            (TensorKind::Pointers { into }, [reduced]) => {
                into == *reduced && pointers.dims.len() == 1
            }
            (_, _) => false,
        });
    holds(fits, || format!("{segment:?} does not bound the reduced mode"))
}

/// Every mode is written or reduced, once, and has the role that follows.
fn mode_use(statement: &Statement, factors: &[&Access]) -> Result<(), String> {
    let roles = roles(&statement.target, factors, statement.segment);
    let mut used: Vec<ModeId> = statement.target.modes.clone();
    used.extend(&statement.reduced);
    used.sort();
    holds(used.is_sorted_by(|a, b| a < b), || "a mode is written or reduced twice".to_owned())?;
    let mut bound: Vec<ModeId> = roles.iter().map(|(mode, _)| *mode).collect();
    bound.sort();
    holds(used == bound, || {
        "the modes of the factors are not those of the target and the sum".to_owned()
    })?;
    holds(statement.roles == roles, || "a role is not the one that follows".to_owned())
}
