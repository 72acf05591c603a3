//! A bar on the standard error for runs that take longer than a second, where somebody watches.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// A short run finishes before a bar would have been read.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar that appears late or never.
pub struct Progress {
    what: String,
    started: Instant,
    is_watched: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Starts the clock. `what` stands beside the bar.
    pub fn new(what: String) -> Progress {
        let is_watched = std::io::stderr().is_terminal();
        Progress { what, started: Instant::now(), is_watched, bar: None }
    }

    /// Tells how many of all blocks are done.
    pub fn tell(&mut self, n_done: u64, n_blocks: u64) {
        if let Some(bar) = &self.bar {
            bar.set_position(n_done);
        } else if self.is_watched && self.started.elapsed() > PATIENCE {
            let bar = ProgressBar::new(n_blocks);
            // The template is constant and tests see it; a bar without style would do as well.
            if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} blocks") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_message(self.what.clone());
            bar.set_position(n_done);
            self.bar = Some(bar);
        }
    }
}

impl Drop for Progress {
    /// The bar leaves no trace; the verdict follows it.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
