//! An expression with its accesses resolved, evaluated for a line of points at once: each node for
//! the whole line before its parent, so that walking the expression costs little.

use std::collections::BTreeMap;

use ndarray::{ArrayD, CowArray, IxDyn};

use super::error::{Near, Rounding};
use super::held::Held;
use crate::function::Function;
use crate::index::{Access, Centered, Expr, ModeId, Operator, Program, TensorId};

/// What statements read, row-major.
pub(super) struct Arrays<'h> {
    by_tensor: BTreeMap<TensorId, Array<'h>>,
}

/// One tensor.
pub(super) struct Array<'h> {
    values: CowArray<'h, f64, IxDyn>,
    errors: Option<CowArray<'h, f64, IxDyn>>,
    of_deviations: Option<&'h ArrayD<f64>>,
}

impl<'h> Arrays<'h> {
    /// Those of every tensor that is there.
    pub(super) fn of(program: &Program, tensors: &'h [Held]) -> Arrays<'h> {
        let array = |(position, held): (usize, &'h Held)| {
            let tensor = TensorId(position);
            let array = Array {
                values: held.values.as_standard_layout(),
                errors: held.errors(program.tensor(tensor).dtype),
                of_deviations: held.of_deviations(),
            };
            (tensor, array)
        };
        Arrays { by_tensor: tensors.iter().enumerate().map(array).collect() }
    }

    /// The same where one tensor holds these values exactly.
    pub(super) fn with(mut self, tensor: TensorId, values: &'h ArrayD<f64>) -> Arrays<'h> {
        let values = CowArray::from(values.view());
        self.by_tensor.insert(tensor, Array { values, errors: None, of_deviations: None });
        self
    }

    fn array(&self, tensor: TensorId) -> &Array<'h> {
        &self.by_tensor[&tensor]
    }

    /// A number of an index operand.
    pub(super) fn index(&self, tensor: TensorId, place: usize) -> usize {
        slice(&self.array(tensor).values)[place] as usize
    }
}

/// Rows were put in standard layout, so that there is a slice.
fn slice<'a>(array: &'a CowArray<'_, f64, IxDyn>) -> &'a [f64] {
    array.as_slice().unwrap_or(&[])
}

/// Elements from one index of a mode to the next, one entry a dimension.
type Strides = Vec<(ModeId, usize)>;

/// An access: where its elements are.
struct Reader {
    tensor: TensorId,
    strides: Strides,
    /// For each gathered dimension its stride, and the index operand with its strides.
    gathers: Vec<(usize, TensorId, Strides)>,
}

/// A node of an expression.
pub(super) struct Node {
    kind: Kind,
}

enum Kind {
    Access(Reader),
    Number(f64),
    Product(Vec<Node>),
    Binary(Operator, Box<[Node; 2]>),
    Power(Box<Node>, u32),
    Call(Function, Box<Node>),
    /// An element less a mean of which it is a part, corrected.
    Deviation(Box<[Reader; 2]>),
    /// The square of a deviation, as a term of the mean from which the square of the correction is
    /// taken off, and the mean that the deviation is from.
    SquaredDeviation(Box<Node>, Reader),
}

/// Values along a line: one for all points, or one each.
pub(super) enum Part {
    One(Near),
    Line(Vec<Near>),
}

impl Part {
    /// The value at a point of the line.
    pub(super) fn at(&self, point: usize) -> Near {
        match self {
            Part::One(near) => *near,
            Part::Line(line) => line[point],
        }
    }

    fn map(self, f: impl Fn(Near) -> Near) -> Part {
        match self {
            Part::One(near) => Part::One(f(near)),
            Part::Line(mut line) => {
                line.iter_mut().for_each(|near| *near = f(*near));
                Part::Line(line)
            }
        }
    }

    fn zip(self, other: Part, f: impl Fn(Near, Near) -> Near) -> Part {
        match (self, other) {
            (Part::One(left), Part::One(right)) => Part::One(f(left, right)),
            (Part::One(left), right @ Part::Line(_)) => right.map(|right| f(left, right)),
            (left @ Part::Line(_), Part::One(right)) => left.map(|left| f(left, right)),
            (Part::Line(mut left), Part::Line(right)) => {
                left.iter_mut().zip(right).for_each(|(left, right)| *left = f(*left, right));
                Part::Line(left)
            }
        }
    }
}

/// Where a line of points is.
pub(super) struct Line<'a> {
    /// The position in every mode; at the line's mode that of its first point.
    pub(super) at: &'a [usize],
    /// The mode along the line; none for a single point.
    pub(super) mode: Option<ModeId>,
    /// Points.
    pub(super) len: usize,
}

/// What resolving an expression needs.
pub(super) struct Resolver<'a> {
    pub(super) arrays: &'a Arrays<'a>,
    pub(super) centered: &'a [Centered],
}

impl Resolver<'_> {
    pub(super) fn node(&self, expr: &Expr) -> Node {
        let boxed = |expr: &Expr| Box::new(self.node(expr));
        let kind = match expr {
            Expr::Access(access) => Kind::Access(self.reader(access)),
            Expr::Number(number) => Kind::Number(number.value()),
            Expr::Product(factors) => {
                Kind::Product(factors.iter().map(|factor| self.node(factor)).collect())
            }
            Expr::Power(base, exponent) => Kind::Power(boxed(base), *exponent),
            Expr::Call(function, inner) => Kind::Call(*function, boxed(inner)),
            Expr::Binary(operator, left, right) => {
                match self.centered.iter().find(|mean| mean.is_deviation(expr)) {
                    Some(mean) => self.deviation(mean),
                    None => Kind::Binary(*operator, Box::new([self.node(left), self.node(right)])),
                }
            }
        };
        Node { kind }
    }

    fn deviation(&self, Centered { of, at, .. }: &Centered) -> Kind {
        Kind::Deviation(Box::new([self.reader(of), self.reader(at)]))
    }

    /// A term of a mean of squared deviations.
    pub(super) fn squared_deviation(&self, mean: &Centered) -> Node {
        let deviation = Box::new(Node { kind: self.deviation(mean) });
        Node { kind: Kind::SquaredDeviation(deviation, self.reader(&mean.at)) }
    }

    fn reader(&self, access: &Access) -> Reader {
        let array = self.arrays.array(access.tensor);
        let of_dims = row_major(array.values.shape());
        let gathered = |dim: usize| access.gathers.iter().find(|gather| gather.dim == dim);
        let mut reader = Reader { tensor: access.tensor, strides: Vec::new(), gathers: Vec::new() };
        for (dim, (mode, stride)) in access.modes.iter().zip(of_dims).enumerate() {
            match gathered(dim) {
                None => reader.strides.push((*mode, stride)),
                Some(gather) => {
                    let of_index = self.arrays.array(gather.indices);
                    let strides = row_major(of_index.values.shape());
                    let strides = gather.modes.iter().copied().zip(strides).collect();
                    reader.gathers.push((stride, gather.indices, strides));
                }
            }
        }
        reader
    }
}

/// The strides of a row-major array.
fn row_major(shape: &[usize]) -> Vec<usize> {
    (0..shape.len()).map(|dim| shape[dim + 1..].iter().product()).collect()
}

fn place(strides: &Strides, at: &[usize]) -> usize {
    strides.iter().map(|(mode, stride)| at[mode.0] * stride).sum()
}

fn along(strides: &Strides, mode: Option<ModeId>) -> usize {
    let of_mode = strides.iter().filter(|(found, _)| Some(*found) == mode);
    of_mode.map(|(_, stride)| stride).sum()
}

impl Reader {
    /// The place of each point's element; one where all have the same.
    fn places(&self, line: &Line<'_>, arrays: &Arrays<'_>) -> Vec<usize> {
        let (first, step) = (place(&self.strides, line.at), along(&self.strides, line.mode));
        let of_gather: Vec<(usize, usize, usize, TensorId)> = self
            .gathers
            .iter()
            .map(|(stride, indices, strides)| {
                (*stride, place(strides, line.at), along(strides, line.mode), *indices)
            })
            .collect();
        let is_one = step == 0 && of_gather.iter().all(|(_, _, step, _)| *step == 0);
        let points = 0..if is_one { line.len.min(1) } else { line.len };
        let of_point = |point: usize| {
            let gathered = of_gather.iter().map(|(stride, first, step, indices)| {
                stride * arrays.index(*indices, first + point * step)
            });
            first + point * step + gathered.sum::<usize>()
        };
        points.map(of_point).collect()
    }

    fn read(&self, line: &Line<'_>, arrays: &Arrays<'_>) -> Part {
        let array = arrays.array(self.tensor);
        let values = slice(&array.values);
        let errors = array.errors.as_ref().map(slice);
        let near = |place: usize| Near {
            value: values[place],
            error: errors.map_or(0.0, |errors| errors[place]),
        };
        let places = self.places(line, arrays);
        match places.as_slice() {
            [one] if line.len != 1 => Part::One(near(*one)),
            several => Part::Line(several.iter().map(|place| near(*place)).collect()),
        }
    }

    /// The mean, and what the deviations from it may be off by together.
    fn read_mean(&self, line: &Line<'_>, arrays: &Arrays<'_>) -> Part {
        let array = arrays.array(self.tensor);
        let values = slice(&array.values);
        let off = array.of_deviations.and_then(|off| off.as_slice());
        let near =
            |place: usize| Near { value: values[place], error: off.map_or(0.0, |off| off[place]) };
        Part::Line(self.places(line, arrays).into_iter().map(near).collect())
    }
}

impl Node {
    /// The values along a line.
    pub(super) fn values(&self, line: &Line<'_>, arrays: &Arrays<'_>, rounding: Rounding) -> Part {
        let of = |node: &Node| node.values(line, arrays, rounding);
        match &self.kind {
            Kind::Access(reader) => reader.read(line, arrays),
            Kind::Number(number) => Part::One(rounding.number(*number)),
            Kind::Product(factors) => {
                let mut factors = factors.iter().map(of);
                let first = factors.next().unwrap_or(Part::One(rounding.number(1.0)));
                factors.fold(first, |product, factor| {
                    product.zip(factor, |left, right| rounding.product(left, right))
                })
            }
            Kind::Binary(operator, sides) => {
                let [left, right] = sides.as_ref();
                of(left).zip(of(right), |left, right| rounding.binary(*operator, left, right))
            }
            Kind::Power(base, exponent) => of(base)
                .map(|base| (1..*exponent).fold(base, |power, _| rounding.product(power, base))),
            Kind::Call(function, inner) => of(inner).map(|inner| rounding.call(*function, inner)),
            Kind::Deviation(sides) => {
                let [of, mean] = sides.as_ref();
                let mean = match mean.read_mean(line, arrays) {
                    Part::Line(one) if one.len() == 1 => Part::One(one[0]),
                    several => several,
                };
                of.read(line, arrays).zip(mean, |of, mean| rounding.deviation(of, mean))
            }
            Kind::SquaredDeviation(deviation, mean) => {
                let square = |deviation, mean| rounding.squared(deviation, mean);
                of(deviation).zip(mean.read(line, arrays), square)
            }
        }
    }
}
