//! Device models: the facts that a schedule is chosen by, those of the compute capability and
//! those of the product apart, each with its source.

use mage_einsum::dtype::Dtype;
use mage_einsum::precision::Precision;

/// What every device of one compute capability shares.
///
/// Source: CUDA C++ Programming Guide 13.0, section "Compute Capabilities", tables "Technical
/// Specifications per Compute Capability" and "Arithmetic Instructions".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// As `ptxas -arch` takes it.
    pub arch: &'static str,
    /// Threads of one block.
    pub block_threads: u32,
    /// Threads resident on one multiprocessor.
    pub sm_threads: u32,
    /// Blocks resident on one multiprocessor.
    pub sm_blocks: u32,
    /// 32-bit registers of one multiprocessor.
    pub sm_registers: u32,
    /// 32-bit registers of one thread.
    pub thread_registers: u32,
    /// Schedulers of one multiprocessor, each with its share of the registers.
    pub sm_schedulers: u32,
    /// Registers are handed out to a thread of a warp in units of so many.
    pub register_unit: u32,
    /// Bytes of shared memory of one multiprocessor.
    pub sm_shared_bytes: u32,
    /// Bytes of shared memory of one block without opting in to more.
    pub static_shared_bytes: u32,
    /// Bytes of shared memory of one block when it opts in.
    pub optin_shared_bytes: u32,
    /// Bytes of shared memory that the system keeps for each block.
    pub reserved_shared_bytes: u32,
    /// Blocks along the first dimension of a grid.
    pub grid_blocks: u32,
}

/// A product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Device {
    /// The option's value, for example `rtx4090`.
    pub key: &'static str,
    /// The product's name.
    pub name: &'static str,
    /// Its compute capability.
    pub capability: Capability,
    /// Multiprocessors.
    pub n_sms: u32,
    /// Peak f32 rate in FLOP/s, a fused multiply-add counted as two.
    pub f32_flops_per_s: f64,
    /// The same in f64.
    pub f64_flops_per_s: f64,
    /// The same of the tensor cores for halves that are summed in f32, dense.
    pub half_mma_flops_per_s: f64,
    /// The same of the tensor cores for TF32.
    pub tf32_mma_flops_per_s: f64,
    /// Peak bandwidth of device memory in bytes/s.
    pub bandwidth_bytes_per_s: f64,
    /// Where the product's numbers stand.
    pub source: &'static str,
}

/// Bytes of a sector, the unit in which global memory is moved.
///
/// Source: CUDA C++ Best Practices Guide 13.0, "Coalesced Access to Global Memory".
pub const SECTOR_BYTES: u32 = 32;

/// Threads of a warp. Source: CUDA C++ Programming Guide 13.0, "Hardware Implementation".
pub const WARP_THREADS: u32 = 32;

/// Banks of shared memory, each of one 4-byte word a cycle. Source: CUDA C++ Programming Guide 13.0,
/// "Compute Capability 5.x", "Shared Memory", to which later capabilities refer.
pub const BANKS: u32 = 32;

const SM_89: Capability = Capability {
    arch: "sm_89",
    block_threads: 1024,
    sm_threads: 1536,
    sm_blocks: 24,
    sm_registers: 65_536,
    sm_schedulers: 4,
    thread_registers: 255,
    register_unit: 8,
    sm_shared_bytes: 100 * 1024,
    static_shared_bytes: 48 * 1024,
    optin_shared_bytes: 99 * 1024,
    reserved_shared_bytes: 1024,
    grid_blocks: i32::MAX as u32,
};

const SM_90: Capability = Capability {
    arch: "sm_90",
    sm_threads: 2048,
    sm_blocks: 32,
    sm_shared_bytes: 228 * 1024,
    optin_shared_bytes: 227 * 1024,
    ..SM_89
};

/// The device that schedules are chosen for unless another is named.
pub const RTX_4090: Device = Device {
    key: "rtx4090",
    name: "NVIDIA GeForce RTX 4090",
    capability: SM_89,
    n_sms: 128,
    f32_flops_per_s: 82.6e12,
    // A 64th: two f64 units a multiprocessor (the whitepaper, "Ada SM Architecture").
    f64_flops_per_s: 1.29e12,
    half_mma_flops_per_s: 165.2e12,
    tf32_mma_flops_per_s: 82.6e12,
    bandwidth_bytes_per_s: 1008e9,
    source: "NVIDIA Ada GPU Architecture whitepaper, appendix A, table of the GeForce RTX 4090",
};

/// The device that kernels are measured on.
pub const H200: Device = Device {
    key: "h200",
    name: "NVIDIA H200 SXM",
    capability: SM_90,
    n_sms: 132,
    f32_flops_per_s: 67e12,
    f64_flops_per_s: 34e12,
    // Half of what the datasheet gives, which is for sparse factors.
    half_mma_flops_per_s: 989.5e12,
    tf32_mma_flops_per_s: 494.5e12,
    bandwidth_bytes_per_s: 4.8e12,
    source: "NVIDIA H200 Tensor Core GPU datasheet; multiprocessors as the driver reports them",
};

/// Every device model, the default first.
pub const DEVICES: [&Device; 2] = [&RTX_4090, &H200];

/// The model that the option `device` names; `None` for an unknown name.
pub fn find(key: &str) -> Option<&'static Device> {
    DEVICES.into_iter().find(|device| device.key == key)
}

/// How many blocks of a kernel fit on one multiprocessor, and what keeps it from being more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residency {
    /// Blocks on one multiprocessor; 0 when one block asks for more than there is.
    pub blocks: u32,
    /// The limit that binds.
    pub bound_by: &'static str,
}

impl Device {
    /// Peak rate of products of operands of a type, in FLOP/s: that of the tensor cores where they
    /// may multiply them.
    pub fn flops_per_s(&self, operands: Dtype, precision: Precision) -> f64 {
        match (operands, precision) {
            (Dtype::F64, _) => self.f64_flops_per_s,
            (Dtype::F32, Precision::Full) => self.f32_flops_per_s,
            (Dtype::F32, Precision::Tf32) => self.tf32_mma_flops_per_s,
            (Dtype::F16 | Dtype::BF16, _) => self.half_mma_flops_per_s,
        }
    }
}

impl Capability {
    /// Residency of blocks of `threads` threads, `registers` registers a thread and
    /// `shared_bytes` of shared memory.
    ///
    /// Source: CUDA C++ Programming Guide 13.0, "Multiprocessor Level", and "Compute Capability
    /// 8.x": a warp stays on one of four schedulers, so registers are counted a scheduler.
    pub fn residency(&self, threads: u32, registers: u32, shared_bytes: u32) -> Residency {
        let warps = threads.div_ceil(WARP_THREADS);
        let warp_registers = registers.next_multiple_of(self.register_unit).max(1) * WARP_THREADS;
        let scheduler_warps = self.sm_registers / self.sm_schedulers / warp_registers;
        let limits = [
            (self.sm_schedulers * scheduler_warps / warps, "registers"),
            (self.sm_shared_bytes / (shared_bytes + self.reserved_shared_bytes), "shared memory"),
            (self.sm_threads / (warps * WARP_THREADS), "threads"),
            (self.sm_blocks, "blocks"),
        ];
        let (blocks, bound_by) = limits
            .into_iter()
            .reduce(|least, next| if next.0 < least.0 { next } else { least })
            .unwrap_or((0, "nothing"));
        Residency { blocks, bound_by }
    }
}
