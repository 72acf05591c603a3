//! A point of a statement: its coordinates, the indices that it has looked up, and from them the
//! offset of an access.

use mage_einsum::index::{Access, Gather, ModeId, Statement, TensorId};

use super::builder::{Builder, buffer};
use super::coordinates;
use crate::kernel::{BufferId, Expr, Place, Space, Stmt, Ty};

/// Where a thread stands.
#[derive(Clone, Default)]
pub struct Point {
    /// The coordinates that are known.
    pub at: Vec<(ModeId, Expr)>,
    /// Elements of index operands that were looked up here.
    gathered: Vec<(TensorId, Vec<ModeId>, Expr)>,
    /// The ending of the names of what is looked up.
    pub what: &'static str,
}

impl Point {
    /// A point at these coordinates; names of what is looked up there end with `what`.
    pub fn new(at: Vec<(ModeId, Expr)>, what: &'static str) -> Point {
        Point { at, gathered: Vec::new(), what }
    }

    /// The same with another coordinate of a mode. Indices that depend on it are forgotten.
    pub fn with(&self, mode: ModeId, at: Expr) -> Point {
        let mut moved = self.clone();
        moved.at.retain(|(known, _)| *known != mode);
        moved.at.push((mode, at));
        moved.gathered.retain(|(_, modes, _)| !modes.contains(&mode));
        moved
    }

    /// The place of an access, after the indices in it have been looked up.
    pub fn place(
        &mut self,
        builder: &mut Builder<'_>,
        body: &mut Vec<Stmt>,
        access: &Access,
    ) -> Place {
        for gather in &access.gathers {
            self.look_up(builder, body, gather);
        }
        let offset = builder.offset(access, |mode| self.coordinate(builder, access, mode));
        Place { space: Space::Global(buffer(access)), offset }
    }

    fn coordinate(&self, builder: &Builder<'_>, access: &Access, mode: ModeId) -> Expr {
        let gather = access.gathers.iter().find(|gather| access.modes[gather.dim] == mode);
        let found = gather.and_then(|gather| self.found(gather));
        found.unwrap_or_else(|| coordinates::of(builder, &self.at, mode))
    }

    fn found(&self, gather: &Gather) -> Option<Expr> {
        let mut known = self.gathered.iter();
        let found = known.find(|(of, modes, _)| *of == gather.indices && *modes == gather.modes);
        found.map(|(_, _, value)| value.clone())
    }

    fn look_up(&mut self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>, gather: &Gather) {
        if self.found(gather).is_some() {
            return;
        }
        let indices = Access::plain(gather.indices, gather.modes.clone());
        let offset = builder.offset(&indices, |mode| coordinates::of(builder, &self.at, mode));
        let name = format!("{}_{}", builder.names.tensor(gather.indices), self.what);
        let var = builder.var(&name, Ty::U32, false);
        let from = Place { space: Space::Global(buffer(&indices)), offset };
        body.push(Stmt::LoadIndex { var, from });
        let value = builder.coordinate(Expr::Var(var));
        self.gathered.push((gather.indices, gather.modes.clone(), value));
    }
}

/// The element of a row's pointers that is `beyond` after the row's own, in the type of coordinates.
pub fn pointer(
    builder: &mut Builder<'_>,
    body: &mut Vec<Stmt>,
    pointers: TensorId,
    (row, beyond): (Expr, u32),
    name: &str,
) -> Expr {
    let var = builder.var(name, Ty::U32, false);
    let offset = builder.wide(row).plus(Expr::u64(beyond.into()));
    let from = Place { space: Space::Global(BufferId(pointers.0)), offset };
    body.push(Stmt::LoadIndex { var, from });
    builder.coordinate(Expr::Var(var))
}

/// Every access of a statement's value, those of index operands included.
pub fn accesses(statement: &Statement) -> Vec<Access> {
    let mut all: Vec<Access> = Vec::new();
    for access in statement.factors() {
        let indices = access.gathers.iter();
        let indices = indices.map(|gather| Access::plain(gather.indices, gather.modes.clone()));
        for access in indices.chain([access.clone()]) {
            if !all.contains(&access) {
                all.push(access);
            }
        }
    }
    all
}

/// Every mode whose extent a statement's kernel may ask for: those that it runs over, and those of
/// dimensions that are looked up.
pub fn modes(statements: &[&Statement]) -> Vec<ModeId> {
    let of_statement = |statement: &&Statement| {
        let reads = statement.factors().into_iter().flat_map(|access| access.modes.clone());
        let runs = statement.roles.iter().map(|(mode, _)| *mode);
        let modes: Vec<ModeId> = runs.chain(reads).chain(statement.target.modes.clone()).collect();
        modes
    };
    let mut modes: Vec<ModeId> = Vec::new();
    for mode in statements.iter().flat_map(of_statement) {
        if !modes.contains(&mode) {
            modes.push(mode);
        }
    }
    modes
}
