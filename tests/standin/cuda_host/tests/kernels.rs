//! The stand-in on kernels of its own: both orders, and every fault that it promises to catch.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cuda_core::{CudaContext, CudaStream, DeviceBuffer, DriverError, LaunchConfig};
use cuda_host::standin::{Order, set_order};

#[cuda_host::cuda_module]
mod kernels {
    use cuda_device::{SharedArray, async_copy, kernel, launch_bounds, ptx_asm, thread, warp};

    /// Reverses each block's 64 numbers, doubles them, and adds the neighbour on the left: two barriers.
    ///
    /// # Safety
    ///
    /// `input` and `out` hold 64 numbers a block.
    #[kernel]
    #[launch_bounds(64, 2)]
    pub unsafe fn standin_two_barriers(input: *const f32, out: *mut f32) {
        static mut TILE: SharedArray<f32, 64, 16> = SharedArray::UNINIT;
        unsafe {
            let tile = &raw mut TILE as *mut f32;
            let thread_idx = thread::threadIdx_x();
            let at = (thread::blockIdx_x() * 64 + thread_idx) as usize;
            *tile.add(63 - thread_idx as usize) = *input.add(at);
            thread::sync_threads();
            let mut sum = *tile.add(thread_idx as usize);
            thread::sync_threads();
            *tile.add(thread_idx as usize) = 2.0 * sum;
            thread::sync_threads();
            let mut neighbour = 0;
            #[unroll]
            while neighbour < 2 {
                sum += *tile.add((thread_idx as usize + 63 + neighbour) % 64);
                neighbour += 1;
            }
            *out.add(at) = sum;
        }
    }

    /// # Safety
    ///
    /// None of its faults reaches memory.
    #[kernel]
    pub unsafe fn standin_diverges(n: u32) {
        if thread::threadIdx_x() < n {
            thread::sync_threads();
        }
    }

    /// # Safety
    ///
    /// None of its faults reaches memory.
    #[kernel]
    #[allow(clippy::if_same_then_else)]
    pub unsafe fn standin_two_places() {
        if thread::threadIdx_x() < 3 {
            thread::sync_threads();
        } else {
            thread::sync_threads();
        }
    }

    /// Sums each warp, the barrier in between to see that both kinds of pause mix.
    ///
    /// # Safety
    ///
    /// `out` holds a number a thread.
    #[kernel]
    pub unsafe fn standin_sums_warps(out: *mut f32) {
        let thread_idx = thread::threadIdx_x();
        let mut sum = thread_idx as f32;
        let mut round = 0;
        while round < 5 {
            sum += warp::shuffle_xor_f32(sum, 16 >> round);
            thread::sync_threads();
            round += 1;
        }
        unsafe { *out.add(thread_idx as usize) = sum };
    }

    /// # Safety
    ///
    /// None of its faults reaches memory.
    #[kernel]
    pub unsafe fn standin_tears_warps(n: u32) {
        if thread::threadIdx_x() < n {
            warp::shuffle_xor_f32(1.0, 1);
        }
    }

    /// Copies a number a thread into shared memory and out again, waiting for the copy or not.
    ///
    /// # Safety
    ///
    /// `from` and `out` hold a number a thread.
    #[kernel]
    pub unsafe fn standin_copies(from: *const f32, out: *mut f32, waits: u32) {
        static mut CELLS: SharedArray<f32, 64, 16> = SharedArray::UNINIT;
        let thread_idx = thread::threadIdx_x() as usize;
        unsafe {
            let cells = &raw mut CELLS as *mut f32;
            let to = cells.add(thread_idx) as *mut u32;
            async_copy::cp_async_ca_zfill_4(to, from.add(thread_idx) as *const u8, 4);
            ptx_asm!("cp.async.commit_group;", clobber("memory"));
            if waits == 1 {
                ptx_asm!("cp.async.wait_group 0;", clobber("memory"));
            }
            *out.add(thread_idx) = *cells.add(thread_idx);
        }
    }

    /// # Safety
    ///
    /// `out` is in a device buffer's guarded neighbourhood.
    #[kernel]
    pub unsafe fn standin_stores(out: *mut f32, at: i32) {
        unsafe { *out.offset(at as isize) = 1.0 };
    }

    /// # Safety
    ///
    /// `out` holds one number.
    #[kernel]
    pub unsafe fn standin_shared(out: *mut f32, written: u32, read: u32) {
        static mut TILE: SharedArray<f32, 8, 16> = SharedArray::UNINIT;
        unsafe {
            let tile = &raw mut TILE as *mut f32;
            *tile.add(written as usize) = 1.0;
            *out = *tile.add(read as usize);
        }
    }
}

struct Device {
    stream: Arc<CudaStream>,
    module: kernels::LoadedModule,
}

fn device() -> Device {
    let context = CudaContext::new(0).unwrap();
    Device { stream: context.default_stream(), module: kernels::load(&context).unwrap() }
}

fn config(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// The message of the panic that a faulty launch ends with.
fn fault(launch: impl FnOnce() -> Result<(), DriverError>) -> String {
    match catch_unwind(AssertUnwindSafe(launch)) {
        Err(panic) => *panic.downcast::<String>().unwrap(),
        Ok(outcome) => panic!("the launch went through: {outcome:?}"),
    }
}

#[test]
fn two_barriers_in_both_orders() {
    let Device { stream, module } = device();
    let input: Vec<f32> = (0..192).map(|value| value as f32).collect();
    let expected: Vec<f32> = (0..192)
        .map(|at| {
            let reversed = |thread: usize| input[at / 64 * 64 + 63 - thread % 64];
            let thread = at % 64;
            reversed(thread) + 2.0 * reversed(thread + 63) + 2.0 * reversed(thread)
        })
        .collect();
    for order in [Order::Forward, Order::Reverse] {
        set_order(order);
        let a = DeviceBuffer::from_host(&stream, &input).unwrap();
        let mut out = DeviceBuffer::from_host(&stream, &[f32::NAN; 192]).unwrap();
        let (a_ptr, out_ptr) = (a.cu_deviceptr() as *const f32, out.cu_deviceptr() as *mut f32);
        // SAFETY: three blocks of 64, and buffers of 192.
        unsafe { module.standin_two_barriers(&stream, config(3, 64), a_ptr, out_ptr) }.unwrap();
        assert_eq!(out.to_host_vec(&stream).unwrap(), expected, "{order:?}");
        out.copy_from_host(&stream, &[0.0; 192]).unwrap();
        assert_eq!(out.to_host_vec(&stream).unwrap(), [0.0; 192]);
    }
}

#[test]
fn a_divergent_barrier_is_caught() {
    let Device { stream, module } = device();
    // SAFETY: the kernel touches no memory.
    unsafe { module.standin_diverges(&stream, config(2, 32), 32) }.unwrap();
    for order in [Order::Forward, Order::Reverse] {
        set_order(order);
        // SAFETY: as above.
        let text = fault(|| unsafe { module.standin_diverges(&stream, config(2, 32), 7) });
        assert!(text.contains("divergent barrier: block"), "{text}");
        assert!(text.contains("has returned") && text.contains("waits at"), "{text}");
    }
    set_order(Order::Forward);
    // SAFETY: as above.
    let text = fault(|| unsafe { module.standin_two_places(&stream, config(1, 8)) });
    assert!(text.contains("thread (3, 0, 0) waits at"), "{text}");
}

#[test]
fn warps_exchange_in_both_orders() {
    let Device { stream, module } = device();
    let expected: Vec<f32> = (0..96).map(|thread| (thread / 32 * 32 * 32 + 496) as f32).collect();
    for order in [Order::Forward, Order::Reverse] {
        set_order(order);
        let out = DeviceBuffer::<f32>::zeroed(&stream, 96).unwrap();
        let out_ptr = out.cu_deviceptr() as *mut f32;
        // SAFETY: one block of 96 threads, and a buffer of 96.
        unsafe { module.standin_sums_warps(&stream, config(1, 96), out_ptr) }.unwrap();
        assert_eq!(out.to_host_vec(&stream).unwrap(), expected, "{order:?}");
    }
}

#[test]
fn a_torn_warp_is_caught() {
    let Device { stream, module } = device();
    for order in [Order::Forward, Order::Reverse] {
        set_order(order);
        // SAFETY: the kernel touches no memory.
        let launch =
            |threads, n| unsafe { module.standin_tears_warps(&stream, config(1, threads), n) };
        launch(64, 64).unwrap();
        launch(64, 32).unwrap();
        let text = fault(|| launch(64, 33));
        assert!(
            text.contains("divergent shuffle: block (0, 0, 0), thread (32, 0, 0) shuffles at"),
            "{text}"
        );
        assert!(text.contains("has returned"), "{text}");
        let text = fault(|| launch(40, 40));
        assert!(text.contains("partial warp") && text.contains("its warp has 8 threads"), "{text}");
    }
    set_order(Order::Forward);
}

#[test]
fn a_store_outside_a_buffer_is_caught() {
    let Device { stream, module } = device();
    let out = DeviceBuffer::<f32>::zeroed(&stream, 4).unwrap();
    for (at, expected) in [
        (4, "write past a device buffer of 16 bytes: byte 16 from its start"),
        (-1, "write before a device buffer of 16 bytes: byte -4 from its start"),
    ] {
        let out_ptr = out.cu_deviceptr() as *mut f32;
        // SAFETY: both places are in the buffer's guards.
        let text = fault(|| unsafe { module.standin_stores(&stream, config(1, 1), out_ptr, at) });
        assert_eq!(text, expected);
    }
}

#[test]
fn shared_memory_starts_poisoned_and_ends_guarded() {
    let Device { stream, module } = device();
    let out = DeviceBuffer::<f32>::zeroed(&stream, 1).unwrap();
    let out_ptr = out.cu_deviceptr() as *mut f32;
    // SAFETY: element 7 and 3 are in the array of 8.
    unsafe { module.standin_shared(&stream, config(2, 1), out_ptr, 7, 3) }.unwrap();
    assert!(out.to_host_vec(&stream).unwrap()[0].is_nan());
    // SAFETY: element 9 is in the array's guard.
    let text = fault(|| unsafe { module.standin_shared(&stream, config(2, 1), out_ptr, 9, 9) });
    assert!(text.contains("write past a shared array of 32 bytes: byte 36"), "{text}");
}

#[test]
fn what_the_driver_refuses_is_refused() {
    let Device { stream, module } = device();
    let elsewhere = device().stream;
    let null = std::ptr::null_mut();
    for (stream, config, error) in [
        (&stream, config(0, 64), DriverError::INVALID_VALUE),
        (&stream, config(1, 65), DriverError::INVALID_VALUE),
        (&stream, config(1, 0), DriverError::INVALID_VALUE),
        (&elsewhere, config(1, 64), DriverError::INVALID_CONTEXT),
    ] {
        // SAFETY: no thread runs.
        let outcome = unsafe { module.standin_two_barriers(stream, config, null, null) };
        assert_eq!(outcome, Err(error));
    }
}

#[test]
fn a_copy_is_there_when_it_was_waited_for() {
    let Device { stream, module } = device();
    let numbers: Vec<f32> = (0..64_u8).map(f32::from).collect();
    let from = DeviceBuffer::from_host(&stream, &numbers).unwrap();
    for (waits, arrives) in [(1, true), (0, false)] {
        let out = DeviceBuffer::<f32>::zeroed(&stream, 64).unwrap();
        let (from, to) = (from.cu_deviceptr() as *const f32, out.cu_deviceptr() as *mut f32);
        // SAFETY: both hold a number a thread.
        unsafe { module.standin_copies(&stream, config(1, 64), from, to, waits) }.unwrap();
        let got = out.to_host_vec(&stream).unwrap();
        assert_eq!(got == numbers, arrives, "{got:?}");
        assert!(arrives || got.iter().all(|number| number.is_nan()), "{got:?}");
    }
}
