//! Runs Mage's kernels on a GPU: `mage-oxide check` compares every output element with the oracle,
//! `mage-oxide bench` times the kernels and prints one JSON line a measurement, and
//! `mage-oxide sweep` does that for one product at 200 sizes. Without arguments, which is all that
//! `cargo oxide run` passes on, it checks.

mod kernels;
mod memory;
mod case;
mod check;
mod strided;
mod bench;
mod sweep;

use std::process::ExitCode;

/// Whatever goes wrong is told to the person at the terminal.
pub type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [] | ["check"] => check::run(),
        ["bench"] => bench::run(None),
        ["bench", filter] => bench::run(Some(filter)),
        ["sweep"] => sweep::run(),
        _ => Err("usage: mage-oxide [check | bench [NAME] | sweep]".into()),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::from(2)
        }
    }
}
