//! Writes a file whole or not at all: into a new file beside it, which then takes its name.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes `text` to `path`, through a link to the file it names. What is no file, such as
/// `/dev/null`, is written in place, because a rename would take it away.
pub fn whole(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if fs::metadata(&target).is_ok_and(|found| !found.is_file()) {
        return fs::write(&target, text);
    }
    let beside = beside(&target)?;
    let written = fill(&beside, text).and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        // The first failure is the one to tell.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// A name in the same folder, because a rename does not cross file systems; the process id keeps
/// two runs apart.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut new = std::ffi::OsString::from(".");
    new.push(name);
    new.push(format!(".{}.new", std::process::id()));
    Ok(path.with_file_name(new))
}

fn fill(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
