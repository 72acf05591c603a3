//! Copies, matrices and products for the tensor cores as Rust.

use mage_einsum::dtype::Dtype;
use proc_macro2::TokenStream;
use quote::quote;

use super::access::{self, address};
use super::scope::Scope;
use super::{expr, oxide};
use crate::fragment::Fragment;
use crate::kernel::{Place, Pred, Reg};

/// A copy; where the predicate does not hold, no byte is read, from the buffer's start.
pub fn copy(
    scope: &Scope<'_>,
    [to, from]: [&Place; 2],
    elems: u32,
    when: Option<&Pred>,
) -> TokenStream {
    let dtype = scope.module.dtype(scope.kernel, to.space);
    let bytes = elems * dtype.size_bytes() as u32;
    let whole = oxide::literal(bytes);
    let (to, source) = (address(scope, to), address(scope, from));
    let Some(when) = when else {
        return oxide::copy(bytes, [&to, &source], &quote!(#whole));
    };
    let when = expr::pred(scope, when);
    let (start, [exists, from, read]) = (scope.base(from), &scope.locals.copy);
    let copy = oxide::copy(bytes, [&to, &quote!(#from)], &quote!(#read));
    quote! {
        let #exists = #when;
        let #from = if #exists { #source } else { #start };
        let #read = if #exists { #whole } else { 0 };
        #copy
    }
}

/// Four matrices into four consecutive registers.
pub fn load_matrices(scope: &Scope<'_>, to: &Reg, from: &Place, transposed: bool) -> TokenStream {
    let words = &scope.locals.words;
    let matrices = oxide::load_matrices(&address(scope, from), transposed);
    let (bound, registers) = access::run(scope, to, 4);
    if scope.kernel.registers[to.array.0].dtype != Dtype::F32 {
        return quote!(#bound #registers = #matrices;);
    }
    let values = (0..4).map(|word| {
        let word = oxide::literal(word);
        quote!(f32::from_bits(#words[#word]))
    });
    quote!(let #words = #matrices; #bound #registers = [#(#values),*];)
}

/// One product of fragments.
pub fn mma(scope: &Scope<'_>, acc: &Reg, [row, col]: [&Reg; 2]) -> TokenStream {
    let dtype = scope.kernel.registers[row.array.0].dtype;
    let (bound, sums) = access::run(scope, acc, 4);
    let words = |reg: &Reg, n_words: usize| {
        let registers = consecutive(scope, reg, n_words as u32).into_iter();
        let word = |register| match dtype {
            Dtype::F32 => quote!(#register.to_bits()),
            Dtype::F16 | Dtype::BF16 | Dtype::F64 => register,
        };
        let words = registers.map(word);
        quote!([#(#words),*])
    };
    let [row, col] = [words(row, Fragment::ROW_WORDS), words(col, Fragment::COL_WORDS)];
    let product = oxide::mma(dtype, &sums, [&row, &col]);
    quote!(#bound #sums = #product;)
}

fn consecutive(scope: &Scope<'_>, first: &Reg, count: u32) -> Vec<TokenStream> {
    (0..count).map(|next| expr::register(scope, &access::after(first, next))).collect()
}
