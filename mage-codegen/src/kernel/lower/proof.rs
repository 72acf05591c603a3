//! The sentences in a kernel's header that say why it is right.

use mage_einsum::index::{Layout, ModeId, Program};

use crate::kernel::Module;
use crate::schedule::{
    Elementwise, Epilogue, Family, Lanes, Launch, Reduction, Rows, Schedule, Segments, Strategy,
    Tail, Tiled, Transpose, product_depth,
};

/// Why every access of a launch is in bounds, why nothing races, and why the result does not
/// change from run to run. In a sequence each sentence says which launch it is about.
pub fn sentences(schedule: &Schedule, launch: &Launch) -> Vec<String> {
    let sentences = match &launch.strategy {
        Strategy::Tiled(family) => tiled_sentences(&schedule.program, launch, family),
        Strategy::Transpose(transpose) => transpose_sentences(&schedule.program, launch, transpose),
        Strategy::Reduction(reduction) => reduction_sentences(&schedule.program, launch, reduction),
        Strategy::Rows(rows) => rows_sentences(schedule, launch, rows),
        Strategy::Segments(segments) => segments_sentences(&schedule.program, launch, segments),
        Strategy::Elementwise(elementwise) => {
            elementwise_sentences(&schedule.program, launch, elementwise)
        }
        Strategy::PerOutput(_) => per_output_sentences(&schedule.program, launch),
    };
    if schedule.launches.len() == 1 {
        return sentences;
    }
    let step = launch.statement;
    sentences.into_iter().map(|sentence| format!("Step {step}: {sentence}")).collect()
}

/// Why temporaries are in bounds and read after they are written.
pub fn of_workspace(schedule: &Schedule, module: &Module) -> Option<String> {
    let workspace = module.workspace.as_ref()?;
    let temps: Vec<String> = workspace
        .regions
        .iter()
        .map(|region| format!("`{}`", module.buffers[region.temp.0].name))
        .collect();
    let room = match (workspace.is_required(), workspace.has_parts()) {
        (true, false) => "`launch` has checked that it is long enough",
        (true, true) => {
            "`launch` has checked that it is long enough for temporaries, and sums in parts only where \
             it is for those, too"
        }
        (false, true | false) => "`launch` sums in parts only where it is long enough",
    };
    let cuts_rows =
        schedule.launches.iter().any(|launch| matches!(launch.strategy, Strategy::Segments(_)));
    let written = match cuts_rows {
        true => "what is read of them was written by an earlier launch of the same stream",
        false => "each is written whole by one launch and read by later ones of the same stream",
    };
    Some(format!("The workspace holds {} side by side, and {room}; {written}.", temps.join(", ")))
}

/// What `launch` has checked of the buffers that a launch touches.
fn checked(program: &Program, launch: &Launch) -> &'static str {
    let factors = program.statements[launch.statement].factors();
    let mut layouts = factors.iter().map(|factor| program.tensor(factor.tensor).layout);
    if layouts.any(|layout| layout == Layout::Strided) {
        return "`launch` has checked that each view lies in its buffer, so that every sum on the \
                way to an offset is an offset of the view too, and that each other buffer holds \
                exactly the product of its extents";
    }
    "`launch` has checked that each buffer holds exactly the product of its extents"
}

fn tiled_sentences(program: &Program, launch: &Launch, family: &Family) -> Vec<String> {
    let name = |mode: ModeId| program.mode(mode).name.as_str();
    let statement = &program.statements[launch.statement];
    let mut sentences = vec![format!(
        "{}, so an offset is in bounds when each of its coordinates is below its extent.",
        checked(program, launch)
    )];
    let tails = |tiled: &Tiled| {
        [
            (Some(tiled.row.mode), tiled.row.tail),
            (Some(tiled.col.mode), tiled.col.tail),
            (tiled.contracted.mode, tiled.contracted.tail),
            (tiled.batch.mode, tiled.batch.tail),
        ]
    };
    // A mode is predicated where the tile of any version leaves a tail.
    let mut worst = tails(&family.largest.tiled);
    for tiled in family.tiles() {
        for (at, (_, tail)) in tails(tiled).into_iter().enumerate() {
            if tail == Tail::Predicated {
                worst[at].1 = tail;
            }
        }
    }
    let of = |wanted: Tail| -> Vec<String> {
        let modes = worst.iter().filter(|(_, tail)| *tail == wanted);
        modes.filter_map(|(mode, _)| mode.map(|mode| format!("`{}`", name(mode)))).collect()
    };
    let (predicated, exact) = (of(Tail::Predicated), of(Tail::Exact));
    if !predicated.is_empty() {
        sentences.push(format!(
            "Loads and stores are predicated on {}; a load beyond an extent gives zero to both \
             factors, which adds nothing, NaN included.",
            predicated.join(", ")
        ));
    }
    if !exact.is_empty() {
        sentences.push(format!("The tiles of {} divide their extents exactly.", exact.join(", ")));
    }
    sentences.extend(of_stages(family));
    if family.long.is_some() {
        sentences.push(in_parts("steps"));
    }
    if family.tiles().any(|tiled| tiled.summing.round_steps().is_some()) {
        sentences.push(
            "A sum in rounds adds up the products of each round by themselves, and the rounds in \
             ascending order."
                .to_string(),
        );
    }
    if family.members().any(|member| member.tiled.epilogue != Epilogue::Direct) {
        sentences.push(
            "The stages are free when accumulators change threads in them; a barrier stands \
             between the writing and the reading of a half, and while one half is read the other \
             one is written."
                .to_string(),
        );
    }
    let output = &program.tensor(statement.target.tensor).name;
    let of_fragments = |tiled: &Tiled| tiled.threads.fragments;
    let depth = family.tiles().find(|tiled| of_fragments(tiled));
    let adds = match depth.map(|tiled| product_depth(tiled.dtype)) {
        None => "which sums its products in ascending order".to_string(),
        Some(depth) => {
            let some = if family.tiles().all(of_fragments) { "" } else { ", or " };
            let else_ = if some.is_empty() { "" } else { "one by one elsewhere" };
            format!(
                "to which its products are added in ascending order, {depth} at a time by the \
                 tensor cores{some}{else_}"
            )
        }
    };
    sentences.push(format!(
        "Each element of `{output}` belongs to one register of one thread of one block, {adds}: no \
         race, and the same result in every run."
    ));
    sentences
}

/// Why a stage is not read before it is written, nor written before it was read.
fn of_stages(family: &Family) -> Vec<String> {
    let is_any = |stages: u32| {
        family.tiles().any(|tiled| tiled.stages == stages && !tiled.threads.fragments)
    };
    let one = is_any(1).then_some(
        "A block with one stage has one step: it writes the stage before a barrier and reads it \
         after that.",
    );
    let two = is_any(2).then_some(
        "A stage is written while the other one is read, and a barrier stands between the two \
         uses of each.",
    );
    let copied = family.tiles().any(|tiled| tiled.threads.fragments).then_some(
        "On the way to the tensor cores a thread's copies into a stage are waited for, and its \
         stores made, before a barrier, behind which the stage is read; those that overwrite it \
         come behind the next one.",
    );
    let beside = family.tiles().any(|tiled| !tiled.beside.is_empty()).then_some(
        "What the rows of a tile share beside its results is staged before the first barrier and \
         only read behind it.",
    );
    one.into_iter().chain(two).chain(copied).chain(beside).map(str::to_string).collect()
}

fn transpose_sentences(program: &Program, launch: &Launch, transpose: &Transpose) -> Vec<String> {
    let sides = [transpose.load, transpose.store];
    let predicated = sides.iter().filter(|side| side.tail == Tail::Predicated);
    let names: Vec<String> =
        predicated.map(|side| format!("`{}`", program.mode(side.mode).name)).collect();
    let mut sentences = vec![format!(
        "{}, so an offset is in bounds when each of its coordinates is below its extent.",
        checked(program, launch)
    )];
    if !names.is_empty() {
        sentences.push(format!("Loads and stores are predicated on {}.", names.join(", ")));
    }
    sentences.push(
        "Each cell of the tile is written by one thread before the barrier and read by one after \
         it, and each output element is stored once: no race."
            .to_string(),
    );
    sentences
}

fn reduction_sentences(program: &Program, launch: &Launch, reduction: &Reduction) -> Vec<String> {
    let mut sentences = vec![format!(
        "{}; every coordinate is a quotient or a remainder below its extent, and terms are \
             read only below their number, so every offset is in bounds.",
        checked(program, launch)
    )];
    match reduction.lanes {
        Lanes::Terms if reduction.outer.is_empty() => {}
        Lanes::Terms | Lanes::Outputs => sentences.push(
            "Threads beyond the last output repeat it and store nothing, so that every warp is \
             whole where it shuffles."
                .to_string(),
        ),
    }
    if reduction.parts().is_some() {
        sentences.push(in_parts("terms"));
    }
    sentences.extend([
        "Partial sums of warps go through shared memory, each cell written by one thread before the \
         barrier; one thread stores an output: no race."
            .to_string(),
        "Each thread sums its own terms in ascending order, and the partial sums of threads and \
         warps are added in a fixed order: the same result in every run, and at least two levels \
         for every long sum."
            .to_string(),
    ]);
    sentences
}

fn rows_sentences(schedule: &Schedule, launch: &Launch, rows: &Rows) -> Vec<String> {
    let program = &schedule.program;
    let col = &program.mode(rows.col_mode).name;
    let mut sentences = vec![format!(
        "{}; a row is below their number, and columns are read and written only below `{col}`, so \
         every offset is in bounds.",
        checked(program, launch)
    )];
    if rows.widths.iter().any(|width| width.block_rows > 1) {
        sentences.push(
            "Warps beyond the last row repeat it and store nothing, so that every warp is whole \
             where it shuffles."
                .to_string(),
        );
    }
    if rows.widths.iter().any(|width| width.block_rows == 1) {
        sentences.push(
            "Each reduction has cells of shared memory of its own: a warp writes one before a \
             barrier, and all read them behind it."
                .to_string(),
        );
    }
    sentences.push(
        "A thread reduces its own columns in ascending order, and the results of threads and warps \
         are combined in a fixed order, to the same value in all of them; each element is stored \
         by one thread: no race, and the same result in every run."
            .to_string(),
    );
    let low = program.tensors.iter().filter(|tensor| tensor.name.ends_with("_low"));
    sentences.extend(low.map(|tensor| {
        let mean = tensor.name.trim_end_matches("_low");
        format!(
            "Deviations from `{mean}` are corrected by `{}`, their own mean, which is what the \
             rounding of `{mean}` cost all of them.",
            tensor.name
        )
    }));
    sentences
}

fn segments_sentences(program: &Program, launch: &Launch, segments: &Segments) -> Vec<String> {
    let name = |mode: ModeId| &program.mode(mode).name;
    let (row, lane, edge) =
        (name(segments.segment.row), name(segments.lane_mode), name(segments.edge_mode));
    let pointers = &program.tensor(segments.segment.pointers).name;
    vec![
        format!(
            "{}; a row's pointers rise and end at `{edge}`, and indices are below the extents that \
             they select from, as their handles have found; lanes beyond the last of `{row}` or \
             `{lane}` repeat it, so every offset is in bounds.",
            checked(program, launch)
        ),
        format!(
            "The handle of `{pointers}`, whose fields nothing else can set, lists the parts of rows \
             with {part} of `{edge}` or more, each once, within its row and of {part} or more: so the \
             quotient of a part's first by {part} is below the number of parts in the workspace, no \
             other part has it, and those of a row follow each other. One launch writes that place, \
             and the next one reads it. Within a block a cell of shared memory is written by one \
             thread before a barrier and read behind it.",
            part = segments.part_edges
        ),
        format!(
            "The terms of a row are taken in ascending order of `{edge}` by the lanes that own its \
             outputs, those of a part in one fixed order of its block's threads, and parts in \
             ascending order; one thread stores an output: no race, and the same result in every run."
        ),
    ]
}

fn elementwise_sentences(
    program: &Program,
    launch: &Launch,
    elementwise: &Elementwise,
) -> Vec<String> {
    let mode = &program.mode(elementwise.unrolled_mode()).name;
    vec![
        format!(
            "{}; every coordinate is a quotient or a remainder below its extent, and beyond the \
             last position of `{mode}` the last one is read again, so every offset is in bounds.",
            checked(program, launch)
        ),
        "Each thread stores its own output elements, those that exist, and shares nothing: no race."
            .to_string(),
    ]
}

/// Why a sum in parts has every term once.
fn in_parts(unit: &str) -> String {
    format!(
        "In a sum in parts a block takes the {unit} from a multiple of `part_{unit}` on and below the \
         next one, and has a place of its own among the partial sums, which a second kernel adds \
         in a fixed order."
    )
}

fn per_output_sentences(program: &Program, launch: &Launch) -> Vec<String> {
    vec![
        format!(
            "{}; every coordinate is a quotient or a remainder below its extent, so every offset \
             is in bounds.",
            checked(program, launch)
        ),
        "Each thread below `n_outputs` writes its own output element and shares nothing: no race."
            .to_string(),
    ]
}
