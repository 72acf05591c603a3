//! Runs the built binary as a user would.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::expect_used, reason = "only tests are built with it")]

use std::path::PathBuf;
use std::process::{Command, Output};

/// What a run of `mage` left behind.
pub struct Run {
    /// The exit status.
    pub status: i32,
    /// The standard output.
    pub out: String,
    /// The standard error.
    pub err: String,
}

/// Runs `mage` with these arguments at the root of the repository.
pub fn mage(arguments: &[&str]) -> Run {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_mage"))
        .args(arguments)
        .current_dir(root)
        .output()
        .expect("the binary runs");
    Run {
        status: status.code().expect("the binary ends by itself"),
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
    }
}

/// The JSON of a run that ended with `status`.
pub fn json(arguments: &[&str], status: i32) -> serde_json::Value {
    let run = mage(arguments);
    assert_eq!(run.status, status, "{}{}", run.out, run.err);
    serde_json::from_str(&run.out).expect("JSON")
}

/// A folder of this test alone, empty.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
