//! The parts of long rows of a CSR matrix, in the order of their elements. The handle of row pointers
//! lists them when it checks the pointers, so that no block on the device has to search for its own.

use proc_macro2::TokenStream;
use quote::quote;

/// Numbers of an entry: its row, its first element, and one past its last one.
pub const ENTRY_ELEMS: usize = 3;

/// Makes a function that is compiled here and whose text the source prints, so that the emulator and
/// the handle list the same.
macro_rules! compiled_and_printed {
    ($(#[$doc:meta])* fn $($function:tt)*) => {
        $(#[$doc])*
        pub fn $($function)*

        /// The text of the function.
        pub fn parts_of_long_rows_source() -> TokenStream {
            quote!($(#[$doc])* fn $($function)*)
        }
    };
}

compiled_and_printed! {
    /// The parts of long rows, which have `part_elems` elements or more: of each its row, its
    /// first element, and one past its last one. They have `part_elems` elements each, and the
    /// last one of a row what is left beside.
    fn parts_of_long_rows(pointers: &[u32], part_elems: u32) -> Vec<[u32; 3]> {
        let mut parts = Vec::new();
        for (row, pair) in (0_u32..).zip(pointers.windows(2)) {
            let (begin, end) = (pair[0], pair[1]);
            let n_parts = end.saturating_sub(begin) / part_elems;
            for part in 0..n_parts {
                let first = begin + part * part_elems;
                let is_last = part + 1 == n_parts;
                let beyond = if is_last { end } else { first + part_elems };
                parts.push([row, first, beyond]);
            }
        }
        parts
    }
}
