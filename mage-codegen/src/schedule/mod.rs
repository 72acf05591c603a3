//! Level 3, the schedule: which mode becomes blocks, threads, registers and serial loops, what is
//! staged in shared memory, and why. It comes from the index IR by [`choose`] and goes to the
//! kernel IR.

mod strategy;
mod tiled;
mod family;
mod thread_map;
mod mma;
mod transpose;
mod parts;
mod reduction;
mod elementwise;
mod rows;
mod segments;
mod choose;
mod choose_tiled;
mod choose_staging;
mod choose_mma;
mod choose_long;
mod choose_deep;
mod choose_family;
mod reasons;
mod choose_map;
mod choose_epilogue;
mod choose_elementwise;
mod choose_rows;
mod choose_segments;
mod choose_transpose;
mod choose_reduction;
mod naming;
mod resources;
mod verify;
mod print;

pub use choose::choose;
pub use choose_elementwise::lies_along;
pub use elementwise::Elementwise;
pub use family::{Cost, Deep, Family, Long, Member, Size};
pub use mma::{Swizzle, chunk_elems, product_depth};
pub use parts::{Parts, Unit};
pub use print::{nest, print};
pub use reduction::{Lanes, Range, Reduction, Split};
pub use resources::Resources;
pub use rows::{RowWidth, Rows};
pub use segments::{LongRows, Segments};
pub use strategy::{Launch, PerOutput, Reason, Schedule, Strategy};
pub use thread_map::{Element, ThreadMap};
pub use tiled::{
    Along, BatchTile, Contracted, Epilogue, Exchange, Side, Staging, Summing, Tail, Tiled, Variant,
    VariantKind,
};
pub use transpose::{TileSide, Transpose};
pub use verify::verify;
