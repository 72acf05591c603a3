//! The arguments of `mage`, as clap reads them. Nothing is decided here: an option's value goes to
//! Mage's one option parser as it was written.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use mage_einsum::fill::Fill;

/// Turns einsum notation into tiled GPU kernels in Rust, and shows its work.
#[derive(Debug, Parser)]
#[command(name = "mage", version, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the kernel on the CPU and compare every element with the oracle.
    #[command(override_usage = CHECK_USAGE, after_help = CHECK_EXAMPLES)]
    Check(CheckArgs),
    /// Show how the notation becomes a tiled kernel, what that costs, and why it is so.
    #[command(override_usage = EXPLAIN_USAGE, after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Print the kernel's source for cuda-oxide.
    #[command(override_usage = EMIT_USAGE, after_help = EMIT_EXAMPLES)]
    Emit(EmitArgs),
    /// Print the contractions that give the gradients of the operands.
    #[command(after_help = GRAD_EXAMPLES)]
    Grad(GradArgs),
}

const CHECK_USAGE: &str = "\
mage check [OPTIONS] NOTATION [LABEL=EXTENT]...
       mage check [OPTIONS] --spec FILE [LABEL=EXTENT]...";

const EXPLAIN_USAGE: &str = "\
mage explain [OPTIONS] NOTATION [LABEL=EXTENT]...
       mage explain [OPTIONS] --spec FILE [LABEL=EXTENT]...
       mage explain --code CODE";

const EMIT_USAGE: &str = "\
mage emit [OPTIONS] NOTATION
       mage emit [OPTIONS] --spec FILE";

const CHECK_EXAMPLES: &str = "\
Examples:
  mage check \"ik,kj->ij\" i=200 j=190 k=170 --tile 64
  mage check --spec specs/triangle_outgoing.spec

The kernel runs in an emulator that traps on races, on reads of what nothing wrote and on accesses
out of bounds. Integer fills are compared by equality, other fills by a bound that grows with the
length of the sum. Every variant that the host can select at these extents is run; with
`--strides runtime` operands are also padded, upended, transposed, reversed and broadcast.
Exit status: 0 when every element is right, 1 when one is not, 2 when the input is wrong.";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  mage explain \"ikc,jkc->ijc\" i=256 j=256 k=256 c=64 --tile 32
  mage explain \"ik,kj->ij\" --level schedule
  mage explain --code M0032";

const EMIT_EXAMPLES: &str = "\
Examples:
  mage emit \"ik,kj->ij\" --tile 64 --output src/matmul.rs
  mage emit \"ik,kj->ij\" --tile 64 --check src/matmul.rs

The text depends on nothing but the notation, the options and Mage's version.
Exit status: 0 when all is well, 1 when the file of --check is stale, 2 when the input is wrong.";

const GRAD_EXAMPLES: &str = "\
Examples:
  mage grad \"ikc,jkc->ijc\"

Each is a contraction of the output's gradient with the other operands.
Exit status: 0 when each operand has one, 1 when one has none, 2 when the input is wrong.";

/// The notation and the options, in words or from a file.
#[derive(Debug, Args)]
pub struct SpecArgs {
    /// The contraction, as in `ik,kj->ij` or `C[i,j] = sum(k) A[i,k] * B[k,j]`; left out with --spec.
    #[arg(value_name = "NOTATION")]
    pub notation: Option<String>,
    /// Read the notation and the options from a spec file; the options below are added to its own.
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// The tile: one extent for M and N, or three for M, N and K, as in `64` or `64,32,8`.
    #[arg(
        long,
        value_name = "EXTENTS",
        help_heading = "Options of the specification",
        allow_negative_numbers = true
    )]
    pub tile: Option<String>,
    /// The name of the kernel's module, a snake-case Rust identifier.
    #[arg(long, value_name = "NAME", help_heading = "Options of the specification")]
    pub name: Option<String>,
    /// Extents known at compile time, as in `k=64,c=128`; the kernel is specialised for them.
    #[arg(long, value_name = "EXTENTS", help_heading = "Options of the specification")]
    pub extents: Option<String>,
    /// The element type of the operands: f16, bf16, f32 (the default) or f64.
    #[arg(long, value_name = "TYPE", help_heading = "Options of the specification")]
    pub dtype: Option<String>,
    /// The element type of the output, where it is not the operands': f32 for sums of f16 or bf16.
    #[arg(long, value_name = "TYPE", help_heading = "Options of the specification")]
    pub out: Option<String>,
    /// How exactly operands of f32 are multiplied: `full` (the default), or `tf32` for what the
    /// tensor cores round them to.
    #[arg(long, value_name = "PRECISION", help_heading = "Options of the specification")]
    pub precision: Option<String>,
    /// Add the result to what the output holds.
    #[arg(long, help_heading = "Options of the specification")]
    pub accumulate: bool,
    /// The device that the kernel is planned for: `rtx4090` (the default) or `h200`.
    #[arg(long, value_name = "DEVICE", help_heading = "Options of the specification")]
    pub device: Option<String>,
    /// How operands lie: `contiguous` (the default), or `runtime` for strides that a launch gives.
    #[arg(long, value_name = "STRIDES", help_heading = "Options of the specification")]
    pub strides: Option<String>,
    /// The rank of each operand, as in `3,4`, from which follows what `...` stands for.
    #[arg(long, value_name = "RANKS", help_heading = "Options of the specification")]
    pub ranks: Option<String>,
    /// The order in which three or more operands are contracted, as in `(0,1),(0,1)`: positions
    /// among those that are left, the result of a step last.
    #[arg(long, value_name = "PAIRS", help_heading = "Options of the specification")]
    pub path: Option<String>,
    /// The tensors that are returned, in order, as in `Y,m,r`; without it that of the last statement.
    #[arg(long, value_name = "NAMES", help_heading = "Options of the specification")]
    pub outputs: Option<String>,
    /// What is computed from each result before it is stored, as in
    /// `|acc, bias: j| gelu_tanh(acc + bias)`; the labels type the operands beside it.
    #[arg(long, value_name = "CLOSURE", help_heading = "Options of the specification")]
    pub epilogue: Option<String>,
}

/// `mage check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The specification.
    #[command(flatten)]
    pub spec: SpecArgs,
    /// The extent of each label, as in `i=200`; they replace the `run:` lines of a spec file.
    #[arg(value_name = "LABEL=EXTENT")]
    pub run: Vec<String>,
    /// How operands are filled: H, T and W are integers from a hash, up to 6, 1 and 4095; `ramp`
    /// counts up; `normal` has a deviation of 0.25. May be given again. Without it: H and normal.
    #[arg(long, value_name = "NAME", value_parser = fill_names())]
    pub fill: Vec<String>,
    /// Run only with buffers that are aligned to 4 bytes, as a view that starts anywhere.
    #[arg(long)]
    pub unaligned: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// `mage explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The specification.
    #[command(flatten)]
    pub spec: SpecArgs,
    /// The extent of each label, as in `i=256`: what depends on extents is then explained too.
    /// Without them a spec file's first `run:` line is used.
    #[arg(value_name = "LABEL=EXTENT")]
    pub run: Vec<String>,
    /// Show one level alone, in the form that snapshots keep.
    #[arg(long, value_enum, conflicts_with = "json")]
    pub level: Option<Level>,
    /// Explain a diagnostic, by number or by name, as in `M0032`.
    #[arg(long, value_name = "CODE", conflicts_with_all = ["notation", "spec", "level"])]
    pub code: Option<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub json: bool,
}

/// The levels of the compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// What was written.
    Notation,
    /// What it means.
    Index,
    /// How it is mapped to blocks, threads and stages.
    Schedule,
    /// The host's steps and the kernels.
    Kernel,
    /// The Rust source.
    Source,
}

/// `mage grad`.
#[derive(Debug, Args)]
pub struct GradArgs {
    /// The specification, of which the notation and the ranks matter.
    #[command(flatten)]
    pub spec: SpecArgs,
}

/// `mage emit`.
#[derive(Debug, Args)]
pub struct EmitArgs {
    /// The specification.
    #[command(flatten)]
    pub spec: SpecArgs,
    /// Write the source to this file, whole or not at all.
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    pub output: Option<PathBuf>,
    /// Compare the source with this file, and say how the file is stale if it is.
    #[arg(long, value_name = "FILE")]
    pub check: Option<PathBuf>,
}

fn fill_names() -> PossibleValuesParser {
    PossibleValuesParser::new(Fill::NAMES.map(|(name, _)| name))
}

/// The arguments with a space before each that starts with an arrow. A notation such as `->i` is
/// no option, and spaces in a notation mean nothing.
pub fn guarded(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let guard = |argument: OsString| {
        if argument.to_string_lossy().starts_with("->") {
            let mut spaced = OsString::from(" ");
            spaced.push(argument);
            spaced
        } else {
            argument
        }
    };
    arguments.map(guard).collect()
}
