//! The device half: the module that the host loads, with its constants and kernels.

use mage_einsum::dtype::Dtype;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::scope::Scope;
use super::wrap::wrap;
use super::{expr, half, math, oxide, quad, stmt};
use crate::device::BANKS;
use crate::kernel::walk::{self, Constant, Direction};
use crate::kernel::{BinOp, Expr, Kernel, Module, Stmt, Value, Width};

/// All widths.
const WIDTHS: [Width; 3] = [Width::One, Width::Two, Width::Four];

/// The device module: `pub mod device`, which holds every kernel of `module`.
pub fn device_module(module: &Module) -> TokenStream {
    let attribute = oxide::module_attribute();
    let case = unusual_case(module).then(|| quote!(#[allow(non_snake_case)]));
    // The compiler leaves `div_ceil` as a call, as it does `min`.
    let rounds = rounds_up(module).then(|| quote!(#[allow(clippy::manual_div_ceil)]));
    let imports = oxide::imports(names(module));
    let common = common_constants(module);
    let constants = common.iter().map(constant);
    let half = half_type(module);
    let several = several_types(module);
    let chunk = chunk_type(module);
    let rounds_to_tf32 =
        moves(module, |stmt| matches!(stmt, Stmt::Compute { value: Value::Tf32(_), .. }));
    let tf32 = rounds_to_tf32.then(oxide::tf32_definition);
    let math = math::definitions(module);
    let kernels = module.kernels.iter().map(|one| kernel(module, one, &common));
    quote! {
        /// The kernels. `device::load` loads them into a context; [`launch`] starts them.
        #attribute
        #case
        #rounds
        pub mod device {
            #imports
            #(#constants)*
            #half
            #several
            #chunk
            #tf32
            #math
            #(#kernels)*
        }
    }
}

/// The type of sixteen-bit elements, with what is called of it; a module has one such type.
fn half_type(module: &Module) -> TokenStream {
    let of_halves = [Dtype::F16, Dtype::BF16].into_iter().map(|dtype| {
        let moved =
            |direction| WIDTHS.into_iter().any(|width| is_moved(module, direction, width, dtype));
        let uses = half::Uses { reads: moved(Direction::Load), writes: moved(Direction::Store) };
        half::definition(dtype, uses)
    });
    of_halves.collect()
}

/// The types of several elements in one access.
fn several_types(module: &Module) -> TokenStream {
    let types = Dtype::ALL.into_iter().flat_map(|dtype| {
        [Width::Two, Width::Four].map(|width| {
            let moved = |direction| is_moved(module, direction, width, dtype);
            quad::definition(dtype, width, moved(Direction::Load), moved(Direction::Store))
        })
    });
    types.collect()
}

/// The type of 16-byte copies, where there are any; a module has one element type for them.
fn chunk_type(module: &Module) -> Option<TokenStream> {
    let copies = module.kernels.iter().flat_map(|kernel| {
        walk::statements(&kernel.body).into_iter().filter_map(|stmt| copied(module, kernel, stmt))
    });
    copies
        .into_iter()
        .find(|(bytes, _)| *bytes == 16)
        .map(|(_, dtype)| oxide::chunk_definition(dtype))
}

/// Bytes and element type of a copy.
fn copied(module: &Module, kernel: &Kernel, stmt: &Stmt) -> Option<(u64, Dtype)> {
    let Stmt::Copy { to, elems, .. } = stmt else { return None };
    let dtype = module.dtype(kernel, to.space);
    Some((u64::from(*elems) * dtype.size_bytes(), dtype))
}

/// Whether some access moves so many elements of a type that way.
fn is_moved(module: &Module, direction: Direction, width: Width, dtype: Dtype) -> bool {
    module.kernels.iter().any(|kernel| {
        walk::accesses(kernel).into_iter().any(|access| {
            let moved = module.dtype(kernel, access.space);
            (access.direction, access.width, moved) == (direction, Some(width), dtype)
        })
    })
}

/// Whether a kernel divides and rounds up.
fn rounds_up(module: &Module) -> bool {
    let parts = module.kernels.iter().flat_map(walk::expressions).flat_map(walk::parts);
    parts.into_iter().any(|part| match part {
        Expr::Binary(BinOp::Div, left, _) => matches!(**left, Expr::Binary(BinOp::Add, ..)),
        Expr::Binary(..)
        | Expr::Const { .. }
        | Expr::Var(_)
        | Expr::Thread
        | Expr::Block
        | Expr::Widen(_)
        | Expr::Signed(_)
        | Expr::Narrow(_) => false,
    })
}

/// Whether a label such as `I` or `a__b` gives names that Rust would rather see in lower case and
/// with single underscores.
pub fn unusual_case(module: &Module) -> bool {
    let labels = module.labels.iter().map(|label| &label.ident);
    let buffers = module.buffers.iter().map(|buffer| &buffer.ident);
    let kernels = module.kernels.iter().map(|kernel| &kernel.name);
    let vars = module.kernels.iter().flat_map(|kernel| &kernel.vars).map(|var| &var.name);
    let arrays =
        module.kernels.iter().flat_map(|kernel| &kernel.registers).map(|array| &array.name);
    let mut names = labels.chain(buffers).chain(kernels).chain(vars).chain(arrays);
    names.any(|name| name.chars().any(char::is_uppercase) || name.trim_matches('_').contains("__"))
}

fn kernel(module: &Module, kernel: &Kernel, common: &[Constant]) -> TokenStream {
    let scope = Scope::new(module, kernel);
    let name = format_ident!("{}", kernel.name);
    let summary = wrap(&kernel.summary, "").into_iter().map(|line| format!(" {line}"));
    let attributes = oxide::kernel_attributes(kernel.block_threads, kernel.min_blocks);
    let parameters = parameters(&scope);
    let crowded = (parameters.len() > 7).then(|| quote!(#[allow(clippy::too_many_arguments)]));
    let own = walk::constants(kernel);
    let own = own.iter().filter(|one| !common.contains(one)).map(constant);
    let (statics, addresses) = shared(&scope);
    let hoisted = scope.hoisted().into_iter().map(|array| stmt::hoisted(&scope, array));
    let body = stmt::block(&scope, &kernel.body);
    quote! {
        #(#[doc = #summary])*
        ///
        /// # Safety
        ///
        /// Sound as `launch` starts it, after its checks of the extents and the buffers: the
        /// header of this file gives the reasons.
        #attributes
        #crowded
        pub unsafe fn #name(#(#parameters),*) {
            #(#own)*
            #statics
            unsafe {
                #addresses
                #(#hoisted)*
                #body
            }
        }
    }
}

/// The shared arrays, and the locals that point to them.
fn shared(scope: &Scope<'_>) -> (TokenStream, TokenStream) {
    let align = if scope.is_swizzled { BANKS * 4 } else { 16 };
    let (mut statics, mut addresses) = (TokenStream::new(), TokenStream::new());
    for array in &scope.kernel.shared {
        let name = format_ident!("{}", array.name);
        let static_name = format_ident!("{}", array.name.to_uppercase());
        statics.extend(oxide::shared_static(&static_name, array.dtype, array.elems, align));
        let address = oxide::shared_address(&static_name, array.dtype);
        addresses.extend(quote!(let #name = #address;));
    }
    (statics, addresses)
}

fn parameters(scope: &Scope<'_>) -> Vec<TokenStream> {
    let buffers = walk::buffers(scope.kernel).into_iter().map(|(buffer, direction)| {
        let buffer = &scope.module.buffers[buffer.0];
        let name = format_ident!("{}", buffer.ident);
        let ty = oxide::pointer_type(buffer, direction);
        quote!(#name: #ty)
    });
    let scalars = scope.kernel.params.iter().map(|param| {
        let name = scope.var(param.var);
        let ty = expr::ty(scope.kernel.var(param.var).ty);
        quote!(#name: #ty)
    });
    buffers.chain(scalars).collect()
}

fn constant(constant: &Constant) -> TokenStream {
    let name = format_ident!("{}", constant.name);
    let ty = expr::ty(constant.ty);
    let value = Literal::u64_unsuffixed(constant.value);
    quote!(const #name: #ty = #value;)
}

/// The constants that mean the same in every kernel that names them; they stand once, above the
/// kernels.
fn common_constants(module: &Module) -> Vec<Constant> {
    let mut all: Vec<Constant> = Vec::new();
    for found in module.kernels.iter().flat_map(walk::constants) {
        if !all.contains(&found) {
            all.push(found);
        }
    }
    let agreed = |one: &Constant| all.iter().filter(|other| other.name == one.name).count() == 1;
    all.iter().filter(|one| agreed(one)).cloned().collect()
}

fn names(module: &Module) -> oxide::DeviceNames {
    let positions = module.kernels.iter().flat_map(walk::expressions).flat_map(walk::parts);
    let asks = positions.into_iter().any(|part| matches!(part, Expr::Thread | Expr::Block));
    oxide::DeviceNames {
        shared: module.kernels.iter().any(|kernel| !kernel.shared.is_empty()),
        thread: asks || moves(module, |stmt| matches!(stmt, Stmt::Barrier)),
        warp: moves(module, |stmt| matches!(stmt, Stmt::ShuffleXor { .. })),
        copies: module.kernels.iter().any(|kernel| {
            let copies = walk::statements(&kernel.body).into_iter();
            copies.filter_map(|stmt| copied(module, kernel, stmt)).any(|(bytes, _)| bytes == 4)
        }),
        mma: moves(module, |stmt| matches!(stmt, Stmt::Mma { .. })),
        ptx: moves(module, asks_for_ptx)
            || math::asks_for_ptx(module)
            || oxide::asks_for_ptx(|direction, dtype| {
                WIDTHS.into_iter().any(|width| is_moved(module, direction, width, dtype))
            }),
    }
}

fn asks_for_ptx(stmt: &Stmt) -> bool {
    let rounds = matches!(stmt, Stmt::Compute { value: Value::Tf32(_), .. });
    rounds || matches!(stmt, Stmt::CommitCopies | Stmt::AwaitCopies { .. })
}

fn moves(module: &Module, is_one: impl Fn(&Stmt) -> bool) -> bool {
    module.kernels.iter().flat_map(|kernel| walk::statements(&kernel.body)).any(is_one)
}
