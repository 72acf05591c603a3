//! A kernel with its typed `launch` behind one signature, so that checking and timing need not
//! know which labels and operands it has.

use std::cell::RefCell;
use std::sync::Arc;

use cuda_core::{CudaContext, CudaStream, DeviceBuffer};
use mage::ndarray::ArrayD;

use crate::memory::{Memory, typed, typed_mut};
use crate::problem::Problem;
use crate::{Error, kernels};

/// Launches on a stream with operands and outputs.
pub type Launch = Box<dyn Fn(&CudaStream, &[Memory], &mut [Memory]) -> Result<(), Error>>;

/// A kernel and the extents it is checked at.
pub struct Case {
    /// The module's name.
    pub name: &'static str,
    /// The notation.
    pub notation: &'static str,
    /// The options in canonical form.
    pub options: &'static str,
    /// Hash of the emitted source.
    pub source_hash: &'static str,
    /// The labels in the order of the module's `Extents`.
    pub labels: &'static [&'static str],
    /// Extents in that order, one entry a check.
    pub checks: &'static [&'static [usize]],
    /// Loads the module and binds extents and index operands.
    pub bind: fn(&Arc<CudaContext>, &[usize], &[ArrayD<u32>]) -> Result<Launch, Error>,
}

impl Case {
    /// Binds extents and derives the shapes from the notation.
    pub fn problem(&self, extents: &[usize]) -> Result<Problem, Error> {
        Problem::new(self.notation, self.options, self.labels, extents)
    }

    /// Loads the module for a problem of this case.
    pub fn launch(
        &self,
        context: &Arc<CudaContext>,
        extents: &[usize],
        problem: &Problem,
    ) -> Result<Launch, Error> {
        (self.bind)(context, extents, &problem.indices)
    }
}

/// Rows of the widths that meet each variant of a program of rows, and the edges of them.
const WIDTHS: &[&[usize]] = &[
    &[9, 1],
    &[9, 31],
    &[9, 33],
    &[9, 128],
    &[9, 252],
    &[9, 257],
    &[5, 768],
    &[5, 1000],
    &[3, 4096],
    &[3, 8192],
    &[3, 8193],
    &[3, 12292],
    &[2, 65536],
    &[2, 65537],
    &[0, 4],
];

/// Calls a `launch` with what it is given and then the outputs; one output need not be named.
macro_rules! launched {
    ($outputs:ident, $launch:path, ($($given:expr),*), ()) => {
        launched!($outputs, $launch, ($($given),*), (out))
    };
    ($outputs:ident, $launch:path, ($($given:expr),*), ($($output:ident)+)) => {{
        let [$($output),+] = $outputs else {
            return Err("a case with the wrong number of outputs".into());
        };
        $launch($($given,)* $(typed_mut($output)?),+)?;
    }};
}

macro_rules! cases {
    ($($kernel:ident [$($label:ident)*] ($($operand:ident)*) $({$($index:ident $handle:ident $bound:ident)*})? $($workspace:ident)? $(-> ($($output:ident)+))? => $checks:expr;)*) => {
        /// Every kernel of this program.
        #[allow(non_snake_case, reason = "a label may have capitals")]
        pub const CASES: &[Case] = &[$(Case {
            name: stringify!($kernel),
            notation: kernels::$kernel::NOTATION,
            options: kernels::$kernel::OPTIONS,
            source_hash: kernels::$kernel::SOURCE_HASH,
            labels: &[$(stringify!($label)),*],
            checks: $checks,
            bind: |context, extents, indices| {
                let module = kernels::$kernel::device::load(context)?;
                let [$($label),*] = extents else {
                    return Err("a case with the wrong number of extents".into());
                };
                let [$($($index),*)?] = indices else {
                    return Err("a case with the wrong number of index operands".into());
                };
                $($(
                    let values = $index.as_slice().ok_or("an index operand that is not in order")?;
                    let stream = context.default_stream();
                    let $index = kernels::$kernel::$handle::new(&stream, values, *$bound)?;
                )*)?
                let extents = kernels::$kernel::Extents { $($label: *$label),* };
                $(
                    let elems = kernels::$kernel::workspace_elems(&extents).ok_or("a workspace beyond memory")?;
                    let stream = context.default_stream();
                    let $workspace = DeviceBuffer::from_host(&stream, &vec![mage::dtype::Element::from_f64(f64::NAN); elems])?;
                    let $workspace = RefCell::new($workspace);
                )?
                Ok(Box::new(move |stream, operands, outputs| {
                    let [$($operand),*] = operands else {
                        return Err("a case with the wrong number of operands".into());
                    };
                    launched!(
                        outputs,
                        kernels::$kernel::launch,
                        (&module, stream, &extents $(, typed($operand)?)* $($(, &$index)*)?
                            $(, &mut $workspace.borrow_mut())?),
                        ($($($output)+)?)
                    );
                    Ok(())
                }))
            },
        }),*];
    };
}

cases! {
    matmul_128 [i k j] (a b) => &[&[1, 1, 1], &[129, 33, 127], &[256, 64, 384], &[1000, 1001, 999], &[127, 0, 5]];
    matmul_64x128 [i k j] (a b) => &[&[65, 17, 129], &[128, 32, 128]];
    matmul_128x64 [i k j] (a b) => &[&[129, 17, 65], &[256, 32, 128]];
    matmul_128x32 [i k j] (a b) => &[&[129, 17, 33], &[256, 32, 64]];
    matmul_16x128 [i k j] (a b) => &[&[17, 33, 129], &[32, 16, 256]];
    matmul_64 [i k j] (a b) => &[&[64, 65536, 64], &[65, 65, 65], &[63, 34, 65], &[64, 2049, 3], &[257, 129, 191], &[512, 512, 512]];
    matmul [i k j] (a b) workspace => &[&[129, 33, 127], &[640, 20, 900], &[640, 7, 897], &[1280, 33, 1280], &[1277, 35, 1281], &[64, 65600, 63], &[300, 70001, 400], &[640, 20, 640], &[639, 7, 637], &[300, 1000, 300], &[1000, 1032, 16], &[1001, 1031, 15], &[16, 1032, 1000], &[13, 1031, 1001], &[40001, 31, 17], &[40000, 64, 16], &[17, 31, 40001], &[16, 64, 40000], &[4096, 4096, 16], &[16, 4096, 4096]];
    matmul_nt [i k j] (a b) => &[&[129, 33, 127], &[256, 64, 384]];
    matmul_tn [k i j] (a b) => &[&[33, 129, 127], &[64, 256, 384]];
    matmul_tt [k i j] (a b) => &[&[33, 129, 127], &[64, 256, 384]];
    matmul_to_transposed [i k j] (a b) => &[&[65, 31, 33], &[64, 32, 64]];
    matmul_odd_tile [i k j] (a b) => &[&[49, 13, 41], &[96, 12, 40]];
    matmul_fixed [i] (a b) => &[&[65], &[128]];
    batched [b i k j] (a b_) => &[&[3, 65, 18, 63], &[2, 64, 16, 128]];
    batched_family [b i k j] (a b_) workspace => &[&[3, 65, 18, 63], &[100, 128, 16, 128], &[64, 100, 33, 127], &[5, 16, 1032, 260], &[5, 261, 1031, 13], &[200, 9, 36, 260], &[200, 260, 35, 9]];
    attention_scores [b h q d k] (a b_) => &[&[2, 2, 33, 65, 31], &[2, 3, 64, 32, 128]];
    attention_scores_family [b h q d k] (a b_) workspace => &[&[2, 2, 33, 65, 31], &[2, 3, 640, 32, 128]];
    four_modes [a b c d e f] (a_ b_) workspace => &[&[3, 2, 5, 7, 2, 3], &[9, 33, 4, 8, 16, 20]];
    triangle_outgoing [i k c j] (a b) => &[&[33, 65, 3, 17], &[65, 66, 5, 63], &[64, 64, 64, 64], &[2, 129, 1, 3]];
    triangle_outgoing_64 [i k c j] (a b) => &[&[33, 65, 3, 17], &[65, 66, 5, 63], &[128, 64, 32, 128]];
    triangle [i k c j] (a b) => &[&[33, 65, 3, 17], &[65, 66, 5, 63], &[256, 16, 128, 256]];
    triangle_incoming [k i c j] (a b) => &[&[65, 33, 3, 17], &[64, 64, 64, 64]];
    two_contracted_apart [i x k y j] (a b) => &[&[17, 3, 9, 2, 15], &[16, 0, 9, 2, 15]];
    many_free [a i b k j c] (left right) => &[&[2, 5, 17, 6, 3, 18]];
    outer_product [i j] (a b) => &[&[70, 66], &[128, 64], &[4194305, 1]];
    diagonal_factor [i k j] (a b) => &[&[17, 9, 18]];
    matrix_vector [i k] (a b) workspace => &[&[257, 65], &[3, 70001], &[4096, 4096], &[5, 0]];
    vector_matrix [k j] (a b) workspace => &[&[65, 300], &[5001, 3], &[4096, 4096]];
    dot [i] (a b) workspace => &[&[5000], &[1000003], &[16777216], &[0]];
    transpose [i j] (a) => &[&[65, 67], &[1024, 4096]];
    transpose_three [i j k] (a) => &[&[5, 33, 7], &[64, 65, 130]];
    trace [i] (a) => &[&[67], &[4099], &[0]];
    row_sums [i j] (a) workspace => &[&[70, 33], &[3, 50001], &[5000, 1024]];
    column_sums [i j] (a) workspace => &[&[33, 70], &[50001, 3], &[65536, 64], &[4096, 4096]];
    row_sums_beside [b i j] (x c) workspace => &[&[3, 4, 5], &[3, 40, 501], &[2, 3, 40001], &[16, 128, 512]];
    transpose_negated [j i] (x) => &[&[65, 67], &[1024, 512]];
    batched_matrix_vector [b i j] (a b_) workspace => &[&[3, 65, 129], &[2, 3, 65540], &[16, 512, 512]];
    chain [i j k l] (a b c) workspace => &[&[65, 33, 67, 31], &[256, 128, 64, 512], &[3, 0, 5, 7]];
    reduced_first [i j k l] (a b) workspace => &[&[9, 33, 5, 7], &[128, 64, 32, 256]];
    hadamard_transposed [i j] (a b) => &[&[33, 65]];
    matmul_f64 [i k j] (a b) workspace => &[&[65, 67, 63], &[256, 128, 64], &[64, 4099, 64], &[3, 0, 5]];
    matmul_f16 [i k j] (a b) => &[&[65, 67, 63], &[256, 128, 64], &[257, 129, 191]];
    matmul_bf16 [i k j] (a b) => &[&[65, 67, 63], &[256, 128, 64]];
    matmul_bf16_nt [i k j] (a b) => &[&[129, 33, 127], &[256, 72, 384]];
    matmul_bf16_tn [k i j] (a b) => &[&[33, 129, 127], &[72, 256, 384]];
    matmul_bf16_tt [k i j] (a b) => &[&[33, 129, 127], &[72, 256, 384]];
    matmul_f16_128 [i k j] (a b) => &[&[129, 33, 127], &[200, 136, 264], &[1, 1, 1], &[5, 0, 9]];
    matmul_bf16_family [i k j] (a b) workspace => &[&[129, 33, 127], &[640, 24, 904], &[1280, 40, 1280], &[64, 8200, 64], &[64, 65600, 63], &[1277, 35, 1281]];
    matmul_tf32 [i k j] (a b) => &[&[129, 33, 127], &[200, 132, 260], &[1, 1, 1], &[5, 0, 9], &[512, 1024, 512]];
    matmul_tf32_nt [i k j] (a b) => &[&[129, 33, 127], &[256, 68, 384]];
    matmul_tf32_tn [k i j] (a b) => &[&[33, 129, 127], &[68, 256, 384]];
    matmul_tf32_tt [k i j] (a b) => &[&[33, 129, 127], &[68, 256, 384]];
    matmul_tf32_64 [i k j] (a b) => &[&[65, 67, 63], &[256, 128, 64], &[257, 129, 191], &[64, 4096, 64], &[64, 65536, 64]];
    attention_scores_bf16 [b h q d k] (a b_) => &[&[2, 2, 33, 65, 31], &[2, 3, 64, 32, 128]];
    matmul_bf16_to_f32_128 [i k j] (a b) => &[&[129, 33, 127], &[200, 5000, 136]];
    matmul_bf16_to_f32 [i k j] (a b) => &[&[65, 67, 63], &[256, 128, 64], &[64, 4096, 64], &[64, 16384, 64], &[64, 65536, 64], &[64, 65600, 64]];
    matmul_added [i k j] (a b) => &[&[65, 67, 63], &[256, 128, 64], &[3, 0, 5]];
    triangle_bf16_added [i k c j] (a b) => &[&[17, 23, 20, 19], &[64, 64, 64, 64]];
    row_sums_f16 [i j] (a) workspace => &[&[5, 4099], &[5000, 1024], &[2, 0]];
    column_sums_f64_added [i j] (a) workspace => &[&[65, 33], &[4096, 512], &[0, 5]];
    transpose_f16 [i j] (a) => &[&[65, 67], &[1024, 512]];
    dot_bf16_added [i] (a b) workspace => &[&[4099], &[65536], &[1000003], &[0]];
    unusual_names [Row x__y] (a b) workspace => &[&[512, 257], &[17, 33], &[0, 5], &[1000, 1003]];
    bias_gelu [i j] (x b) => WIDTHS;
    layer_norm [i j] (x g b) => WIDTHS;
    layer_norm_stats [i j] (x g b) -> (y m r) => WIDTHS;
    layer_norm_stats_f16 [i j] (x g b) -> (y m r) => WIDTHS;
    softmax [i j] (x) => WIDTHS;
    softmax_parts [i j] (x) -> (y e m s) => WIDTHS;
    rms_norm [i j] (x g) => WIDTHS;
    residual_gelu [i j] (x z g) -> (r y) => WIDTHS;
    product_row_sums [i k j] (a b) workspace -> (c s) => &[&[129, 33, 127], &[256, 64, 384], &[300, 1000, 300], &[7, 0, 5], &[7, 5, 0]];
    mlp [i k j] (x w b) workspace => &[&[129, 33, 127], &[640, 20, 900], &[640, 7, 897], &[1277, 35, 1281], &[256, 4096, 256], &[300, 70001, 400], &[1001, 1031, 15], &[13, 1031, 1001], &[7, 0, 5]];
    mlp_128 [i k j] (x w b) => &[&[129, 33, 127], &[256, 64, 384], &[1000, 1001, 999], &[127, 0, 5]];
    neighbours [i e f s] (w x) {pointers RowPointers e sources Indices s} workspace => &[&[9, 40, 8, 7], &[33, 200, 33, 33], &[1000, 16000, 128, 900], &[257, 4099, 31, 65], &[5, 0, 128, 4], &[4, 64, 260, 9], &[3, 5000, 64, 100], &[3, 5000, 33, 100], &[40, 5000, 8, 100], &[40, 5000, 9, 100], &[3, 5000, 260, 100], &[3, 5000, 131, 100], &[0, 0, 4, 3]];
}
