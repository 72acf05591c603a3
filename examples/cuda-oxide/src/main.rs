//! Runs Mage's kernels on a GPU: `mage-oxide check` compares every output element with the oracle,
//! `mage-oxide bench` times the kernels and prints one JSON line a measurement, and
//! `mage-oxide sweep` does that for one product at 200 sizes. Without arguments, which is all that
//! `cargo oxide run` passes on, it checks. The first two take names.

mod kernels;
mod names;
mod memory;
mod graph;
mod problem;
mod case;
mod check;
mod strided;
mod replay;
mod bench;
mod sweep;

use std::process::ExitCode;

use names::Names;

/// Whatever goes wrong is told to the person at the terminal.
pub type Error = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [] => check::run(Names::ALL),
        ["check", names @ ..] => check::run(Names(names)),
        ["bench", names @ ..] => bench::run(Names(names)),
        ["sweep"] => sweep::run(),
        _ => Err("usage: mage-oxide [check [NAME..] | bench [NAME..] | sweep]".into()),
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
