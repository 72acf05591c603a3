//! The one file that spells cuda-oxide: paths, attributes and calls, as they exist in commit
//! 29396b7f and later ones. The stand-in in `tests/standin` implements the same names.

use mage_einsum::dtype::Dtype;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens, quote};

use crate::kernel::walk::Direction;
use crate::kernel::{Buffer, BufferUse};

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
    /// Asynchronous copies.
    pub copies: bool,
    /// Tensor cores.
    pub mma: bool,
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
    let copies = names.copies.then(|| quote!(async_copy,));
    let mma = names.mma.then(|| quote!(, wmma));
    quote!(use cuda_device::{#shared #copies kernel, launch_bounds #ptx #thread #warp #mma};)
}

/// What makes a function an entry point, with its threads a block and blocks a multiprocessor.
pub fn kernel_attributes(block_threads: u32, min_blocks: u32) -> TokenStream {
    let threads = Literal::u32_unsuffixed(block_threads);
    let blocks = Literal::u32_unsuffixed(min_blocks);
    quote!(#[kernel] #[launch_bounds(#threads, #blocks)])
}

/// A shared array of the block, aligned to so many bytes and uninitialised.
pub fn shared_static(name: &Ident, dtype: Dtype, elems: u32, align: u32) -> TokenStream {
    let element = element_type(dtype);
    let [elems, align] = [elems, align].map(literal);
    quote!(static mut #name: SharedArray<#element, #elems, #align> = SharedArray::UNINIT;)
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

/// Starts a copy of 4 or 16 bytes to shared memory, of which so many are read and the others zero.
/// One of 16 passes the first level of the cache by (`.cg`), which the device crate has no function
/// for: through it (`.ca`) its stores meet in the banks (evidence, tensor-cores.md).
pub fn copy(bytes: u32, [to, from]: [&TokenStream; 2], read: &TokenStream) -> TokenStream {
    if bytes == 4 {
        return quote! {
            async_copy::cp_async_ca_zfill_4(#to as *mut u32, #from as *const u8, #read);
        };
    }
    quote!(Chunk::copy(#to, #from, #read);)
}

/// The type `Chunk` of an element type, whose function copies.
pub fn chunk_definition(dtype: Dtype) -> TokenStream {
    let element = element_type(dtype);
    quote! {
        /// Sixteen bytes that are copied in one piece.
        struct Chunk;

        impl Chunk {
            /// Starts the copy of the first `bytes` bytes and of zeros for the others.
            #[inline(always)]
            unsafe fn copy(to: *mut #element, from: *const #element, bytes: u32) {
                unsafe {
                    ptx_asm!(
                        "{ .reg .u64 %%to; cvta.to.shared.u64 %%to, %0; cp.async.cg.shared.global [%%to], [%1], 16, %2; }",
                        in("l") to, in("l") from, in("r") bytes, clobber("memory")
                    )
                }
            }
        }
    }
}

/// Makes a group of the copies that the thread has started.
pub fn commit_copies() -> TokenStream {
    quote!(ptx_asm!("cp.async.commit_group;", clobber("memory"));)
}

/// Waits for all groups of the thread but the youngest.
pub fn await_copies(pending: u32) -> TokenStream {
    let wait = format!("cp.async.wait_group {pending};");
    quote!(ptx_asm!(#wait, clobber("memory"));)
}

/// Four matrices from shared memory, an array of four words.
pub fn load_matrices(address: &TokenStream, transposed: bool) -> TokenStream {
    let call = if transposed { quote!(ldmatrix_x4_trans) } else { quote!(ldmatrix_x4) };
    quote!(wmma::#call(#address as *const u32))
}

/// Sums and a product of fragments, an array of four sums.
pub fn mma(dtype: Dtype, sums: &TokenStream, [row, col]: [&TokenStream; 2]) -> TokenStream {
    let call = match dtype {
        Dtype::F16 => quote!(mma_m16n8k16_f32_f16),
        Dtype::BF16 => quote!(mma_m16n8k16_f32_bf16),
        // The verifier lets no f64 here.
        Dtype::F32 | Dtype::F64 => quote!(mma_m16n8k8_f32_tf32),
    };
    quote!(wmma::#call(#sums, #row, #col))
}

/// The type `Tf32`, whose function rounds.
pub fn tf32_definition() -> TokenStream {
    quote! {
        /// An f32 with the 11 significant bits that the tensor cores multiply.
        struct Tf32;

        impl Tf32 {
            /// The nearest one, of two the larger.
            #[inline(always)]
            fn round(value: f32) -> f32 {
                let bits: u32;
                unsafe {
                    ptx_asm!("cvt.rna.tf32.f32 %0, %1;", out("=r") bits, in("f") value, options(register_only))
                }
                f32::from_bits(bits)
            }
        }
    }
}

/// What an instruction of PTX makes of operands of one type, as the body of a function.
pub fn instruction(dtype: Dtype, name: &str, operands: &[Ident]) -> TokenStream {
    let places: String = (1..=operands.len()).map(|at| format!(", %{at}")).collect();
    let text = format!("{name} %0{places};");
    let (to, from) = match dtype {
        Dtype::F64 => ("=d", "d"),
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => ("=f", "f"),
    };
    let ty = element_type(dtype);
    quote! {
        let value: #ty;
        unsafe {
            ptx_asm!(#text, out(#to) value, #(in(#from) #operands,)* options(register_only))
        }
        value
    }
}

/// A plain number.
pub fn literal(value: u32) -> Literal {
    Literal::u32_unsuffixed(value)
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

/// The Rust type of an element of an index buffer.
pub fn index_type() -> TokenStream {
    quote!(u32)
}

/// An owned buffer of indices.
pub fn index_buffer() -> TokenStream {
    let element = index_type();
    quote!(cuda_core::DeviceBuffer<#element>)
}

/// A buffer with a copy of what the slice holds, a `Result`.
pub fn buffer_from_host(stream: &TokenStream, values: &TokenStream) -> TokenStream {
    quote!(cuda_core::DeviceBuffer::from_host(#stream, #values))
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
pub fn pointer_type(buffer: &Buffer, direction: Direction) -> TokenStream {
    let element = match buffer.index {
        Some(_) => index_type(),
        None => element_type(buffer.dtype),
    };
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
        BufferUse::Read | BufferUse::Index | BufferUse::Listed => {
            quote!(&cuda_core::DeviceBuffer<#element>)
        }
        BufferUse::Write
        | BufferUse::WriteRead
        | BufferUse::Update
        | BufferUse::Temp
        | BufferUse::Register
        | BufferUse::Workspace => {
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
