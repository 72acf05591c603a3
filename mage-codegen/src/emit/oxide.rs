//! The one file that spells cuda-oxide: paths, attributes and calls, as they exist in commit
//! 29396b7f and later ones. The stand-in in `tests/standin` implements the same names.

use mage_einsum::dtype::Dtype;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote};

use crate::kernel::BufferUse;
use crate::kernel::walk::Direction;

/// Which names of the device crate a module's kernels mention.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeviceNames {
    /// Static shared memory.
    pub shared: bool,
    /// Thread and block positions, the barrier.
    pub thread: bool,
    /// Exchanges between the lanes of a warp.
    pub warp: bool,
    /// Instructions that Rust has no word for.
    pub ptx: bool,
}

/// What makes a module's kernels loadable from the host.
pub fn module_attribute() -> TokenStream {
    quote!(#[cuda_device::cuda_module])
}

/// The imports at the top of the device module, and no unused one.
pub fn imports(names: DeviceNames) -> TokenStream {
    let shared = names.shared.then(|| quote!(SharedArray,));
    let thread = names.thread.then(|| quote!(, thread));
    let warp = names.warp.then(|| quote!(, warp));
    let ptx = names.ptx.then(|| quote!(, ptx_asm));
    quote!(use cuda_device::{#shared kernel, launch_bounds #ptx #thread #warp};)
}

/// What makes a function an entry point, with its threads a block and blocks a multiprocessor.
pub fn kernel_attributes(block_threads: u32, min_blocks: u32) -> TokenStream {
    let threads = Literal::u32_unsuffixed(block_threads);
    let blocks = Literal::u32_unsuffixed(min_blocks);
    quote!(#[kernel] #[launch_bounds(#threads, #blocks)])
}

/// A shared array of the block, 16-byte aligned and uninitialised.
pub fn shared_static(name: &Ident, dtype: Dtype, elems: u32) -> TokenStream {
    let element = element_type(dtype);
    let elems = Literal::u32_unsuffixed(elems);
    quote!(static mut #name: SharedArray<#element, #elems, 16> = SharedArray::UNINIT;)
}

/// The address of the first element of a shared array.
pub fn shared_address(name: &Ident, dtype: Dtype) -> TokenStream {
    let element = element_type(dtype);
    quote!(&raw mut #name as *mut #element)
}

/// The thread's index in its block.
pub fn thread_index() -> TokenStream {
    quote!(thread::threadIdx_x())
}

/// The block's index in the grid.
pub fn block_index() -> TokenStream {
    quote!(thread::blockIdx_x())
}

/// The barrier of the block.
pub fn barrier() -> TokenStream {
    quote!(thread::sync_threads();)
}

/// What `value` is in the lane across the mask; all 32 lanes take part.
pub fn shuffle_xor(dtype: Dtype, value: &TokenStream, lane_mask: u32) -> TokenStream {
    let lane_mask = Literal::u32_unsuffixed(lane_mask);
    match dtype.accumulator() {
        Dtype::F64 => quote!(warp::shuffle_xor_f64(#value, #lane_mask)),
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => quote!(warp::shuffle_xor_f32(#value, #lane_mask)),
    }
}

/// Asks for the complete unrolling of the `while` after it.
pub fn unroll() -> TokenStream {
    quote!(#[unroll])
}

/// Whether conversions need instructions that Rust has no word for, where `is_moved` tells which
/// types are loaded and stored. The bits of a bf16 are widened by a shift.
pub fn asks_for_ptx(is_moved: impl Fn(Direction, Dtype) -> bool) -> bool {
    is_moved(Direction::Load, Dtype::F16)
        || is_moved(Direction::Store, Dtype::F16)
        || is_moved(Direction::Store, Dtype::BF16)
}

/// The value of the bits of a sixteen-bit element, an f32. A bf16 is the upper half of one.
pub fn widened(dtype: Dtype, bits: &TokenStream) -> TokenStream {
    match dtype {
        Dtype::BF16 => quote!(f32::from_bits((#bits as u32) << 16_u32)),
        Dtype::F16 | Dtype::F32 | Dtype::F64 => quote! {
            let value: f32;
            unsafe {
                ptx_asm!("cvt.f32.f16 %0, %1;", out("=f") value, in("h") #bits, options(register_only))
            }
            value
        },
    }
}

/// The bits of a sixteen-bit element that is nearest to an f32.
pub fn narrowed(dtype: Dtype, value: &TokenStream) -> TokenStream {
    let convert = match dtype {
        Dtype::BF16 => "cvt.rn.bf16.f32 %0, %1;",
        Dtype::F16 | Dtype::F32 | Dtype::F64 => "cvt.rn.f16.f32 %0, %1;",
    };
    quote! {
        let bits: u16;
        unsafe {
            ptx_asm!(#convert, out("=h") bits, in("f") #value, options(register_only))
        }
        bits
    }
}

/// The Rust type of one element in device memory: sixteen-bit numbers are their bits.
pub fn element_type(dtype: Dtype) -> TokenStream {
    match dtype {
        Dtype::F16 | Dtype::BF16 => quote!(u16),
        Dtype::F32 => quote!(f32),
        Dtype::F64 => quote!(f64),
    }
}

/// The Rust type of one element on the host, which cuda-oxide copies as it is.
fn host_type(dtype: Dtype) -> TokenStream {
    match dtype {
        Dtype::F16 => quote!(half::f16),
        Dtype::BF16 => quote!(half::bf16),
        Dtype::F32 => quote!(f32),
        Dtype::F64 => quote!(f64),
    }
}

/// The type of a kernel's pointer to a buffer.
pub fn pointer_type(dtype: Dtype, direction: Direction) -> TokenStream {
    let element = element_type(dtype);
    match direction {
        Direction::Load => quote!(*const #element),
        Direction::Store => quote!(*mut #element),
    }
}

/// The type under which the host borrows the loaded device module.
pub fn loaded_module() -> TokenStream {
    quote!(&device::LoadedModule)
}

/// The type under which the host borrows the caller's stream.
pub fn stream() -> TokenStream {
    quote!(&cuda_core::CudaStream)
}

/// The type under which the host borrows a buffer.
pub fn buffer(dtype: Dtype, usage: BufferUse) -> TokenStream {
    let element = host_type(dtype);
    match usage {
        BufferUse::Read => quote!(&cuda_core::DeviceBuffer<#element>),
        BufferUse::Write | BufferUse::Update | BufferUse::Temp | BufferUse::Workspace => {
            quote!(&mut cuda_core::DeviceBuffer<#element>)
        }
    }
}

/// The type under which a view that lives as long as `'a` borrows a buffer.
pub fn buffer_in_view(dtype: Dtype) -> TokenStream {
    let element = host_type(dtype);
    quote!(&'a cuda_core::DeviceBuffer<#element>)
}

/// The driver's own error.
pub fn driver_error() -> TokenStream {
    quote!(cuda_core::DriverError)
}

/// A buffer's element count on the host.
pub fn buffer_length(buffer: &impl ToTokens) -> TokenStream {
    quote!(#buffer.len())
}

/// A buffer's device address on the host, a `u64`.
pub fn buffer_address(buffer: &impl ToTokens) -> TokenStream {
    quote!(#buffer.cu_deviceptr())
}

/// A one-dimensional launch; shared memory is static, so none is asked for here.
pub fn launch_config(blocks: &TokenStream, block_threads: u32) -> TokenStream {
    let threads = Literal::u32_unsuffixed(block_threads);
    quote! {
        cuda_core::LaunchConfig {
            grid_dim: (#blocks, 1, 1),
            block_dim: (#threads, 1, 1),
            shared_mem_bytes: 0,
        }
    }
}
