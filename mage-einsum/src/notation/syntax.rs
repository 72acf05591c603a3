//! The types of the notation. Nothing has a meaning yet: a label is a name at a place.

use crate::diagnostic::Span;

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

/// One statement of the index form: `target = sum(reduced) factors`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What is written.
    pub target: Access,
    /// The labels in `sum(..)`; none where there is no sum.
    pub reduced: Vec<Label>,
    /// What is multiplied; at least one.
    pub factors: Vec<Access>,
}

/// A tensor under labels, `A[i,k]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The tensor's name.
    pub tensor: Label,
    /// One label a dimension.
    pub labels: Vec<Label>,
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
