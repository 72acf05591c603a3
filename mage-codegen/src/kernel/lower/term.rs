//! A factor of neighbouring terms: one access, and how many elements of it a thread reads at once.

use mage_einsum::index::Access;

use super::builder::{Builder, reg};
use super::point::Point;
use super::value::Held;
use crate::kernel::{Expr, Stmt, Width};

/// An access, and how many elements one load of it has: 4, or 1 that stands for four.
#[derive(Debug, Clone)]
pub struct Factor {
    /// The operand under its modes.
    pub access: Access,
    /// 1 or 4.
    pub elems: u32,
}

impl Factor {
    /// Loads the elements at a point into registers of their own.
    pub fn load(&self, builder: &mut Builder<'_>, body: &mut Vec<Stmt>, point: &Point) -> Held {
        let name = format!("{}_{}", builder.names.tensor(self.access.tensor), point.what);
        let array = builder.registers(&name, self.elems);
        let from = point.clone().place(builder, body, &self.access);
        body.push(Stmt::Fill { reg: array, value: 0.0 });
        let to = reg(array, Expr::u32(0));
        body.push(Stmt::Load { to, from, width: Width::of(self.elems), when: None });
        Held { access: self.access.clone(), array, first: Expr::u32(0), elems: self.elems }
    }
}
