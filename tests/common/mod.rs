//! The specs folder as compiled cases, and the data and right values of one run. Every test that
//! runs kernels takes them from here, so that all of them see the same list.

#![allow(clippy::expect_used, clippy::panic, reason = "a test may stop at once")]
#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mage_codegen::emulate::{self, Arguments, Failure, Input, Output, Run};
use mage_codegen::kernel::{Buffer, BufferUse, Module};
use mage_codegen::pipeline::{self, Levels};
use mage_einsum::binding::Extents;
use mage_einsum::dtype::Dtype;
use mage_einsum::fill::{self, Fill};
use mage_einsum::index::Layout;
use mage_einsum::oracle::{self, Evaluation};
use mage_einsum::view::{Arrangement, Stored, View};
use mage_einsum::{spec, tolerance};
use ndarray::{ArrayD, ArrayViewD, IxDyn};

/// One spec file.
pub struct Case {
    /// The file's name without its ending.
    pub name: String,
    /// Every level of it.
    pub levels: Levels,
    /// Its `run:` lines.
    pub runs: Vec<BTreeMap<String, u64>>,
}

/// One run: extents, operands, and what must come out.
pub struct Problem {
    /// One a label of the module.
    pub extents: Vec<u64>,
    /// The buffers, in operand order; of the values that the element type has.
    pub operands: Vec<Vec<f64>>,
    /// For each of them where the operand lies in it; none where the module knows.
    pub views: Vec<Option<View>>,
    /// The index operands, in order.
    pub indices: Vec<Vec<u32>>,
    /// What the output holds before; empty where the result is not added to it.
    pub before: Vec<f64>,
    /// What the oracle says of each output.
    pub evaluations: Vec<Evaluation>,
}

/// How a result is compared with the oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Every element is the same: for integers, whose sums are exact.
    Equal,
    /// Every element is within its bound.
    WithinBound,
}

/// The files of `specs/` in order of their names.
pub fn spec_files() -> Vec<PathBuf> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().find(|up| up.join("specs").is_dir());
    let folder = folder.expect("specs/ stands at the root").join("specs");
    let files = std::fs::read_dir(&folder).expect("specs/ can be listed");
    let files = files.map(|file| file.expect("specs/ can be listed").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "spec")).collect();
    files.sort();
    assert!(!files.is_empty(), "no spec in {}", folder.display());
    files
}

/// Every spec, compiled.
pub fn cases() -> Vec<Case> {
    spec_files().iter().map(|path| case(path)).collect()
}

/// One spec file, compiled.
pub fn case(path: &Path) -> Case {
    let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(path).expect("a spec can be read");
    let file = spec::parse_file(&text).unwrap_or_else(|mistakes| panic!("{name}: {mistakes}"));
    let levels = pipeline::compile(&file.spec).unwrap_or_else(|error| panic!("{name}: {error}"));
    Case { name, levels, runs: file.runs }
}

/// Compiles what would stand between the macro's parentheses.
pub fn compile(invocation: &str) -> Levels {
    let spec = spec::parse_invocation(invocation);
    let spec = spec.unwrap_or_else(|mistakes| panic!("{invocation}: {mistakes}"));
    pipeline::compile(&spec).unwrap_or_else(|error| panic!("{invocation}: {error}"))
}

/// Reads `i=65 j=63`.
pub fn extents(text: &str) -> BTreeMap<String, u64> {
    let pairs = text.split_whitespace().map(|pair| pair.split_once('=').expect("label=extent"));
    pairs.map(|(label, extent)| (label.to_owned(), extent.parse().expect("a number"))).collect()
}

/// Operand `k` filled by `fills[k]` (the last one stands for all after it) under seed `k`; an
/// output that is added to is one more of them.
pub fn problem(levels: &Levels, extents: &BTreeMap<String, u64>, fills: &[Fill]) -> Problem {
    let given = given(levels, extents);
    let filled = given.iter().enumerate().map(|(position, (dtype, shape))| {
        let fill = fills[position.min(fills.len() - 1)];
        let seed = u32::try_from(position).expect("few operands");
        fill::fill_as(*dtype, fill, seed, shape.iter().product())
    });
    problem_on(levels, extents, filled.collect())
}

/// The same on given values, which are rounded to the element types.
pub fn problem_on(
    levels: &Levels,
    extents: &BTreeMap<String, u64>,
    mut operands: Vec<Vec<f64>>,
) -> Problem {
    let given = given(levels, extents);
    for ((dtype, _), data) in given.iter().zip(&mut operands) {
        data.iter_mut().for_each(|value| *value = dtype.round(*value));
    }
    let views: Vec<ArrayViewD<'_, f64>> = given
        .iter()
        .zip(&operands)
        .map(|((_, shape), data)| {
            ArrayViewD::from_shape(IxDyn(shape), data).expect("the shape fits")
        })
        .collect();
    let indices = indices(levels, extents);
    let evaluations = evaluate(levels, &views, &indices);
    let before = if levels.program.accumulates() { operands.pop() } else { None };
    let extents = label_extents(&levels.module, extents);
    let (before, views) = (before.unwrap_or_default(), vec![None; operands.len()]);
    let indices = indices.into_iter().map(|indices| indices.into_raw_vec_and_offset().0).collect();
    Problem { extents, operands, views, indices, before, evaluations }
}

/// What the oracle says.
pub fn evaluate(
    levels: &Levels,
    operands: &[ArrayViewD<'_, f64>],
    indices: &[ArrayD<u32>],
) -> Vec<Evaluation> {
    let indices: Vec<ArrayViewD<'_, u32>> = indices.iter().map(|indices| indices.view()).collect();
    oracle::evaluate_indexed(&levels.program, operands, &indices).expect("the shapes fit")
}

/// The index operands of a run, in order.
fn indices(levels: &Levels, extents: &BTreeMap<String, u64>) -> Vec<ArrayD<u32>> {
    let program = &levels.program;
    let pairs: Vec<(String, u64)> = extents.iter().map(|(l, e)| (l.clone(), *e)).collect();
    let extents = Extents::from_pairs(program, &pairs).expect("every label has an extent");
    fill::index_operands(program, &extents)
}

/// Whether the operands' strides are given at the launch.
pub fn is_strided(module: &Module) -> bool {
    module.buffers.iter().any(|buffer| buffer.layout == Layout::Strided)
}

/// The arrangements of operands that a module takes.
pub fn arrangements(module: &Module) -> Vec<Arrangement> {
    let all = Arrangement::NAMES.map(|(_, arrangement)| arrangement);
    all.into_iter().take(if is_strided(module) { all.len() } else { 1 }).collect()
}

/// The same operands in another arrangement, with nothing but NaN between their elements.
pub fn arranged(
    levels: &Levels,
    extents: &BTreeMap<String, u64>,
    fills: &[Fill],
    arrangement: Arrangement,
) -> Problem {
    let Problem { extents: label_extents, operands, before, .. } = problem(levels, extents, fills);
    let shapes: Vec<Vec<usize>> =
        given(levels, extents).into_iter().map(|(_, shape)| shape).collect();
    let stored: Vec<Stored<f64>> = shapes
        .iter()
        .zip(operands)
        .map(|(shape, data)| {
            let array = ArrayD::from_shape_vec(IxDyn(shape), data).expect("the shape fits");
            Stored::arranged(&array.view(), arrangement, f64::NAN)
        })
        .collect();
    stored_problem(levels, label_extents, &shapes, (stored, before))
}

/// The problem of operands that lie in their buffers as views say, and of what the output holds
/// before, whose shape is the last one then.
pub fn stored_problem(
    levels: &Levels,
    extents: Vec<u64>,
    shapes: &[Vec<usize>],
    (stored, before): (Vec<Stored<f64>>, Vec<f64>),
) -> Problem {
    let mut arrays: Vec<ArrayD<f64>> =
        stored.iter().zip(shapes).map(|(stored, shape)| stored.to_array(shape)).collect();
    if let Some(shape) = shapes.get(arrays.len()) {
        let held = ArrayD::from_shape_vec(IxDyn(shape), before.clone()).expect("the shape fits");
        arrays.push(held);
    }
    let views: Vec<ArrayViewD<'_, f64>> = arrays.iter().map(|array| array.view()).collect();
    let labels = levels.module.labels.iter().map(|label| label.name.clone());
    let indices = indices(levels, &labels.zip(extents.iter().copied()).collect());
    let evaluations = evaluate(levels, &views, &indices);
    let is_strided = is_strided(&levels.module);
    let (operands, views) =
        stored.into_iter().map(|stored| (stored.data, is_strided.then_some(stored.view))).unzip();
    let indices = indices.into_iter().map(|indices| indices.into_raw_vec_and_offset().0).collect();
    Problem { extents, operands, views, indices, before, evaluations }
}

/// The extents in the order of the module's labels.
pub fn label_extents(module: &Module, extents: &BTreeMap<String, u64>) -> Vec<u64> {
    module.labels.iter().map(|label| extents[&label.name]).collect()
}

/// The type and the shape of what a run reads: the operands, and an output that is added to.
fn given(levels: &Levels, extents: &BTreeMap<String, u64>) -> Vec<(Dtype, Vec<usize>)> {
    let extents = label_extents(&levels.module, extents);
    let extent = |label: &usize| usize::try_from(extents[*label]).expect("it fits memory");
    let is_read = |buffer: &&Buffer| matches!(buffer.usage, BufferUse::Read | BufferUse::Update);
    let read = levels.module.buffers.iter().filter(is_read);
    read.map(|buffer| (buffer.dtype, buffer.dims.iter().map(extent).collect())).collect()
}

/// Runs the module in the emulator, with every buffer aligned to so many bytes and a workspace
/// that makes it fast.
pub fn emulate(module: &Module, problem: &Problem, byte_alignment: u64) -> Result<Run, Failure> {
    emulate_in(None, module, problem, byte_alignment)
}

/// The lengths of a workspace that lead to different launches: with room for partial sums, and
/// without.
pub fn workspace_lens(module: &Module, extents: &[u64]) -> Vec<usize> {
    let whole = emulate::workspace_elems(module, extents);
    let least = emulate::least_workspace_elems(module, extents);
    let mut lens: Vec<usize> = [whole, least]
        .map(|len| usize::try_from(len.expect("a number")).expect("it fits memory"))
        .into();
    lens.dedup();
    lens
}

/// The same in a workspace of so many elements.
pub fn emulate_in(
    workspace_len: Option<usize>,
    module: &Module,
    problem: &Problem,
    byte_alignment: u64,
) -> Result<Run, Failure> {
    let operands = problem.operands.iter().zip(&problem.views);
    let inputs: Vec<Input<'_>> =
        operands.map(|(data, view)| Input { data, view: view.as_ref(), byte_alignment }).collect();
    let indices: Vec<&[u32]> = problem.indices.iter().map(Vec::as_slice).collect();
    let (evaluations, before) = (problem.evaluations.iter(), &problem.before);
    let outputs: Vec<Output<'_>> = evaluations
        .map(|right| Output { len: right.values.len(), before, byte_alignment })
        .collect();
    let arguments = Arguments {
        extents: &problem.extents,
        inputs: &inputs,
        indices: &indices,
        outputs: &outputs,
        workspace_len,
        workspace_byte_alignment: byte_alignment,
    };
    emulate::run(module, &arguments)
}

/// S and Q of cases.md: the sum, and the sum with weights 1 to 97.
pub fn sums(output: &[f64]) -> [i64; 2] {
    let weighted = |(n, value): (usize, &f64)| (n as i64 % 97 + 1) * *value as i64;
    [output.iter().map(|value| *value as i64).sum(), output.iter().enumerate().map(weighted).sum()]
}

/// What is wrong with the outputs of a run, if anything.
pub fn disagreement(
    got: &[Vec<f64>],
    right: &[Evaluation],
    agreement: Agreement,
) -> Option<String> {
    if got.len() != right.len() {
        return Some(format!("{} outputs, not {}", got.len(), right.len()));
    }
    let mut outputs = got.iter().zip(right).enumerate();
    outputs.find_map(|(position, (got, right))| {
        of_output(got, right, agreement).map(|wrong| format!("output {position}: {wrong}"))
    })
}

fn of_output(got: &[f64], right: &Evaluation, agreement: Agreement) -> Option<String> {
    let comparison = tolerance::compare(got, right);
    match agreement {
        Agreement::Equal if right.errors.is_none() => unequal(got, &right.rounded()),
        // What is more than sums of products says itself where nothing is rounded.
        Agreement::Equal | Agreement::WithinBound => {
            (!comparison.passes()).then(|| format!("{comparison:?}"))
        }
    }
}

fn unequal(got: &[f64], right: &ArrayD<f64>) -> Option<String> {
    if got.len() != right.len() {
        return Some(format!("{} elements, not {}", got.len(), right.len()));
    }
    let differs = |(got, right): &(&f64, &f64)| got != right && !(got.is_nan() && right.is_nan());
    let wrong: Vec<usize> = got
        .iter()
        .zip(right)
        .enumerate()
        .filter(|(_, pair)| differs(pair))
        .map(|(at, _)| at)
        .collect();
    let first = *wrong.first()?;
    let (got, right) = (got[first], right.iter().nth(first)?);
    Some(format!("{} elements differ, the first is {first}: {got}, not {right}", wrong.len()))
}
