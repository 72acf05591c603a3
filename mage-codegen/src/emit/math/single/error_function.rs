//! The error function, and the form of GELU that it gives.

use proc_macro2::TokenStream;
use quote::quote;

/// `erf`.
pub(super) fn erf() -> TokenStream {
    quote! {
        /// The error function with a relative error of at most `3 u`: a polynomial near 0, and
        /// elsewhere one in the exponent of what is left to 1.
        #[inline(always)]
        fn erf(x: f32) -> f32 {
            let magnitude = Math::abs(x);
            let far = if magnitude > 4.1 { 4.1 } else { magnitude };
            let p = Math::fma(0.00026889826, far, -0.004252649);
            let p = Math::fma(p, far, 0.031505916);
            let p = Math::fma(p, far, -0.14875203);
            let p = Math::fma(p, far, -0.920648);
            let p = Math::fma(p, far, -1.6260462);
            let p = Math::fma(p, far, -0.0004926774);
            let far = 1.0 - Math::exp2(p);
            let square = x * x;
            let p = Math::fma(7.806904e-5, square, -0.0007997853);
            let p = Math::fma(p, square, 0.005187162);
            let p = Math::fma(p, square, -0.026853347);
            let p = Math::fma(p, square, 0.11283579);
            let p = Math::fma(p, square, -0.37612626);
            let p = Math::fma(p, square, 0.12837917);
            let near = Math::fma(p, x, x);
            if magnitude > 1.0 {
                f32::from_bits(far.to_bits() | (x.to_bits() & 0x8000_0000))
            } else {
                near
            }
        }
    }
}

/// `gelu_erf`. The polynomial is `q(t) exp(t^2 / 2) / s`, where `q(t)` is the tail, of whose
/// factors none cancels; the exponent is `-log2(e) / 2`, in two parts, times the square. Near zero,
/// where `s` is 1, its roundoff would matter twice; that of `1 - s`, found without it, does not.
pub(super) fn gelu_erf() -> TokenStream {
    quote! {
        /// `x/2 * (1 + erf(x / sqrt(2)))` with a relative error of at most `10 u`. The normal
        /// distribution's tail is `exp(-x^2 / 2)`, times `s`, which is `1 / (1 + 0.345 |x|)`, times
        /// a polynomial in `1 - s`.
        #[inline(always)]
        fn gelu_erf(x: f32) -> f32 {
            let magnitude = Math::abs(x);
            let t = if magnitude > 20.0 { 20.0 } else { magnitude };
            let square = t * t;
            let low = Math::fma(t, t, -square);
            let low = Math::fma(low, -0.5 * core::f32::consts::LOG2_E, square * -9.629815e-9);
            let power = Math::exp2_product(square, -0.5 * core::f32::consts::LOG2_E, low);
            let share = t * 0.345;
            let distance = 1.0 + share;
            let s = Math::reciprocal(distance);
            let s = Math::fma(s, Math::fma(-distance, s, 1.0), s);
            let d = share * s;
            let p = Math::fma(-0.02821157, d, 0.081187114);
            let p = Math::fma(p, d, -0.048062287);
            let p = Math::fma(p, d, -0.022316126);
            let p = Math::fma(p, d, -0.07081404);
            let p = Math::fma(p, d, 0.094557345);
            let p = Math::fma(p, d, 0.28763252);
            let p = Math::fma(p, d, -0.65635306);
            let p = Math::fma(p, d, 0.5);
            let tail = p * s * power;
            x * if x < 0.0 { tail } else { 1.0 - tail }
        }
    }
}
