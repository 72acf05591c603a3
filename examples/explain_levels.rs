//! One specification through the five levels, each made from the one before it by one call.
//! `pipeline::compile` makes the same calls and verifies each level on the way.
//!
//! Run it with `cargo run --example explain_levels`.

use std::error::Error;

use mage::{emit, index, kernel, notation, options, schedule};

fn main() -> Result<(), Box<dyn Error>> {
    let options = options::parse("tile = 64")?;

    let notation = notation::parse("ik,kj->ij")?;
    println!("1. The notation: what was written\n\n{}\n", notation::print(&notation));

    let program = index::lower(&notation, &options)?;
    println!("2. The index IR: what it means\n\n{}\n", index::print(&program));

    let schedule = schedule::choose(&program, &options)?;
    println!("3. The schedule: how it is mapped, and why\n\n{}\n", schedule::print(&schedule));

    let module = kernel::lower::lower(&schedule);
    println!("4. The kernel IR: what host and device do\n\n{}\n", kernel::print(&module));

    let source = emit::source(&module)?;
    println!("5. The source: what cuda-oxide compiles\n\n{source}");

    // The index form says the same as the classic one, names apart.
    let index_form = notation::parse("out[i,j] = sum(k) A[i,k] * B[k,j]")?;
    let same = index::lower(&index_form, &options)?;
    if index::print(&same) != index::print(&program) {
        return Err("the two forms of the notation differ".into());
    }
    Ok(())
}
