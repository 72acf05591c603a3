//! A batch of launches as a CUDA graph, so that what it takes is the kernels' time and not the
//! host's. `bench.py` replays its peers in the same way.

use std::ptr;

use cuda_core::{CudaStream, IntoResult, sys};

use crate::Error;

/// Launches in a row, captured once.
pub struct Replay<'s> {
    stream: &'s CudaStream,
    graph: sys::CUgraph,
    executable: sys::CUgraphExec,
    n_launches: usize,
}

impl<'s> Replay<'s> {
    /// Captures so many calls of `launch`, which put their kernels on the stream.
    pub fn new(
        stream: &'s CudaStream,
        n_launches: usize,
        mut launch: impl FnMut() -> Result<(), Error>,
    ) -> Result<Replay<'s>, Error> {
        let mode = sys::CUstreamCaptureMode_enum_CU_STREAM_CAPTURE_MODE_RELAXED;
        let (mut graph, mut executable) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the stream lives as long as the borrow, and it is not the default one.
        unsafe { sys::cuStreamBeginCapture_v2(stream.cu_stream(), mode) }.result()?;
        let launched = (0..n_launches).try_for_each(|_| launch());
        // SAFETY: the capture began on this stream; `graph` is written before it is read.
        unsafe { sys::cuStreamEndCapture(stream.cu_stream(), &raw mut graph) }.result()?;
        // From here on the graph is destroyed whatever happens.
        let mut replay = Replay { stream, graph, executable, n_launches };
        launched?;
        // SAFETY: the graph was captured above.
        unsafe { sys::cuGraphInstantiateWithFlags(&raw mut executable, graph, 0) }.result()?;
        replay.executable = executable;
        Ok(replay)
    }

    /// Seconds a launch: the span between two events around a replay that follows another at once,
    /// so that the start of neither counts.
    pub fn seconds(&self) -> Result<f64, Error> {
        let timed = Some(sys::CUevent_flags_enum_CU_EVENT_DEFAULT);
        self.launch()?;
        let start = self.stream.record_event(timed)?;
        self.launch()?;
        let end = self.stream.record_event(timed)?;
        Ok(f64::from(start.elapsed_ms(&end)?) / 1e3 / self.n_launches as f64)
    }

    fn launch(&self) -> Result<(), Error> {
        // SAFETY: the graph was instantiated, and what its kernels read and write is borrowed by
        // the caller for as long as it replays.
        Ok(unsafe { sys::cuGraphLaunch(self.executable, self.stream.cu_stream()) }.result()?)
    }
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        // SAFETY: both were made here, and nothing else holds them; a graph that could not be
        // instantiated has no executable.
        unsafe {
            if !self.executable.is_null() {
                sys::cuGraphExecDestroy(self.executable);
            }
            sys::cuGraphDestroy(self.graph);
        }
    }
}
