//! What makes one number of many: the reductions that a statement can have.

/// A reduction over modes. The order of its terms does not matter but for rounding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reducer {
    /// The sum; 0 over nothing.
    Sum,
    /// The sum over the number of terms; NaN over nothing.
    Mean,
    /// The largest; NaN where one is, and minus infinity over nothing.
    Max,
    /// The smallest; NaN where one is, and infinity over nothing.
    Min,
}

impl Reducer {
    /// All of them.
    pub const ALL: [Reducer; 4] = [Reducer::Sum, Reducer::Mean, Reducer::Max, Reducer::Min];

    /// The name in statements.
    pub fn name(self) -> &'static str {
        match self {
            Reducer::Sum => "sum",
            Reducer::Mean => "mean",
            Reducer::Max => "max",
            Reducer::Min => "min",
        }
    }

    /// The reduction that statements call `name`.
    pub fn from_name(name: &str) -> Option<Reducer> {
        Reducer::ALL.into_iter().find(|reducer| reducer.name() == name)
    }

    /// What a reduction starts with, which changes no term.
    pub fn start(self) -> f64 {
        match self {
            Reducer::Sum | Reducer::Mean => 0.0,
            Reducer::Max => f64::NEG_INFINITY,
            Reducer::Min => f64::INFINITY,
        }
    }

    /// Whether terms are added up.
    pub fn adds(self) -> bool {
        match self {
            Reducer::Sum | Reducer::Mean => true,
            Reducer::Max | Reducer::Min => false,
        }
    }
}

/// The larger of both; NaN where one is (IEEE 754-2019, `maximum`).
pub fn larger(left: f64, right: f64) -> f64 {
    if left > right || left.is_nan() { left } else { right }
}

/// The smaller of both; NaN where one is (IEEE 754-2019, `minimum`).
pub fn smaller(left: f64, right: f64) -> f64 {
    if left < right || left.is_nan() { left } else { right }
}
