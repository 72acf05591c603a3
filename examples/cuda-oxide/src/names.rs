//! Which kernels a command takes.

/// Beginnings of kernels' names; without any, every kernel is taken.
#[derive(Clone, Copy)]
pub struct Names<'a>(pub &'a [&'a str]);

impl Names<'_> {
    /// Every kernel.
    pub const ALL: Names<'static> = Names(&[]);

    /// Whether a kernel is taken.
    pub fn take(self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|beginning| name.starts_with(beginning))
    }
}
