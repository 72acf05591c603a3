//! The command line of Mage. [`args`] says what can be asked, [`request`] turns the words into a
//! specification, and `check`, `explain`, `emit` and `grad` answer. Exit status: 0 when all is well, 1
//! when a check fails, a file is stale or an operand has no gradient, 2 when there is nothing to
//! judge because the input is wrong.

mod args;
mod refusal;
mod request;
mod launches;
mod table;
mod progress;
mod check;
mod explain;
mod emit;
mod grad;

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use refusal::Refusal;

/// What a command has to say.
pub struct Answer {
    /// Text for the standard output.
    pub text: String,
    /// Whether what was asked about is as it should be.
    pub holds: bool,
}

fn main() -> ExitCode {
    let cli = Cli::parse_from(args::guarded(std::env::args_os()));
    let answer = match &cli.command {
        Command::Check(asked) => check::answer(asked),
        Command::Explain(asked) => explain::answer(asked),
        Command::Emit(asked) => emit::answer(asked),
        Command::Grad(asked) => grad::answer(asked),
    };
    match answer.and_then(said) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(refusal) => {
            // There is no one left to tell when the standard error is closed.
            let _ = write!(std::io::stderr(), "{refusal}");
            ExitCode::from(2)
        }
    }
}

/// Prints an answer. A reader that has seen enough and closes the pipe is no error.
fn said(answer: Answer) -> Result<bool, Refusal> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(answer.text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(why) if why.kind() != ErrorKind::BrokenPipe => {
            Err(Refusal::usage(format!("the standard output cannot be written: {why}")))
        }
        Ok(()) | Err(_) => Ok(answer.holds),
    }
}
