//! Every spec's own `launch`, on the CPU: its values at every `run:` line, with the threads of a
//! block in either order, with and without room for partial sums, and its refusals, which must say
//! what the host's steps say.

use std::collections::BTreeMap;

use common::{Agreement, Case, Problem};
use cuda_host::standin::{Order, set_order};
use mage_codegen::emulate::{self, Failure};
use mage_codegen::kernel::{BufferUse, Module, Workspace};
use mage_einsum::fill::Fill;
use mage_einsum::index::{Extent, Layout};
use mage_einsum::oracle::Evaluation;
use mage_einsum::view::Arrangement;
use mage_standin_run::{Device, Emitted, Operand, SPECS};

#[path = "../../../common/mod.rs"]
mod common;

/// Every spec with its emitted source.
fn emitted() -> Vec<(Case, &'static Emitted)> {
    let cases = common::cases();
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    let emitted_names: Vec<&str> = SPECS.iter().map(|emitted| emitted.name).collect();
    assert_eq!(names, emitted_names);
    cases.into_iter().zip(SPECS).collect()
}

/// How long the buffers of a launch are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Length {
    /// As long as they must be.
    Right,
    /// The operand at this position, or after them the output, has an element too many.
    Longer(usize),
    /// The operand at this position lacks the last element.
    Shorter(usize),
    /// The workspace has no room for partial sums.
    LeastWorkspace,
    /// The workspace lacks an element of those that it must have.
    ShortWorkspace,
}

/// Launches on fresh buffers; outputs and workspace held NaN before.
fn launch(
    case: &Case,
    emitted: &Emitted,
    problem: &Problem,
    length: Length,
) -> Result<Vec<Vec<f64>>, String> {
    let device = Device::new().unwrap();
    let extra = |position: usize| usize::from(length == Length::Longer(position));
    let lacks = |position: usize| usize::from(length == Length::Shorter(position));
    let operand = |(position, data): (usize, &Vec<f64>)| {
        let mut data = data.clone();
        data.resize(data.len() + extra(position) - lacks(position), 0.0);
        let view = problem.views[position].as_ref();
        let strides = view.map_or(&[][..], |view| &view.strides);
        Operand {
            data,
            first: view.map_or(0, |view| usize::try_from(view.first).unwrap()),
            strides: strides.iter().map(|stride| isize::try_from(*stride).unwrap()).collect(),
        }
    };
    let inputs: Vec<Operand> = problem.operands.iter().enumerate().map(operand).collect();
    let output = |(position, right): (usize, &Evaluation)| {
        let mut before = problem.before.clone();
        before.resize(right.values.len() + extra(inputs.len() + position), f64::NAN);
        before
    };
    let outputs: Vec<Vec<f64>> = problem.evaluations.iter().enumerate().map(output).collect();
    let extents = problem.extents.iter().map(|extent| usize::try_from(*extent).unwrap());
    let extents: Vec<usize> = extents.collect();
    let elems = match length {
        Length::Right | Length::Longer(_) | Length::Shorter(_) => emulate::workspace_elems,
        Length::LeastWorkspace | Length::ShortWorkspace => emulate::least_workspace_elems,
    };
    let elems = elems(&case.levels.module, &problem.extents).unwrap_or(0);
    // Extents beyond a limit are refused before the workspace is looked at.
    let elems = usize::try_from(elems.min(1 << 20)).unwrap();
    let workspace = vec![f64::NAN; elems - usize::from(length == Length::ShortWorkspace)];
    (emitted.launch)(&device, &extents, &inputs, &problem.indices, &workspace, &outputs)
}

/// What is wrong with a problem's values, if anything, in any setting.
fn wrong(
    case: &Case,
    emitted: &Emitted,
    problem: &Problem,
    agreement: Agreement,
) -> Option<String> {
    let n_lens = common::workspace_lens(&case.levels.module, &problem.extents).len();
    let lengths = [Length::Right, Length::LeastWorkspace].into_iter().take(n_lens);
    let settings =
        lengths.flat_map(|length| [Order::Forward, Order::Reverse].map(|order| (length, order)));
    settings.into_iter().find_map(|(length, order)| {
        set_order(order);
        let wrong = match launch(case, emitted, problem, length) {
            Ok(got) => common::disagreement(&got, &problem.evaluations, agreement),
            Err(refusal) => Some(refusal),
        };
        wrong.map(|wrong| format!("{length:?}, {order:?}: {wrong}"))
    })
}

#[test]
fn every_spec_in_both_orders() {
    let mut failures = Vec::new();
    for (case, emitted) in emitted() {
        for extents in &case.runs {
            for (fill, agreement) in
                [(Fill::Hash, Agreement::Equal), (Fill::Normal, Agreement::WithinBound)]
            {
                for arrangement in common::arrangements(&case.levels.module) {
                    let problem = common::arranged(&case.levels, extents, &[fill], arrangement);
                    let what = format!("{} at {extents:?}, {fill:?}, {arrangement:?}", case.name);
                    failures.extend(
                        wrong(&case, emitted, &problem, agreement)
                            .map(|wrong| format!("{what}, {wrong}")),
                    );
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// A running sum of so many ones stops at 2^24.
#[test]
fn a_sum_of_ones_is_exact() {
    let row_sums = emitted().into_iter().find(|(case, _)| case.name == "row_sums");
    let (case, emitted) = row_sums.unwrap();
    let extents = common::extents("i=1 j=33554432");
    let problem = common::problem_on(&case.levels, &extents, vec![vec![1.0; 1 << 25]]);
    assert_eq!(wrong(&case, emitted, &problem, Agreement::Equal), None);
}

/// What the host's steps say, as data, about the same call.
fn refusal_of_steps(module: &Module, problem: &Problem, length: Length) -> String {
    let mut problem_there = Problem {
        extents: problem.extents.clone(),
        operands: problem.operands.clone(),
        views: problem.views.clone(),
        indices: problem.indices.clone(),
        before: problem.before.clone(),
        evaluations: problem.evaluations.clone(),
    };
    if let Length::Longer(position) = length {
        match problem_there.operands.get_mut(position) {
            Some(operand) => operand.push(0.0),
            None => {
                let output = &mut problem_there.evaluations[position - problem.operands.len()];
                output.values = ndarray::ArrayD::zeros(vec![output.values.len() + 1]);
            }
        }
    }
    if let Length::Shorter(position) = length {
        problem_there.operands[position].pop();
    }
    match common::emulate(module, &problem_there, 16) {
        Err(Failure::Host(failure)) => failure.message,
        other => panic!("the host's steps let it through: {other:?}"),
    }
}

#[test]
fn a_buffer_of_another_length_is_refused() {
    for (case, emitted) in emitted() {
        let arrangement = Arrangement::RowMajor;
        let problem = common::arranged(&case.levels, &case.runs[0], &[Fill::Hash], arrangement);
        let given = case.levels.module.given().map(|(_, buffer)| buffer);
        // tests/index_operands.rs is about those of index operands.
        let others = [BufferUse::Workspace, BufferUse::Index];
        let exact = given.filter(|buffer| !others.contains(&buffer.usage));
        for (position, buffer) in exact.enumerate() {
            // A view may lie in a longer buffer.
            let length = match buffer.layout {
                Layout::RowMajor => Length::Longer(position),
                Layout::Strided => Length::Shorter(position),
            };
            let refusal = launch(&case, emitted, &problem, length).unwrap_err();
            let expected = refusal_of_steps(&case.levels.module, &problem, length);
            assert_eq!(refusal, expected, "{}", case.name);
            assert!(refusal.contains(&format!("`{}`", buffer.name)), "{refusal}");
            assert!(refusal.contains("elements"), "{refusal}");
        }
    }
}

#[test]
fn a_workspace_that_is_too_short_is_refused() {
    for (case, emitted) in emitted() {
        let workspace = &case.levels.module.workspace;
        if !workspace.as_ref().is_some_and(Workspace::is_required) {
            continue;
        }
        let arrangement = Arrangement::RowMajor;
        let problem = common::arranged(&case.levels, &case.runs[0], &[Fill::Hash], arrangement);
        let refusal = launch(&case, emitted, &problem, Length::ShortWorkspace).unwrap_err();
        let need = emulate::least_workspace_elems(&case.levels.module, &problem.extents).unwrap();
        let (has, bytes) = (need - 1, 4 * need);
        let expected = format!("the workspace has {has} elements but needs {need} ({bytes} bytes)");
        assert_eq!(refusal, expected, "{}", case.name);
    }
}

#[test]
fn an_extent_beyond_the_limit_is_refused() {
    for (case, emitted) in emitted() {
        let labels = case.levels.module.labels.iter();
        let given = labels.filter(|label| label.extent == Extent::Runtime);
        for label in given {
            let small: BTreeMap<String, u64> = case.runs[0].clone();
            let arrangement = Arrangement::RowMajor;
            let mut problem = common::arranged(&case.levels, &small, &[Fill::Hash], arrangement);
            let mut large = small;
            large.insert(label.name.clone(), 1 << 33);
            problem.extents = common::label_extents(&case.levels.module, &large);
            let refusal = launch(&case, emitted, &problem, Length::Right).unwrap_err();
            let expected = refusal_of_steps(&case.levels.module, &problem, Length::Right);
            assert_eq!(refusal, expected, "{}", case.name);
            assert!(refusal.contains("8589934592"), "{refusal}");
        }
    }
}

#[test]
fn two_labels_of_one_dimension_must_agree() {
    let gram = emitted().into_iter().find(|(case, _)| case.name == "gram");
    let (case, emitted) = gram.unwrap();
    let extents = common::extents("i=33 j=33 k=17");
    let mut problem = common::problem(&case.levels, &extents, &[Fill::Hash]);
    problem.extents =
        common::label_extents(&case.levels.module, &common::extents("i=33 j=34 k=17"));
    let refusal = launch(&case, emitted, &problem, Length::Right).unwrap_err();
    assert_eq!(refusal, refusal_of_steps(&case.levels.module, &problem, Length::Right));
    assert!(refusal.contains("`i` is 33") && refusal.contains("`j` is 34"), "{refusal}");
}
