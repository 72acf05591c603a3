//! `launch`: the host's steps as the body of one function on the caller's stream.

use mage_einsum::index::Layout;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::condition::{Wanted, condition};
use super::device::unusual_case;
use super::require::require;
use super::value::{Names, constant, value, whole};
use super::{expr, extents, handle, oxide, view, workspace};
use crate::kernel::walk;
use crate::kernel::{Arm, HostExpr, HostStep, Kernel, Module, ParamValue, Ty};

/// The locals of `launch` that cuda-oxide's calls need, under names that no buffer has.
#[derive(Clone, Copy)]
struct Driver<'n> {
    module: &'n Ident,
    stream: &'n Ident,
    config: &'n Ident,
}

/// The function `launch`.
pub fn launch(module: &Module) -> TokenStream {
    let mut names = Names::new(module);
    let (loaded, stream) = (names.fresh("module"), names.fresh("stream"));
    let driver = Driver { module: &loaded, stream: &stream, config: &names.fresh("config") };
    let body = steps(&mut names, driver, &module.host, End::Result);
    let (loaded_type, stream_type) = (oxide::loaded_module(), oxide::stream());
    let given = extents::are_given(module);
    let all: Vec<usize> = (0..module.labels.len()).collect();
    let unpacked = given.then(|| extents::unpacked(&names, &all));
    let extents = names.argument();
    let extents = given.then(|| quote!(#extents: &Extents,));
    let slower = module.workspace.as_ref().filter(|workspace| workspace.has_parts()).map(|_| {
        quote! {
            /// A workspace shorter than [`workspace_elems`] makes long sums slower, not wrong.
            ///
        }
    });
    let shared = module.workspace.as_ref().map(|_| {
        quote! {
            /// The workspace's contents do not matter before or after; launches that follow each
            /// other on one stream can share it.
            ///
        }
    });
    let buffers = module.given().map(|(_, buffer)| {
        let name = format_ident!("{}", buffer.ident);
        let ty = match buffer.layout {
            Layout::RowMajor if buffer.index.is_some() => handle::parameter_type(buffer),
            Layout::RowMajor => oxide::buffer(buffer.dtype, buffer.usage),
            Layout::Strided => view::parameter_type(buffer),
        };
        quote!(#name: #ty)
    });
    let allow = unusual_case(module).then(|| quote!(#[allow(non_snake_case)]));
    let crowded = module.given().count() + 3 > 7;
    let crowded = crowded.then(|| quote!(#[allow(clippy::too_many_arguments)]));
    quote! {
        /// Checks the extents and the buffers, then launches on `stream`. Allocates nothing and
        /// waits for nothing.
        ///
        #slower
        #shared
        /// # Errors
        ///
        /// When a check fails or the driver refuses; nothing is launched then.
        #allow
        #crowded
        pub fn launch(
            #loaded: #loaded_type,
            #stream: #stream_type,
            #extents
            #(#buffers),*
        ) -> Result<(), LaunchError> {
            #unpacked
            #body
        }
    }
}

/// What a list of steps comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The function's result: the last launch's own, where that is the last step.
    Result,
    /// Nothing; more steps follow.
    Nothing,
}

fn steps(names: &mut Names<'_>, driver: Driver<'_>, steps: &[HostStep], end: End) -> TokenStream {
    let mut tokens = TokenStream::new();
    for (at, step) in steps.iter().enumerate() {
        let later = &steps[at + 1..];
        let here = if later.is_empty() { end } else { End::Nothing };
        tokens.extend(match step {
            HostStep::Require { that, error } => require(names, that, error, later),
            HostStep::ReturnIf(pred) => {
                let when = condition(names, pred, Wanted::Holds);
                quote!(if #when { return Ok(()); })
            }
            HostStep::Let { name, value: named } => {
                let shown = whole(names, named);
                let name = names.fresh(name);
                names.bind(named, name.clone());
                quote!(let #name = #shown;)
            }
            HostStep::Unless(pred, inner) => {
                let when = condition(names, pred, Wanted::Fails);
                // What is bound inside is not known outside of it.
                let inner = self::steps(&mut names.clone(), driver, inner, End::Nothing);
                quote!(if #when { #inner })
            }
            HostStep::Select(arms) => {
                select(names, arms, |names, arm| self::steps(names, driver, &arm.steps, here))
            }
            HostStep::Launch { kernel, blocks } => {
                let call = call(names, driver, &names.module.kernels[*kernel], blocks);
                match here {
                    End::Result => call,
                    End::Nothing => quote!(#call?;),
                }
            }
        });
    }
    match (end, steps.last()) {
        (End::Nothing, _) | (End::Result, Some(HostStep::Launch { .. } | HostStep::Select(_))) => {
            tokens
        }
        (
            End::Result,
            Some(
                HostStep::Require { .. }
                | HostStep::ReturnIf(_)
                | HostStep::Let { .. }
                | HostStep::Unless(..),
            )
            | None,
        ) => {
            quote!(#tokens Ok(()))
        }
    }
}

fn select<'m>(
    names: &Names<'m>,
    arms: &[Arm],
    inside: impl Fn(&mut Names<'m>, &Arm) -> TokenStream,
) -> TokenStream {
    // What an arm binds is not known outside of it.
    let shown = |arm: &Arm| inside(&mut names.clone(), arm);
    match arms.split_last() {
        None => TokenStream::new(),
        Some((only, [])) => shown(only),
        Some((last, others)) => {
            let tests = others.iter().map(|arm| {
                let when = condition(names, &arm.eligible, Wanted::Holds);
                let then = shown(arm);
                quote!(if #when { #then } else)
            });
            let otherwise = shown(last);
            quote!(#(#tests)* { #otherwise })
        }
    }
}

fn call(names: &Names<'_>, driver: Driver<'_>, kernel: &Kernel, blocks: &HostExpr) -> TokenStream {
    let Driver { module, stream, config } = driver;
    let name = format_ident!("{}", kernel.name);
    let blocks = narrowed(names, blocks);
    let grid = oxide::launch_config(&blocks, kernel.block_threads);
    let buffers = walk::buffers(kernel).into_iter().map(|(buffer, direction)| {
        let address = workspace::address(names, buffer);
        let pointer = oxide::pointer_type(&names.module.buffers[buffer.0], direction);
        quote!(#address as #pointer)
    });
    let scalars =
        kernel.params.iter().map(|param| match (&param.value, kernel.var(param.var).ty) {
            (ParamValue::Unsigned(extent), Ty::U32) => narrowed(names, extent),
            (ParamValue::Unsigned(extent), Ty::U64 | Ty::I64) => value(names, extent),
            (ParamValue::Stride { buffer, dims }, _) => {
                view::stride_sum(&names.buffer(*buffer), dims)
            }
        });
    let arguments = buffers.chain(scalars);
    quote! {
        let #config = #grid;
        unsafe { #module.#name(#stream, #config, #(#arguments),*) }
            .map_err(LaunchError::Driver)
    }
}

/// A value that an earlier check keeps below 2^32.
fn narrowed(names: &Names<'_>, expr: &HostExpr) -> TokenStream {
    let u32 = expr::ty(Ty::U32);
    if let Some(number) = constant(names, expr) {
        let number = Literal::u64_unsuffixed(number);
        return quote!(#number);
    }
    let value = value(names, expr);
    quote!(#value as #u32)
}
