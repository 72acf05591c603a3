//! Deterministic data for operands. The integer fills come from one hash, so that every test and
//! every machine sees the same numbers and sums of them are exact in f32.

use ndarray::{Array1, ArrayD, IxDyn};

use crate::binding::Extents;
use crate::dtype::{Dtype, Element};
use crate::index::{Program, Tensor, TensorId, TensorKind};

/// How operands are filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// Integers from -6 to 6: the general fill, exact in f32, f16 and TF32.
    Hash,
    /// Integers from -1 to 1: the right factor of the precision test.
    Ternary,
    /// Integers from -4095 to 4095: 13 significant bits, exact in f32 but not in TF32.
    Wide,
    /// 1, 2, 3, ...: for small cases that a person reads.
    Ramp,
    /// Normal numbers of mean 0 and standard deviation 0.25.
    Normal,
    /// Their absolute values: sums grow with every term, and so does what rounding costs them.
    Positive,
}

const NORMAL_DEVIATION: f64 = 0.25;

impl Fill {
    /// Every fill with the name that the command line and the test cases use.
    pub const NAMES: [(&'static str, Fill); 6] = [
        ("H", Fill::Hash),
        ("T", Fill::Ternary),
        ("W", Fill::Wide),
        ("ramp", Fill::Ramp),
        ("normal", Fill::Normal),
        ("positive", Fill::Positive),
    ];

    /// The fill called `name`.
    pub fn from_name(name: &str) -> Option<Fill> {
        Fill::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, fill)| fill)
    }
}

/// The first `len` elements in row-major order, rounded to the element type; operand k uses seed k
/// by custom.
pub fn fill<T: Element>(fill: Fill, seed: u32, len: usize) -> Vec<T> {
    // Positions count modulo 2^32, as the hash is defined on u32.
    (0..len).map(|n| T::from_f64(element(fill, seed, n as u32))).collect()
}

/// The same with each element rounded to `dtype`.
pub fn fill_as(dtype: Dtype, fill: Fill, seed: u32, len: usize) -> Vec<f64> {
    (0..len).map(|n| dtype.round(element(fill, seed, n as u32))).collect()
}

/// The index operands of a program at its extents, in their order; operand k uses seed k.
pub fn index_operands(program: &Program, extents: &Extents) -> Vec<ArrayD<u32>> {
    let operands = program.given().zip(0..).filter(|((_, tensor), _)| tensor.kind.is_index());
    let filled = |((id, tensor), seed): ((TensorId, &Tensor), u32)| {
        let shape = extents.shape(program, id);
        let len = shape.iter().product();
        match tensor.kind {
            TensorKind::Pointers { into } => {
                Array1::from(pointers(seed, len, extents.of_mode(program.mode(into)))).into_dyn()
            }
            TensorKind::Indices { below: of } => {
                let values = indices(seed, len, extents.of_mode(program.mode(of)));
                // The values are as many as the shape asks for.
                ArrayD::from_shape_vec(shape, values).unwrap_or_default()
            }
            TensorKind::Input | TensorKind::Temp | TensorKind::Output => {
                ArrayD::default(IxDyn(&[0]))
            }
        }
    };
    operands.map(filled).collect()
}

/// So many indices below an extent, repeats among them; none where there is no index.
pub fn indices(seed: u32, len: usize, below: u64) -> Vec<u32> {
    let index = |n: usize| u32::try_from(u64::from(hash_value(n as u32, seed)) % below.max(1));
    (0..len).map(|n| index(n).unwrap_or(0)).collect()
}

/// Row pointers of so many rows, which begin at 0 and end at `end`: rows differ in length, and some
/// are empty. One position in three ends no row of the first half, so that a row is long.
pub fn pointers(seed: u32, n_rows: usize, end: u64) -> Vec<u32> {
    let end = u32::try_from(end).unwrap_or(u32::MAX);
    let place = |n: usize| {
        let hash = u64::from(hash_value(n as u32, seed));
        let share = ((hash * u64::from(end)) >> 32) as u32;
        if n.is_multiple_of(3) { share / 3 } else { share }
    };
    let mut pointers: Vec<u32> = (1..n_rows).map(place).collect();
    pointers.sort_unstable();
    pointers.insert(0, 0);
    if n_rows > 0 {
        pointers.push(end);
    }
    pointers
}

fn element(fill: Fill, seed: u32, n: u32) -> f64 {
    let remainder = |modulus: u32| f64::from(hash_value(n, seed) % modulus);
    match fill {
        Fill::Hash => remainder(13) - 6.0,
        Fill::Ternary => remainder(3) - 1.0,
        Fill::Wide => remainder(8191) - 4095.0,
        Fill::Ramp => f64::from(n) + 1.0,
        Fill::Normal => NORMAL_DEVIATION * normal(n, seed),
        Fill::Positive => NORMAL_DEVIATION * normal(n, seed).abs(),
    }
}

/// The hash of position `n` under `seed`; all arithmetic wraps at 32 bits.
pub fn hash_value(n: u32, seed: u32) -> u32 {
    let seeded = seed.wrapping_add(1).wrapping_mul(2_246_822_519);
    let mut x = n.wrapping_mul(2_654_435_761).wrapping_add(seeded);
    x ^= x >> 15;
    x = x.wrapping_mul(2_246_822_519);
    x ^= x >> 13;
    x = x.wrapping_mul(3_266_489_917);
    x ^ (x >> 16)
}

/// A standard normal number from two hashes (Box and Muller, A Note on the Generation of Random
/// Normal Deviates, 1958). The half keeps the logarithm's argument above zero.
fn normal(n: u32, seed: u32) -> f64 {
    let uniform = |n: u32| (f64::from(hash_value(n, seed)) + 0.5) / 4_294_967_296.0;
    let (radius, angle) = (uniform(n.wrapping_mul(2)), uniform(n.wrapping_mul(2).wrapping_add(1)));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}
