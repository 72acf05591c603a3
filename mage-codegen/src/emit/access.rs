//! Loads and stores between memory and registers as Rust.

use mage_einsum::dtype::Dtype;
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

use super::scope::Scope;
use super::{expr, half, oxide, quad};
use crate::kernel::{BinOp, Expr, Place, Pred, Reg, Space, Ty, Width};

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
        (Width::Two | Width::Four, None) => {
            let (bound, registers) = run(scope, to, width.elems());
            let value = quad::elements(dtype, width, &quad::bits(dtype, width, &address));
            quote!(#bound #registers = #value;)
        }
        (Width::Two | Width::Four, Some(when)) => {
            let (bound, registers) = run(scope, to, width.elems());
            // Taken apart behind the `if` and not inside it: there the first use of the elements
            // would wait for the load (H200, 4096^3: 45.0 against 42.2 TFLOP/s).
            let (bits, quad) = (quad::bits(dtype, width, &address), &scope.locals.quad);
            let elements = quad::elements(dtype, width, &quote!(#quad));
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
        (Width::Two | Width::Four, [first, rest @ ..]) if follow(first, rest) => {
            let (bound, values) = run(scope, first, width.elems());
            let write = quad::write(dtype, width, &address, &values);
            quote!(#bound #write)
        }
        (Width::Two | Width::Four, _) => {
            quad::write(dtype, width, &address, &quote!([#(#values),*]))
        }
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

/// So many registers from `first` on as an array, and the local that holds the index of the first
/// where that is no number.
pub fn run(scope: &Scope<'_>, first: &Reg, elems: u32) -> (Option<TokenStream>, TokenStream) {
    if let Expr::Const { name: None, .. } = first.at {
        let registers = (0..elems).map(|lane| expr::register(scope, &after(first, lane)));
        return (None, quote!([#(#registers),*]));
    }
    let (array, at) = (scope.array(first.array), &scope.locals.at);
    let index = expr::register_index(scope, first);
    let others = (1..elems).map(oxide::literal);
    let registers = quote!([#array[#at], #(#array[#at + #others]),*]);
    (Some(quote!(let #at = #index;)), registers)
}

fn follow(first: &Reg, rest: &[Reg]) -> bool {
    let follows = |(reg, lane): (&Reg, u32)| *reg == after(first, lane);
    rest.iter().zip(1..).all(follows)
}

/// The register so many elements after `reg`.
pub fn after(reg: &Reg, elems: u32) -> Reg {
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

/// The address of a place.
pub fn address(scope: &Scope<'_>, place: &Place) -> TokenStream {
    let base = scope.base(place);
    if place.offset.as_const() == Some(0) {
        return quote!(#base);
    }
    if let Some([run_time, known]) = in_two_parts(scope, place) {
        let [run_time, known] = [run_time, known].map(|part| expr::offset(scope, &part));
        return quote!(#base.add(#run_time).add(#known));
    }
    let offset = expr::offset(scope, &place.offset);
    match scope.kernel.ty(&place.offset) {
        Ty::U32 | Ty::U64 => quote!(#base.add(#offset)),
        Ty::I64 => quote!(#base.offset(#offset)),
    }
}

/// An offset in the stages of the tensor cores in two parts: what is known when loops are unrolled
/// is added by itself. Behind one sum with a swizzle the compiler finds no immediate offset for it
/// (evidence, tensor-cores.md).
fn in_two_parts(scope: &Scope<'_>, place: &Place) -> Option<[Expr; 2]> {
    if !scope.is_swizzled || !matches!(place.space, Space::Shared(_)) {
        return None;
    }
    let (known, run_time): (Vec<&Expr>, Vec<&Expr>) =
        terms(&place.offset).into_iter().partition(|term| scope.is_unrolled(term));
    let [run_time, known] = [run_time, known]
        .map(|terms| terms.into_iter().cloned().fold(Expr::u32(0), |sum, term| sum.plus(term)));
    (known.as_const() != Some(0)).then_some([run_time, known])
}

/// What a sum is made of.
fn terms(sum: &Expr) -> Vec<&Expr> {
    match sum {
        Expr::Binary(BinOp::Add, left, right) => [terms(left), terms(right)].concat(),
        term => vec![term],
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
