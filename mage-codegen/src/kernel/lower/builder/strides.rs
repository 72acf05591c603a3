//! Strides of accesses, made of extents or given by the launch, and the offsets that follow.

use std::collections::BTreeSet;

use mage_einsum::index::{Access, Layout, ModeId};

use super::{Builder, buffer};
use crate::kernel::{Expr, Param, ParamValue, Stmt, Ty};

impl Builder<'_> {
    /// Says how many elements a load of an access has: where it is four, the host has looked at
    /// the strides (`wide`), and the last one is 1.
    pub fn reads(&mut self, access: &Access, elems: u32) {
        if elems > 1 && self.program.tensor(access.tensor).layout == Layout::Strided {
            self.unit.insert(access.tensor);
        }
    }

    /// Binds the strides of an access that are not 1: for each of its modes, the product of the
    /// extents to the right, summed over the places where the mode stands; or what the launch
    /// gives.
    pub fn bind_strides(&mut self, body: &mut Vec<Stmt>, access: &Access) {
        for mode in &access.modes {
            let key = (access.tensor, access.modes.clone(), *mode);
            if self.strides.contains_key(&key) {
                continue;
            }
            if self.program.tensor(access.tensor).layout == Layout::Strided {
                let stride = self.given_stride(access, *mode);
                self.strides.insert(key, stride);
                continue;
            }
            let mut stride = Expr::u64(0);
            for (place, _) in access.modes.iter().enumerate().filter(|(_, at)| *at == mode) {
                let inner = access.modes[place + 1..].iter();
                let product = inner.fold(Expr::u64(1), |product, right| {
                    product.times(self.wide(self.extent(*right)))
                });
                stride = stride.plus(product);
            }
            let tensor = self.names.tensor(access.tensor).to_string();
            let name = format!("{tensor}_stride_{}", self.names.mode(*mode));
            let stride = self.bind(body, &name, stride);
            self.strides.insert(key, stride);
        }
    }

    /// A mode's stride in a strided tensor: a parameter, one for all accesses that have the mode
    /// in the same places.
    fn given_stride(&mut self, access: &Access, mode: ModeId) -> Expr {
        let places = access.modes.iter().enumerate().filter(|(_, at)| **at == mode);
        let dims: Vec<usize> = places.map(|(place, _)| place).collect();
        if dims == [access.modes.len() - 1] && self.unit.contains(&access.tensor) {
            return Expr::i64(1);
        }
        let value = ParamValue::Stride { buffer: buffer(access), dims };
        if let Some(param) = self.params.iter().find(|param| param.value == value) {
            return Expr::Var(param.var);
        }
        let tensor = self.names.tensor(access.tensor);
        let name = format!("{tensor}_stride_{}", self.names.mode(mode));
        let var = self.var(&name, Ty::I64, false);
        self.params.push(Param { var, value });
        Expr::Var(var)
    }

    /// The element offset of an access at the given coordinates: 64 bits, with a sign where the
    /// tensor is strided.
    pub fn offset(&self, access: &Access, coordinate: impl Fn(ModeId) -> Expr) -> Expr {
        let layout = self.program.tensor(access.tensor).layout;
        let (zero, one) = match layout {
            Layout::RowMajor => (Expr::u64(0), Expr::u64(1)),
            Layout::Strided => (Expr::i64(0), Expr::i64(1)),
        };
        let mut seen = BTreeSet::new();
        let modes = access.modes.iter().filter(|mode| seen.insert(**mode));
        modes.fold(zero, |offset, mode| {
            let key = (access.tensor, access.modes.clone(), *mode);
            let stride = self.strides.get(&key).unwrap_or(&one).clone();
            let at = match layout {
                Layout::RowMajor => self.wide(coordinate(*mode)),
                Layout::Strided => coordinate(*mode).signed(),
            };
            offset.plus(at.times(stride))
        })
    }
}
