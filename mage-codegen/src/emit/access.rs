//! Loads and stores between memory and registers as Rust.

use mage_einsum::dtype::Dtype;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::scope::Scope;
use super::{expr, half, quad};
use crate::kernel::{Expr, Place, Pred, Reg, Space, Ty, Width};

/// What fits one line of a loop in a kernel, in characters; prettyplease's lines have 89.
const LINE: usize = 64;

/// Reads into consecutive registers; zeros where the predicate does not hold.
pub fn load(
    scope: &Scope<'_>,
    to: &Reg,
    from: &Place,
    width: Width,
    when: Option<&Pred>,
) -> TokenStream {
    let address = address(scope, from);
    let dtype = scope.module.dtype(scope.kernel, from.space);
    let when = when.map(|when| expr::pred(scope, when));
    match (width, when) {
        (Width::One, None) => {
            let register = expr::register(scope, to);
            let value = value(dtype, quote!(*#address));
            quote!(#register = #value;)
        }
        (Width::One, Some(when)) => {
            let register = expr::register(scope, to);
            // Zero has the same bits in every type.
            let zero = if is_half(dtype) { quote!(0) } else { quote!(0.0) };
            let value = value(dtype, quote!(if #when { *#address } else { #zero }));
            quote!(#register = #value;)
        }
        (Width::Four, None) => {
            let (bound, registers) = four(scope, to);
            let value = quad::elements(dtype, &quad::bits(dtype, &address));
            quote!(#bound #registers = #value;)
        }
        (Width::Four, Some(when)) => {
            let (bound, registers) = four(scope, to);
            // Taken apart behind the `if` and not inside it: there the first use of the elements
            // would wait for the load (H200, 4096^3: 45.0 against 42.2 TFLOP/s).
            let (bits, quad) = (quad::bits(dtype, &address), &scope.locals.quad);
            let elements = quad::elements(dtype, &quote!(#quad));
            quote! {
                let #quad = if #when { #bits } else { 0 };
                #bound
                #registers = #elements;
            }
        }
    }
}

/// Writes registers to consecutive elements.
pub fn store(scope: &Scope<'_>, to: &Place, from: &[Reg], width: Width) -> TokenStream {
    let address = address(scope, to);
    let dtype = scope.module.dtype(scope.kernel, to.space);
    let values = from.iter().map(|reg| expr::register(scope, reg));
    match (width, from) {
        (Width::Four, [first, rest @ ..]) if follow(first, rest) => {
            let (bound, values) = four(scope, first);
            let write = quad::write(dtype, &address, &values);
            quote!(#bound #write)
        }
        (Width::Four, _) => quad::write(dtype, &address, &quote!([#(#values),*])),
        (Width::One, _) => {
            let value = quote!(#(#values)*);
            let value = if is_half(dtype) { half::narrowed(&value) } else { value };
            let whole = quote!(*#address = #value;);
            if characters(&whole) <= LINE {
                return whole;
            }
            let element = &scope.locals.element;
            quote!(let #element = #value; *#address = #element;)
        }
    }
}

/// Four registers from `first` on as an array, and the local that holds the index of the first
/// where that is no number.
fn four(scope: &Scope<'_>, first: &Reg) -> (Option<TokenStream>, TokenStream) {
    if let Expr::Const { name: None, .. } = first.at {
        let registers = (0..4).map(|lane| expr::register(scope, &after(first, lane)));
        return (None, quote!([#(#registers),*]));
    }
    let (array, at) = (scope.array(first.array), &scope.locals.at);
    let index = expr::register_index(scope, first);
    let registers = quote!([#array[#at], #array[#at + 1], #array[#at + 2], #array[#at + 3]]);
    (Some(quote!(let #at = #index;)), registers)
}

fn follow(first: &Reg, rest: &[Reg]) -> bool {
    let follows = |(reg, lane): (&Reg, u32)| *reg == after(first, lane);
    rest.len() == 3 && rest.iter().zip(1..).all(follows)
}

/// The register so many elements after `reg`.
fn after(reg: &Reg, elems: u32) -> Reg {
    Reg { array: reg.array, at: reg.at.clone().plus(Expr::u32(elems)) }
}

/// Whether memory holds bits that a register does not.
fn is_half(dtype: Dtype) -> bool {
    dtype != dtype.accumulator()
}

/// What a register holds of what memory does.
fn value(dtype: Dtype, in_memory: TokenStream) -> TokenStream {
    if is_half(dtype) { half::widened(&in_memory) } else { in_memory }
}

fn base(scope: &Scope<'_>, place: &Place) -> Ident {
    match place.space {
        Space::Global(buffer) => format_ident!("{}", scope.module.buffers[buffer.0].ident),
        Space::Shared(array) => format_ident!("{}", scope.kernel.shared[array.0].name),
    }
}

fn address(scope: &Scope<'_>, place: &Place) -> TokenStream {
    let base = base(scope, place);
    if place.offset.as_const() == Some(0) {
        return quote!(#base);
    }
    let offset = expr::offset(scope, &place.offset);
    match scope.kernel.ty(&place.offset) {
        Ty::U32 | Ty::U64 => quote!(#base.add(#offset)),
        Ty::I64 => quote!(#base.offset(#offset)),
    }
}

/// About how long the text is. `TokenStream::to_string` would depend on whether a compiler or a
/// plain program runs this.
fn characters(tokens: &TokenStream) -> usize {
    let trees = tokens.clone().into_iter().map(|tree| match tree {
        TokenTree::Group(group) => 2 + characters(&group.stream()),
        TokenTree::Ident(name) => 1 + name.to_string().len(),
        TokenTree::Literal(number) => 1 + number.to_string().len(),
        TokenTree::Punct(_) => 1,
    });
    trees.sum()
}
