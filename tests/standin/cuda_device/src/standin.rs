//! Runs a grid: one block at a time, the block's threads as coroutines stepped from barrier to barrier.
//!
//! Everything is deterministic. A kernel whose result depends on the order of threads or blocks is wrong, and
//! shows it by differing between the two orders.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::async_copy;
use crate::pause::{self, Call, Pause, Place};
use crate::shared::{GUARD_BYTES, SharedArray};

/// `(x, y, z)`.
pub type Dim = (u32, u32, u32);

/// The order in which blocks, and the threads of a block between two barriers, run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// First to last.
    Forward,
    /// Last to first.
    Reverse,
}

type Thread = Coroutine<(), Pause, (), DefaultStack>;

/// What each lane of a warp brings to a call that the warp makes together.
pub(crate) type Words = [[u32; MOST_WORDS]; WARP_LANES];

/// What the running thread reads about itself.
#[derive(Clone, Copy)]
pub(crate) struct Current {
    pub thread: Dim,
    pub block: Dim,
    pub block_dim: Dim,
    pub grid_dim: Dim,
    /// Calls that the thread has made together with its warp.
    calls: usize,
    yielder: *const Yielder<(), Pause>,
}

/// Large enough for a kernel's locals and for the printing of a panic; pages are taken only when touched.
const STACK_BYTES: usize = 256 * 1024;
/// Threads of a warp.
pub(crate) const WARP_LANES: usize = 32;
/// Most words that a lane brings to a call: four and two of two fragments.
const MOST_WORDS: usize = 6;
/// Poison of memory that nothing has written: a NaN in every float format.
pub(crate) const POISON: u8 = 0xff;

thread_local! {
    static ORDER: Cell<Order> = const { Cell::new(Order::Forward) };
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
    /// Address and bytes of the shared arrays that the running block has entered.
    static SHARED: RefCell<Vec<(usize, usize)>> = const { RefCell::new(Vec::new()) };
    /// For two calls in turn: the first lane may have gone on to the next one when the last lane still reads.
    static WORDS: RefCell<[Words; 2]> = const { RefCell::new([[[0; MOST_WORDS]; WARP_LANES]; 2]) };
    /// Stacks of finished threads, to spare a mapping for each thread of each block.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// Held for a whole grid: the shared arrays are statics, and two tests may launch one kernel at once.
static LAUNCH: Mutex<()> = Mutex::new(());

/// Chooses the order of the launches that this OS thread makes from now on.
pub fn set_order(order: Order) {
    ORDER.set(order);
}

pub(crate) fn current() -> Current {
    CURRENT.get().expect("device functions are called by kernels only")
}

/// Lets the other threads run.
fn pause(me: Current, pause: Pause) {
    // SAFETY: the yielder lives as long as this thread's coroutine, on whose stack we are.
    unsafe { &*me.yielder }.suspend(pause);
    // Other threads ran meanwhile and left their own identity behind.
    CURRENT.set(Some(me));
}

pub(crate) fn wait_at(barrier: Place) {
    pause(current(), Pause::Barrier(barrier));
}

/// Makes a call together with the warp: brings words, waits until every lane has, and makes of this lane and of all
/// words what the call gives.
pub(crate) fn together<R>(
    place: Place,
    call: Call,
    words: &[u32],
    result: impl FnOnce(usize, &Words) -> R,
) -> R {
    let me = current();
    let lane = index(me.thread, me.block_dim) % WARP_LANES;
    let turn = me.calls % 2;
    WORDS.with_borrow_mut(|all| all[turn][lane][..words.len()].copy_from_slice(words));
    pause(Current { calls: me.calls + 1, ..me }, Pause::Warp { place, call });
    WORDS.with_borrow(|all| result(lane, &all[turn]))
}

/// Poisons a shared array when the first thread of a block enters the kernel. `#[kernel]` inserts the call.
///
/// # Safety
///
/// `array` is a static that only the running kernel uses.
pub unsafe fn enter_shared<T, const N: usize, const ALIGN: usize>(
    array: *mut SharedArray<T, N, ALIGN>,
) {
    let bytes = SharedArray::<T, N, ALIGN>::BYTES;
    SHARED.with_borrow_mut(|entered| {
        if !entered.iter().any(|&(address, _)| address == array.addr()) {
            // SAFETY: the static holds the elements and the guard behind them, and no reference to it exists.
            unsafe { array.cast::<u8>().write_bytes(POISON, bytes + GUARD_BYTES) };
            entered.push((array.expose_provenance(), bytes));
        }
    });
}

/// Runs `kernel` once per thread of the grid, then `check` while still alone, and panics with what went wrong.
pub fn run_grid(
    grid_dim: Dim,
    block_dim: Dim,
    kernel: impl Fn() + Copy + 'static,
    check: impl FnOnce() -> Result<(), String>,
) {
    let alone = LAUNCH.lock().unwrap_or_else(PoisonError::into_inner);
    let fault = ordered(n_elements(grid_dim), ORDER.get())
        .map(|block_idx| run_block(position(block_idx, grid_dim), grid_dim, block_dim, kernel))
        .find_map(Result::err);
    CURRENT.set(None);
    // The guards are looked at after a fault as well, because they are restored on the way.
    let fault = match (fault, check()) {
        (Some(fault), _) => Some(fault),
        (None, outcome) => outcome.err(),
    };
    if let Some(fault) = fault {
        drop(alone);
        panic!("{fault}");
    }
}

fn run_block(
    block: Dim,
    grid_dim: Dim,
    block_dim: Dim,
    kernel: impl Fn() + Copy + 'static,
) -> Result<(), String> {
    SHARED.with_borrow_mut(Vec::clear);
    async_copy::enter();
    let n_threads = n_elements(block_dim);
    let mut threads: Vec<Thread> = (0..n_threads)
        .map(|thread_idx| {
            let thread = position(thread_idx, block_dim);
            Coroutine::with_stack(take_stack(), move |yielder, _| {
                CURRENT.set(Some(Current {
                    thread,
                    block,
                    block_dim,
                    grid_dim,
                    calls: 0,
                    yielder,
                }));
                kernel();
            })
        })
        .collect();
    let at = |thread_idx| format!("block {block:?}, thread {:?}", position(thread_idx, block_dim));
    while step(&mut threads, at)? {}
    for thread in threads {
        STACKS.with_borrow_mut(|stacks| stacks.push(thread.into_stack()));
    }
    check_shared().map_err(|fault| format!("block {block:?}: {fault}"))
}

/// Runs every thread to its next barrier. False when all have returned instead.
fn step(threads: &mut [Thread], at: impl Fn(u64) -> String) -> Result<bool, String> {
    let n_warps = threads.len().div_ceil(WARP_LANES) as u64;
    let mut reached: Vec<Option<Pause>> = vec![None; threads.len()];
    for warp in ordered(n_warps, ORDER.get()) {
        let first = warp as usize * WARP_LANES;
        let end = threads.len().min(first + WARP_LANES);
        let at = |lane: u64| at(first as u64 + lane);
        run_warp(&mut threads[first..end], &mut reached[first..end], at)?;
    }
    let mut order = ordered(threads.len() as u64, ORDER.get());
    let Some(one) = order.next() else {
        return Ok(false);
    };
    let same = reached[one as usize];
    match order.find(|&other| reached[other as usize] != same) {
        Some(other) => Err(format!(
            "divergent barrier: {} {}, but {} {}",
            at(one),
            pause::describe(same),
            at(other),
            pause::describe(reached[other as usize])
        )),
        None => Ok(same.is_some()),
    }
}

/// Runs the threads of a warp, through all that they do together, to the next barrier or to their end.
fn run_warp(
    threads: &mut [Thread],
    reached: &mut [Option<Pause>],
    at: impl Fn(u64) -> String,
) -> Result<(), String> {
    loop {
        for lane in ordered(threads.len() as u64, ORDER.get()) {
            let thread = &mut threads[lane as usize];
            reached[lane as usize] = match catch_unwind(AssertUnwindSafe(|| thread.resume(()))) {
                Ok(CoroutineResult::Yield(pause)) => Some(pause),
                Ok(CoroutineResult::Return(())) => None,
                Err(panic) => return Err(format!("{}: {}", at(lane), message(panic))),
            };
        }
        if !pause::meets(reached, &at)? {
            return Ok(());
        }
    }
}

fn message(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => {
            panic.downcast_ref::<&str>().map_or("the kernel panicked", |text| text).to_owned()
        }
    }
}

fn check_shared() -> Result<(), String> {
    SHARED.with_borrow(|entered| {
        for &(address, bytes) in entered {
            let guard = std::ptr::with_exposed_provenance::<u8>(address + bytes);
            // SAFETY: `enter_shared` saw the static, whose guard lies behind its elements; no thread is running.
            let guard = unsafe { std::slice::from_raw_parts(guard, GUARD_BYTES) };
            if let Some(past) = guard.iter().position(|&byte| byte != POISON) {
                return Err(format!(
                    "write past a shared array of {bytes} bytes: byte {}",
                    bytes + past
                ));
            }
        }
        Ok(())
    })
}

fn take_stack() -> DefaultStack {
    STACKS
        .with_borrow_mut(Vec::pop)
        .unwrap_or_else(|| DefaultStack::new(STACK_BYTES).expect("memory for a thread's stack"))
}

fn n_elements((x, y, z): Dim) -> u64 {
    u64::from(x) * u64::from(y) * u64::from(z)
}

fn position(idx: u64, (x, y, _): Dim) -> Dim {
    let (x, y) = (u64::from(x), u64::from(y));
    ((idx % x) as u32, (idx / x % y) as u32, (idx / (x * y)) as u32)
}

fn ordered(n: u64, order: Order) -> impl Iterator<Item = u64> {
    (0..n).map(move |idx| match order {
        Order::Forward => idx,
        Order::Reverse => n - 1 - idx,
    })
}

fn index((x, y, z): Dim, (n_x, n_y, _): Dim) -> usize {
    (x + n_x * (y + n_y * z)) as usize
}
