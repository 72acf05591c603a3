//! One snapshot of every level of every spec. They prove that output is stable; that it is right
//! is what `crosscheck` and the stand-in prove, over the same folder.

use mage_codegen::{kernel, schedule};
use mage_einsum::{index, notation};

mod common;

#[test]
fn every_level_of_every_spec() {
    insta::glob!("../specs", "*.spec", |path| {
        let common::Case { name, levels, runs: _ } = common::case(path);
        let texts = [
            ("1-notation", notation::print(&levels.notation)),
            ("2-index", index::print(&levels.program)),
            ("3-schedule", schedule::print(&levels.schedule)),
            ("4-kernel", kernel::print(&levels.module)),
            ("5-source", levels.source),
        ];
        for (level, text) in texts {
            let mut settings = insta::Settings::clone_current();
            settings.set_snapshot_path("../specs/snapshots");
            settings.set_prepend_module_to_snapshot(false);
            settings.set_omit_expression(true);
            settings.set_snapshot_suffix(level);
            settings.bind(|| insta::assert_snapshot!(name.clone(), text));
        }
    });
}

#[test]
fn every_snapshot_has_its_spec() {
    let names: Vec<String> = common::cases().into_iter().map(|case| case.name).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/specs/snapshots");
    for snapshot in std::fs::read_dir(folder).unwrap() {
        let snapshot = snapshot.unwrap().file_name().to_string_lossy().into_owned();
        let name = snapshot.split('@').next().unwrap_or_default();
        assert!(names.iter().any(|known| known == name), "{snapshot} has no spec");
    }
}
