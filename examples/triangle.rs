//! The triangle contraction, channels last: why it is mapped as it is, and what one block then
//! asks of global memory, counted by the emulator and not estimated.
//!
//! Run it with `cargo run --example triangle`.

use std::error::Error;

use mage::emulate::{self, GlobalCounts, Sample};
use mage::{pipeline, schedule, spec};

fn main() -> Result<(), Box<dyn Error>> {
    // The channels `c` lie side by side in memory; a sector, the unit that memory moves, holds 8.
    let last = "\"ikc,jkc->ijc\", tile = 32";
    // The same sums with the channels in front, where `k` lies side by side.
    let first = "\"cik,cjk->cij\", tile = 32";
    for invocation in [last, first] {
        let levels = pipeline::compile(&spec::parse_invocation(invocation)?)?;
        println!("{}", schedule::print(&levels.schedule));

        let extents: Vec<u64> = levels.module.labels.iter().map(|_| 64).collect();
        for byte_alignment in [16, 4] {
            let byte_alignments = [byte_alignment; 3];
            let sample = Sample {
                extents: &extents,
                byte_alignments: &byte_alignments,
                launch: 0,
                block: 0,
            };
            let counts = emulate::count(&levels.module, &sample)?;
            println!("one block, buffers aligned to {byte_alignment} bytes");
            tell("loads", &counts.global_load);
            tell("stores", &counts.global_store);
        }
        println!();
    }
    Ok(())
}

fn tell(what: &str, counts: &GlobalCounts) {
    let GlobalCounts { requests, sectors, bytes_asked } = counts;
    println!("  {what}: {requests} requests for {bytes_asked} bytes touch {sectors} sectors");
    println!("    {} bytes are moved", counts.bytes_moved());
}
