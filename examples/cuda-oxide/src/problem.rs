//! A kernel's notation with its extents bound: what the oracle needs to know of it, and what its
//! operands are.

use mage::binding::Extents;
use mage::dtype::Dtype;
use mage::fill::index_operands;
use mage::index::{Expr, Program, Statement, TensorKind};
use mage::ndarray::{Array1, ArrayD};
use mage::reducer::Reducer;

use crate::Error;
use crate::graph::Degrees;

/// A notation with its extents bound.
pub struct Problem {
    /// The index IR.
    pub program: Program,
    /// Element type and shape of each operand, and of an output that is added to.
    pub given: Vec<(Dtype, Vec<usize>)>,
    /// The outputs' element type.
    pub out: Dtype,
    /// Elements of each output.
    pub outputs: Vec<usize>,
    /// The index operands.
    pub indices: Vec<ArrayD<u32>>,
    /// Floating-point operations: two at each point of each statement, which for a sum of products
    /// are a multiplication and an addition a term.
    pub flops: f64,
    /// Bytes of every operand and output, each once.
    pub bytes: usize,
}

impl Problem {
    /// Binds the extents of labels and derives the shapes from the notation.
    pub fn new(
        notation: &str,
        options: &str,
        labels: &[&str],
        extents: &[usize],
    ) -> Result<Problem, Error> {
        let text = format!("\"{notation}\", {options}");
        let spec = mage::spec::parse_invocation(&text)?;
        let program = mage::index::lower(&spec.notation, &spec.options)?;
        let mut pairs: Vec<(String, u64)> = labels
            .iter()
            .zip(extents)
            .map(|(label, extent)| ((*label).to_string(), *extent as u64))
            .collect();
        pairs.extend(
            spec.options.extents.iter().map(|(label, extent)| (label.clone(), u64::from(*extent))),
        );
        let bound = Extents::from_pairs(&program, &pairs)?;
        let of = |kind| {
            let tensors = program.tensors_of(kind);
            tensors.map(|(id, tensor)| (tensor.dtype, bound.shape(&program, id)))
        };
        let mut given: Vec<(Dtype, Vec<usize>)> = of(TensorKind::Input).collect();
        let returned: Vec<(Dtype, Vec<usize>)> = of(TensorKind::Output).collect();
        let (out, _) = *returned.first().ok_or("a program without an output")?;
        let outputs: Vec<usize> =
            returned.iter().map(|(_, shape)| shape.iter().product()).collect();
        if program.accumulates() {
            given.extend(returned);
        }
        let indices = index_operands(&program, &bound);
        let n_bytes = |(dtype, shape): &(Dtype, Vec<usize>)| {
            shape.iter().product::<usize>() * dtype.size_bytes() as usize
        };
        let bytes = given.iter().map(n_bytes).sum::<usize>()
            + outputs.iter().sum::<usize>() * out.size_bytes() as usize
            + indices.iter().map(|operand| operand.len() * size_of::<u32>()).sum::<usize>();
        let flops =
            program.statements.iter().map(|statement| 2.0 * points(statement, &program, &bound));
        Ok(Problem { flops: flops.sum(), given, out, outputs, indices, bytes, program })
    }

    /// Whether it is a sum of products, so that integers that are small enough have one result.
    pub fn is_sum_of_products(&self) -> bool {
        let is_access = |value: &Expr| matches!(value, Expr::Access(_));
        let is_product = |value: &Expr| match value {
            Expr::Access(_) => true,
            Expr::Product(factors) => factors.iter().all(is_access),
            Expr::Number(_) | Expr::Binary(..) | Expr::Power(..) | Expr::Call(..) => false,
        };
        let mut statements = self.program.statements.iter();
        statements
            .all(|statement| statement.reducer == Reducer::Sum && is_product(&statement.value))
    }

    /// The same with row pointers under which degrees are spread otherwise.
    pub fn with_degrees(mut self, degrees: Degrees) -> Problem {
        let tensors = self.program.given().filter(|(_, tensor)| tensor.kind.is_index());
        for ((_, tensor), operand) in tensors.zip(&mut self.indices) {
            if let TensorKind::Pointers { .. } = tensor.kind {
                let n_edges = operand.iter().last().map_or(0, |end| *end as usize);
                let n_rows = operand.len().saturating_sub(1);
                *operand = Array1::from(degrees.pointers(n_rows, n_edges)).into_dyn();
            }
        }
        self
    }
}

/// The points that a statement's modes span. Segments hold each of their positions once, whatever
/// row it falls to.
fn points(statement: &Statement, program: &Program, bound: &Extents) -> f64 {
    let row = statement.segment.map(|segment| segment.row);
    let modes = statement.roles.iter().map(|(mode, _)| *mode).filter(|mode| Some(*mode) != row);
    modes.map(|mode| bound.of_mode(program.mode(mode)) as f64).product()
}
