//! Inline PTX. A closed list: what Mage emits, each instruction with the type of its operands.

use half::{bf16, f16};

/// One instruction, from its text: `ptx_asm!("..", out("=f") y, in("f") x, options(register_only))`.
/// A text that is not on the list does not compile.
#[macro_export]
macro_rules! ptx_asm {
    (
        "cvt.f32.f16 %0, %1;", out("=f") $to:ident, in("h") $from:expr,
        options(register_only)
    ) => {
        $to = $crate::ptx::f32_from_f16($from)
    };
    (
        "cvt.rn.f16.f32 %0, %1;", out("=h") $to:ident, in("f") $from:expr,
        options(register_only)
    ) => {
        $to = $crate::ptx::f16_from_f32($from)
    };
    (
        "cvt.rna.tf32.f32 %0, %1;", out("=r") $to:ident, in("f") $from:expr,
        options(register_only)
    ) => {
        $to = $crate::ptx::tf32_from_f32($from)
    };
    (
        "{ .reg .u64 %%to; cvta.to.shared.u64 %%to, %0; cp.async.cg.shared.global [%%to], [%1], 16, %2; }",
        in("l") $to:expr, in("l") $from:expr, in("r") $read:expr, clobber("memory")
    ) => {
        $crate::async_copy::copy_16($to.cast(), $from.cast(), $read)
    };
    (
        "fma.rn.f32 %0, %1, %2, %3;", out("=f") $to:ident, in("f") $a:expr, in("f") $b:expr, in("f") $c:expr,
        options(register_only)
    ) => {
        $to = $crate::number::fma($a, $b, $c)
    };
    (
        "fma.rn.sat.f32 %0, %1, %2, %3;", out("=f") $to:ident, in("f") $a:expr, in("f") $b:expr, in("f") $c:expr,
        options(register_only)
    ) => {
        $to = $crate::number::fma_saturated($a, $b, $c)
    };
    ("max.NaN.f32 %0, %1, %2;", out("=f") $to:ident, in("f") $a:expr, in("f") $b:expr, options(register_only)) => {
        $to = $crate::number::max($a, $b)
    };
    ("min.NaN.f32 %0, %1, %2;", out("=f") $to:ident, in("f") $a:expr, in("f") $b:expr, options(register_only)) => {
        $to = -$crate::number::max(-$a, -$b)
    };
    ("sqrt.rn.f32 %0, %1;", out("=f") $to:ident, in("f") $from:expr, options(register_only)) => {
        $to = $crate::number::sqrt($from)
    };
    ("sqrt.rn.f64 %0, %1;", out("=d") $to:ident, in("d") $from:expr, options(register_only)) => {
        $to = $crate::number::sqrt_f64($from)
    };
    ("ex2.approx.ftz.f32 %0, %1;", out("=f") $to:ident, in("f") $from:expr, options(register_only)) => {
        $to = $crate::number::exp2($from)
    };
    ("rcp.approx.ftz.f32 %0, %1;", out("=f") $to:ident, in("f") $from:expr, options(register_only)) => {
        $to = $crate::number::reciprocal($from)
    };
    ("rsqrt.approx.f32 %0, %1;", out("=f") $to:ident, in("f") $from:expr, options(register_only)) => {
        $to = $crate::number::rsqrt($from)
    };
    ("cp.async.commit_group;", clobber("memory")) => {
        $crate::async_copy::commit()
    };
    ("cp.async.wait_group 0;", clobber("memory")) => {
        $crate::async_copy::wait(0)
    };
    ("cp.async.wait_group 1;", clobber("memory")) => {
        $crate::async_copy::wait(1)
    };
    ("cp.async.wait_group 2;", clobber("memory")) => {
        $crate::async_copy::wait(2)
    };
    (
        "cvt.rn.bf16.f32 %0, %1;", out("=h") $to:ident, in("f") $from:expr,
        options(register_only)
    ) => {
        $to = $crate::ptx::bf16_from_f32($from)
    };
}

/// `cvt.f32.f16`.
///
/// # Safety
///
/// None is needed; inline PTX is unsafe to write.
pub unsafe fn f32_from_f16(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32()
}

/// `cvt.rn.f16.f32`.
///
/// # Safety
///
/// None is needed; inline PTX is unsafe to write.
pub unsafe fn f16_from_f32(value: f32) -> u16 {
    f16::from_f32(value).to_bits()
}

/// `cvt.rn.bf16.f32`.
///
/// # Safety
///
/// None is needed; inline PTX is unsafe to write.
pub unsafe fn bf16_from_f32(value: f32) -> u16 {
    bf16::from_f32(value).to_bits()
}

/// `cvt.rna.tf32.f32`: 10 bits of the fraction remain, rounded to nearest, ties away from zero.
///
/// # Safety
///
/// None is needed; inline PTX is unsafe to write.
pub unsafe fn tf32_from_f32(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_nan() { 0x7fff_e000 } else { (bits + 0x1000) & 0xffff_e000 }
}
