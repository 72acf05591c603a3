//! What a path costs, in the manner of opt_einsum's report: the operations of the contraction as
//! written and along the path, the largest intermediate, and each step.

use super::count::Count;
use crate::index::print::table;

/// How the order of a path came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// There is one order, because there are fewer than three factors.
    Only,
    /// The user gave it by the option `path`.
    Given,
    /// The one with the fewest operations of all.
    Exhaustive,
    /// At each step the pair whose result is smallest beside its factors.
    Greedy,
    /// As written, because extents are not known.
    LeftToRight,
    /// The statements are the user's own.
    Written,
}

/// A path, and what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathReport {
    /// Pairs of positions, as opt_einsum writes them: a step takes its two factors out of the list
    /// and puts its result at the end.
    pub path: Vec<(usize, usize)>,
    /// How it came about.
    pub order: Order,
    /// The operations of the contraction as one sum over all modes.
    pub naive_flops: Vec<Count>,
    /// One entry a statement.
    pub steps: Vec<PathStep>,
}

/// One statement along a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathStep {
    /// The step of the path; none for a sum that is taken before a product.
    pub pair: Option<(usize, usize)>,
    /// The statement as text.
    pub statement: String,
    /// Its operations.
    pub flops: Count,
    /// The elements of its result.
    pub elements: Count,
}

impl PathReport {
    /// Operations of the contraction as written, where all extents are known.
    pub fn naive_flops(&self, extent_of: impl Fn(&str) -> Option<u64>) -> Option<u128> {
        sum(&self.naive_flops, &extent_of)
    }

    /// Operations along the path, where all extents are known.
    pub fn flops(&self, extent_of: impl Fn(&str) -> Option<u64>) -> Option<u128> {
        sum(self.steps.iter().map(|step| &step.flops), &extent_of)
    }

    /// Elements of the largest temporary, where all extents are known; 0 where there is none.
    pub fn largest_intermediate(&self, extent_of: impl Fn(&str) -> Option<u64>) -> Option<u128> {
        let mut sizes = self.intermediates().map(|count| count.value(&extent_of));
        sizes.try_fold(0, |largest, size| Some(size?.max(largest)))
    }

    fn intermediates(&self) -> impl Iterator<Item = &Count> {
        let n_temporaries = self.steps.len().saturating_sub(1);
        self.steps[..n_temporaries].iter().map(|step| &step.elements)
    }

    /// The report as text; numbers stand behind their formulas where `extent_of` knows them.
    pub fn print(&self, extent_of: impl Fn(&str) -> Option<u64>) -> String {
        let row = |what: &str, formula: String, value: Option<u128>| {
            let value = value.map_or(String::new(), |value| value.to_string());
            vec![what.to_owned(), value, formula]
        };
        let written: Vec<String> = self.naive_flops.iter().map(Count::to_string).collect();
        let chosen: Vec<String> = self.steps.iter().map(|step| step.flops.to_string()).collect();
        let largest: Vec<String> = self.intermediates().map(Count::to_string).collect();
        let summary = [
            row("flops as written", written.join(" + "), self.naive_flops(&extent_of)),
            row("flops along the path", chosen.join(" + "), self.flops(&extent_of)),
            row("largest intermediate", max_of(&largest), self.largest_intermediate(&extent_of)),
        ];
        let mut steps = vec![["step", "elements", "statement"].map(str::to_owned).to_vec()];
        steps.extend(self.steps.iter().map(|step| {
            let pair =
                step.pair.map_or("sum".to_owned(), |(left, right)| format!("({left}, {right})"));
            let elements = step.elements.value(&extent_of);
            let elements = elements.map_or(step.elements.to_string(), |n| n.to_string());
            vec![pair, elements, step.statement.clone()]
        }));
        format!(
            "path {}, {}\n\n{}\n{}",
            self.path_text(),
            self.order,
            table(&summary),
            table(&steps)
        )
    }

    /// The path as the option `path` takes it.
    pub fn path_text(&self) -> String {
        let steps = self.path.iter().map(|(left, right)| format!("({left}, {right})"));
        format!("({})", steps.collect::<Vec<_>>().join(", "))
    }
}

fn sum<'c>(
    counts: impl IntoIterator<Item = &'c Count>,
    extent_of: &impl Fn(&str) -> Option<u64>,
) -> Option<u128> {
    let mut values = counts.into_iter().map(|count| count.value(extent_of));
    values.try_fold(0_u128, |sum, value| Some(sum.saturating_add(value?)))
}

fn max_of(formulas: &[String]) -> String {
    match formulas {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [_, _, ..] => format!("max({})", formulas.join(", ")),
    }
}

impl std::fmt::Display for Order {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Order::Only => "the only order",
            Order::Given => "as given by the option `path`",
            Order::Exhaustive => "the order with the fewest operations of all",
            Order::Greedy => "the smallest result first",
            Order::LeftToRight => "left to right, because not all extents are known",
            Order::Written => "the statements as written",
        })
    }
}
