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

/// `gelu_erf`. The polynomial in `s` is `q(t) exp(t^2 / 2) / s`, of which neither factor of
/// `q(t)` cancels; the exponent is `-log2(e) / 2`, in two parts, times the square.
pub(super) fn gelu_erf() -> TokenStream {
    quote! {
        /// `x/2 * (1 + erf(x / sqrt(2)))` with a relative error of at most `10 u`. The normal
        /// distribution's tail is `exp(-x^2 / 2)` times a polynomial in `s`, which is
        /// `1 / (1 + 0.34 |x|)`.
        #[inline(always)]
        fn gelu_erf(x: f32) -> f32 {
            let magnitude = Math::abs(x);
            let t = if magnitude > 20.0 { 20.0 } else { magnitude };
            let square = t * t;
            let low = Math::fma(t, t, -square);
            let low = Math::fma(low, -0.5 * core::f32::consts::LOG2_E, square * -9.629815e-9);
            let power = Math::exp2_product(square, -0.5 * core::f32::consts::LOG2_E, low);
            let distance = Math::fma(t, 0.34, 1.0);
            let s = Math::reciprocal(distance);
            let s = Math::fma(s, Math::fma(-distance, s, 1.0), s);
            let p = Math::fma(-0.02637042, s, 0.14067306);
            let p = Math::fma(p, s, -0.27546462);
            let p = Math::fma(p, s, 0.20473571);
            let p = Math::fma(p, s, -0.046397436);
            let p = Math::fma(p, s, 0.11603607);
            let p = Math::fma(p, s, 0.11503479);
            let p = Math::fma(p, s, 0.13613352);
            let p = Math::fma(p, s, 0.13561934);
            let tail = p * s * power;
            x * if x < 0.0 { tail } else { 1.0 - tail }
        }
    }
}
