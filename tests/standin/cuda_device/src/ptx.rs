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
