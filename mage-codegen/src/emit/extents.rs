//! The extents of the labels: fields of `Extents` where the launch gives them, constants where
//! the option `extents` fixed them.

use mage_einsum::index::Extent;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::device::unusual_case;
use super::value::Names;
use crate::kernel::{Label, Module};

/// The struct `Extents`, absent when every extent is fixed, and the constants.
pub fn extents(module: &Module) -> TokenStream {
    let constants = module.labels.iter().filter_map(|label| constant(module, label));
    let fields: Vec<TokenStream> = module.labels.iter().filter_map(field).collect();
    let allow = unusual_case(module).then(|| quote!(#[allow(non_snake_case)]));
    let record = (!fields.is_empty()).then(|| {
        quote! {
            /// The extents that a launch is given.
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            #allow
            pub struct Extents { #(#fields),* }
        }
    });
    quote!(#(#constants)* #record)
}

/// Whether a launch is given any extent.
pub fn are_given(module: &Module) -> bool {
    module.labels.iter().any(|label| label.extent == Extent::Runtime)
}

/// The wanted labels' extents of the argument, under the names that a body has for them.
pub fn unpacked(names: &Names<'_>, wanted: &[usize]) -> TokenStream {
    let labels = names.module.labels.iter().enumerate();
    let given = labels.filter(|(_, label)| label.extent == Extent::Runtime);
    let (wanted, others): (Vec<_>, Vec<_>) =
        given.partition(|(position, _)| wanted.contains(position));
    let fields = wanted.into_iter().map(|(position, label)| {
        let field = format_ident!("{}", label.ident);
        let name = names.extent(position);
        quote!(#field: #name)
    });
    let rest = (!others.is_empty()).then(|| quote!(..));
    let extents = names.argument();
    quote!(let Extents { #(#fields,)* #rest } = *#extents;)
}

/// The name of a constant that holds a fixed extent: `i` and `I`, both fixed, keep their case.
pub fn constant_name(module: &Module, label: &Label) -> Ident {
    let upper = label.ident.to_uppercase();
    let alike = module.labels.iter().filter(|other| other.ident.to_uppercase() == upper).count();
    let stem = if alike == 1 { &upper } else { &label.ident };
    format_ident!("{stem}_EXTENT")
}

fn field(label: &Label) -> Option<TokenStream> {
    match label.extent {
        Extent::Runtime => {
            let doc = format!(" Extent of label `{}`, in elements.", label.name);
            let name = format_ident!("{}", label.ident);
            Some(quote!(#[doc = #doc] pub #name: usize))
        }
        Extent::Fixed(_) => None,
    }
}

fn constant(module: &Module, label: &Label) -> Option<TokenStream> {
    match label.extent {
        Extent::Runtime => None,
        Extent::Fixed(extent) => {
            let doc = format!(" Extent of label `{}`, fixed by the option `extents`.", label.name);
            let name = constant_name(module, label);
            let extent = Literal::u32_unsuffixed(extent);
            let unusual = name.to_string().chars().any(char::is_lowercase);
            let allow = unusual.then(|| quote!(#[allow(non_upper_case_globals)]));
            Some(quote!(#[doc = #doc] #allow pub const #name: usize = #extent;))
        }
    }
}
