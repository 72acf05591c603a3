//! The module that an invocation becomes: its texts, the extents, the two ways to run it on the
//! CPU, and the device half under the caller's feature `cuda-oxide`. Every path starts with `::`,
//! so nothing in the caller's scope can change what it means.

use mage_einsum::dtype::Dtype;
use mage_einsum::index::{Extent, Layout};
use mage_einsum::spec::Spec;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use crate::kernel::{BufferUse, Label, Module};
use crate::pipeline::Levels;
use crate::{emit, schedule};

/// `pub mod NAME { .. }` for one compiled specification.
///
/// # Errors
///
/// When emitted tokens are no items, which is a mistake of `emit`.
pub fn module(spec: &Spec, levels: &Levels) -> Result<TokenStream, syn::Error> {
    let name = format_ident!("{}", levels.module.name);
    let about = about(spec);
    let texts = texts(spec, levels);
    let extents = emit::extents(&levels.module);
    let workspace = emit::workspace(&levels.module);
    let reference = reference(&levels.module);
    let emulate = emulate(&levels.module);
    let device_half = device_half(&levels.module)?;
    // A caller takes what he needs of the module, his crate need not have the feature, and
    // cuda-oxide's own additions to the device module have no documentation.
    Ok(quote! {
        #[doc = #about]
        #[allow(dead_code, missing_docs, unexpected_cfgs)]
        pub mod #name {
            #texts
            #extents
            #workspace
            #reference
            #emulate
            #device_half
        }
    })
}

fn about(spec: &Spec) -> String {
    let (notation, options) = (&spec.notation_text, spec.options.print());
    if options.is_empty() {
        return format!(" `{notation}`, made by `einsum_kernel!`.");
    }
    format!(" `{notation}` with `{options}`, made by `einsum_kernel!`.")
}

fn texts(spec: &Spec, levels: &Levels) -> TokenStream {
    let notation = &spec.notation_text;
    let options = spec.options.print();
    let source = &levels.source;
    let hash = emit::hash(source);
    let explanation = schedule::print(&levels.schedule);
    quote! {
        /// The notation, as written.
        pub const NOTATION: &str = #notation;
        /// The options in canonical form; empty where all are the defaults.
        pub const OPTIONS: &str = #options;
        /// The emitted source file.
        pub const SOURCE: &str = #source;
        /// The hash of `SOURCE`, in hexadecimal.
        pub const SOURCE_HASH: &str = #hash;
        /// The schedule: the loop nest, and why it is as it is.
        pub const EXPLANATION: &str = #explanation;
    }
}

fn reference(module: &Module) -> TokenStream {
    let (operands, indices): (Vec<Ident>, _) = (operands(module).collect(), indices(module));
    let Types { operand, output } = Types::of(module);
    let Returned { names, ty, value } = Returned::of(module, &quote!(::mage::oracle::Evaluation));
    let updated = updated(module);
    let before = updated.iter().map(|name| quote!(#name: ::mage::ndarray::ArrayViewD<'_, #output>));
    let held = match &updated {
        Some(name) => quote!(::core::option::Option::Some(#name)),
        None => quote!(::core::option::Option::None::<::mage::ndarray::ArrayViewD<'_, #output>>),
    };
    let about = match &updated {
        Some(name) => {
            format!(" The right values, from the oracle, which computes in f64, added to `{name}`.")
        }
        None => " The right values, from the oracle, which computes in f64.".to_string(),
    };
    quote! {
        #[doc = #about]
        ///
        /// # Errors
        ///
        /// When the operands' shapes do not fit the notation.
        #[allow(clippy::too_many_arguments)]
        pub fn reference(
            #(#operands: ::mage::ndarray::ArrayViewD<'_, #operand>,)*
            #(#indices: ::mage::ndarray::ArrayViewD<'_, u32>,)*
            #(#before)*
        ) -> ::core::result::Result<#ty, ::mage::Diagnostics> {
            let operands = (&[#(#operands),*][..], &[#(#indices),*][..]);
            let #names = ::mage::support::reference(NOTATION, OPTIONS, operands, #held)?;
            ::core::result::Result::Ok(#value)
        }
    }
}

fn emulate(module: &Module) -> TokenStream {
    let (operands, indices): (Vec<Ident>, _) = (operands(module).collect(), indices(module));
    if module.buffers.iter().any(|buffer| buffer.layout == Layout::Strided) {
        return emulate_views(module, &operands, &indices);
    }
    let is_given = module.labels.iter().any(|label| label.extent == Extent::Runtime);
    let extents = is_given.then(|| quote!(extents: &Extents,));
    let values = module.labels.iter().map(extent);
    let Types { operand, output } = Types::of(module);
    let Returned { names, ty, value } = Returned::of(module, &quote!(::std::vec::Vec<#output>));
    let updated = updated(module);
    let before = updated.iter().map(|name| quote!(#name: &[#output]));
    let held = updated.as_ref().map_or_else(|| quote!(&[]), |name| quote!(#name));
    let embedded = embedded();
    quote! {
        /// Runs the kernel on the CPU, in the emulator, after checking that what is run has the
        /// embedded source.
        ///
        /// # Errors
        ///
        /// When an extent or a length does not fit.
        #[allow(clippy::too_many_arguments)]
        pub fn emulate(
            #extents
            #(#operands: &[#operand],)*
            #(#indices: &[u32],)*
            #(#before)*
        ) -> ::core::result::Result<#ty, ::mage::EmulateError> {
            #embedded
            let operands = (&[#(#operands),*][..], &[#(#indices),*][..]);
            let #names =
                ::mage::support::emulate(&embedded, &[#(#values),*], operands, #held)?;
            ::core::result::Result::Ok(#value)
        }
    }
}

/// Operands with strides of their own say what their extents are, too.
fn emulate_views(module: &Module, operands: &[Ident], indices: &[Ident]) -> TokenStream {
    let embedded = embedded();
    let Types { operand, output } = Types::of(module);
    let Returned { names, ty, value } = Returned::of(module, &quote!(::std::vec::Vec<#output>));
    let updated = updated(module);
    let before = updated.iter().map(|name| quote!(#name: &[#output]));
    let held = updated.as_ref().map_or_else(|| quote!(&[]), |name| quote!(#name));
    quote! {
        /// Runs the kernel on the CPU, in the emulator, on operands under their own strides, after
        /// checking that what is run has the embedded source.
        ///
        /// # Errors
        ///
        /// When the operands' shapes do not fit the notation, or a length does not fit.
        #[allow(clippy::too_many_arguments)]
        pub fn emulate(
            #(#operands: ::mage::ndarray::ArrayViewD<'_, #operand>,)*
            #(#indices: &[u32],)*
            #(#before)*
        ) -> ::core::result::Result<#ty, ::mage::EmulateError> {
            #embedded
            let operands = (&[#(#operands),*][..], &[#(#indices),*][..]);
            let #names = ::mage::support::emulate_views(&embedded, operands, #held)?;
            ::core::result::Result::Ok(#value)
        }
    }
}

fn embedded() -> TokenStream {
    quote! {
        let embedded = ::mage::support::Embedded {
            notation: NOTATION,
            options: OPTIONS,
            source_hash: SOURCE_HASH,
        };
    }
}

/// The operands' names. Lowering gives no tensor the name `extents`.
fn operands(module: &Module) -> impl Iterator<Item = Ident> {
    let operands = module.given().filter(|(_, buffer)| buffer.usage == BufferUse::Read);
    operands.map(|(_, buffer)| format_ident!("{}", buffer.ident))
}

/// The index operands' names.
fn indices(module: &Module) -> Vec<Ident> {
    let indices = module.given().filter(|(_, buffer)| buffer.usage == BufferUse::Index);
    indices.map(|(_, buffer)| format_ident!("{}", buffer.ident)).collect()
}

/// The name of an output that is added to, whose contents the caller gives.
fn updated(module: &Module) -> Option<Ident> {
    let mut given = module.given();
    let (_, output) = given.find(|(_, buffer)| buffer.usage == BufferUse::Update)?;
    Some(format_ident!("{}", output.ident))
}

/// What a function returns: one value, or a tuple of one an output.
struct Returned {
    /// The pattern of the array that all of them come in.
    names: TokenStream,
    ty: TokenStream,
    value: TokenStream,
}

impl Returned {
    fn of(module: &Module, of_output: &TokenStream) -> Returned {
        let names: Vec<Ident> =
            module.outputs().map(|(_, buffer)| format_ident!("{}", buffer.ident)).collect();
        let (ty, value) = match names.as_slice() {
            [one] => (of_output.clone(), quote!(#one)),
            several => {
                let types = several.iter().map(|_| of_output);
                (quote!((#(#types),*)), quote!((#(#several),*)))
            }
        };
        Returned { names: quote!([#(#names),*]), ty, value }
    }
}

/// The Rust types of elements on the CPU.
struct Types {
    operand: TokenStream,
    output: TokenStream,
}

impl Types {
    fn of(module: &Module) -> Types {
        let of = |is_one: fn(BufferUse) -> bool| {
            let mut given = module.given();
            let found = given.find(|(_, buffer)| is_one(buffer.usage));
            match found.map(|(_, buffer)| buffer.dtype) {
                Some(Dtype::F16) => quote!(::mage::half::f16),
                Some(Dtype::BF16) => quote!(::mage::half::bf16),
                Some(Dtype::F32) | None => quote!(f32),
                Some(Dtype::F64) => quote!(f64),
            }
        };
        Types { operand: of(|usage| usage == BufferUse::Read), output: of(BufferUse::is_output) }
    }
}

fn extent(label: &Label) -> TokenStream {
    match label.extent {
        Extent::Runtime => {
            let field = format_ident!("{}", label.ident);
            quote!(extents.#field)
        }
        Extent::Fixed(extent) => {
            let extent = Literal::u32_unsuffixed(extent);
            quote!(#extent)
        }
    }
}

/// Everything that names cuda-oxide's crates, item by item under the feature. The device module is
/// one item; to read it again, only to find that out, would take longer than to make it.
fn device_half(module: &Module) -> Result<TokenStream, syn::Error> {
    let launch = emit::launch_items(module);
    let device = emit::device_module(module);
    let items = syn::parse2::<syn::File>(launch)?.items;
    Ok(quote! {
        #(#[cfg(feature = "cuda-oxide")] #items)*
        #[cfg(feature = "cuda-oxide")]
        #device
    })
}
