//! The types of the notation. Nothing has a meaning yet: a label is a name at a place.

use crate::diagnostic::Span;
use crate::function::Function;
use crate::reducer::Reducer;

/// A parsed notation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notation {
    /// The text as the user wrote it; every span points into it.
    pub text: String,
    /// What was read.
    pub form: Form,
}

/// The two ways to write a contraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// `ik,kj->ij`.
    Classic(Classic),
    /// `C[i,j] = sum(k) A[i,k] * B[k,j]`, one statement or several with `;` between them.
    Index(Vec<Statement>),
}

/// The classic form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classic {
    /// One term an operand; at least one.
    pub operands: Vec<Term>,
    /// The output, where the text has an arrow. Without one it is implicit (rule R5).
    pub output: Option<Term>,
}

/// The labels of one operand or of the output, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Labels and at most one ellipsis.
    pub items: Vec<Item>,
    /// From the term's first item to its last; a point where it is empty.
    pub span: Span,
}

/// One item of a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A label.
    Label(Label),
    /// `...`, which stands for any number of modes.
    Ellipsis(Span),
}

/// A name at a place: of an index, or of a tensor in the index form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label {
    /// The name, case-sensitive.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// One statement of the index form: `target = value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What is written.
    pub target: Access,
    /// What it becomes.
    pub value: Expr,
}

/// The right side of a statement, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr {
    /// An element of a tensor.
    Access(Access),
    /// A number.
    Number(Number),
    /// `-value`.
    Negative(Box<Expr>),
    /// Two values with a sign between them.
    Binary(Sign, Box<Expr>, Box<Expr>),
    /// `value^exponent`, a whole number or a half.
    Power(Box<Expr>, Number),
    /// A function of one number.
    Call(Function, Box<Expr>),
    /// The larger or the smaller of two values.
    Extreme(Extreme, Box<Expr>, Box<Expr>),
    /// A reduction of the product after it.
    Reduction(Reduction, Box<Expr>),
}

/// A sign between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// `+`.
    Plus,
    /// `-`.
    Minus,
    /// `*`.
    Times,
    /// `/`.
    Over,
}

/// `max(a, b)` or `min(a, b)`; NaN where one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Extreme {
    /// The larger.
    Max,
    /// The smaller.
    Min,
}

/// `sum(k)`, `mean(j)`, `sum(e in p[i]..p[i+1])`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduction {
    /// What makes one number of many.
    pub reducer: Reducer,
    /// The reduced labels, at least one; one where there is a range.
    pub labels: Vec<Label>,
    /// Where the one label begins and ends, unless that is everywhere.
    pub range: Option<Range>,
}

/// `p[i]..p[i+1]`: the segment of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The row pointers.
    pub pointers: Label,
    /// The row.
    pub row: Label,
}

/// A tensor under indices, `A[i,k]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The tensor's name.
    pub tensor: Label,
    /// One a dimension.
    pub indices: Vec<Index>,
}

/// What stands in one dimension of an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Index {
    /// A label.
    Label(Label),
    /// An element of a tensor of indices, `s[e]`, whose own indices are labels.
    Through {
        /// The tensor of indices.
        tensor: Label,
        /// One label a dimension of it.
        labels: Vec<Label>,
    },
}

/// A number as it is written; any value but NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    bits: u64,
}

impl Extreme {
    /// The name in statements.
    pub fn name(self) -> &'static str {
        match self {
            Extreme::Max => "max",
            Extreme::Min => "min",
        }
    }
}

impl Number {
    /// The number of this value.
    pub fn new(value: f64) -> Number {
        Number { bits: value.to_bits() }
    }

    /// The value.
    pub fn value(self) -> f64 {
        f64::from_bits(self.bits)
    }
}

/// The shortest text that leads back to the value: `2`, `0.5`, `1e-5`.
impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (plain, short) = (format!("{}", self.value()), format!("{:e}", self.value()));
        f.write_str(if short.len() < plain.len() { &short } else { &plain })
    }
}

impl Access {
    /// Every label of the access, those within an index included, in order.
    pub fn labels(&self) -> impl Iterator<Item = &Label> {
        self.indices.iter().flat_map(|index| match index {
            Index::Label(label) => std::slice::from_ref(label),
            Index::Through { labels, .. } => labels.as_slice(),
        })
    }
}

impl Expr {
    /// The parts that it is made of directly.
    pub fn parts(&self) -> Vec<&Expr> {
        match self {
            Expr::Access(_) | Expr::Number(_) => Vec::new(),
            Expr::Negative(inner)
            | Expr::Power(inner, _)
            | Expr::Call(_, inner)
            | Expr::Reduction(_, inner) => vec![inner],
            Expr::Binary(_, left, right) | Expr::Extreme(_, left, right) => vec![left, right],
        }
    }

    /// Gives every access of a tensor these indices.
    pub(crate) fn relabel(&mut self, tensor: &str, indices: &[Index]) {
        match self {
            Expr::Access(access) => {
                if access.tensor.name == tensor {
                    access.indices = indices.to_vec();
                }
            }
            Expr::Number(_) => {}
            Expr::Negative(inner)
            | Expr::Power(inner, _)
            | Expr::Call(_, inner)
            | Expr::Reduction(_, inner) => inner.relabel(tensor, indices),
            Expr::Binary(_, left, right) | Expr::Extreme(_, left, right) => {
                left.relabel(tensor, indices);
                right.relabel(tensor, indices);
            }
        }
    }

    /// The labels of every access and of every range's row, in order.
    pub fn labels(&self) -> Vec<&Label> {
        match self {
            Expr::Access(access) => access.labels().collect(),
            Expr::Reduction(Reduction { range: Some(range), .. }, inner) => {
                [vec![&range.row], inner.labels()].concat()
            }
            Expr::Number(_)
            | Expr::Negative(_)
            | Expr::Power(..)
            | Expr::Call(..)
            | Expr::Reduction(..)
            | Expr::Binary(..)
            | Expr::Extreme(..) => self.parts().into_iter().flat_map(Expr::labels).collect(),
        }
    }

    /// Every access in it, from left to right.
    pub fn accesses(&self) -> Vec<&Access> {
        match self {
            Expr::Access(access) => vec![access],
            Expr::Number(_)
            | Expr::Negative(_)
            | Expr::Power(..)
            | Expr::Call(..)
            | Expr::Reduction(..)
            | Expr::Binary(..)
            | Expr::Extreme(..) => self.parts().into_iter().flat_map(Expr::accesses).collect(),
        }
    }
}

impl Term {
    /// The labels without the ellipsis.
    pub fn labels(&self) -> impl Iterator<Item = &Label> {
        self.items.iter().filter_map(|item| match item {
            Item::Label(label) => Some(label),
            Item::Ellipsis(_) => None,
        })
    }

    /// Where the ellipsis stands, if there is one.
    pub fn ellipsis(&self) -> Option<Span> {
        self.items.iter().find_map(|item| match item {
            Item::Label(_) => None,
            Item::Ellipsis(span) => Some(*span),
        })
    }
}
