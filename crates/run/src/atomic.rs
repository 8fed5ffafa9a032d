//! Files that appear complete or not at all.

use crate::OutputError;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

const SUFFIX: &str = ".standoff-tmp";

/// Whether it is a file that was never finished.
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.file_name().is_some_and(|n| {
        let name = n.to_string_lossy();
        name.starts_with('.') && name.ends_with(SUFFIX)
    })
}

/// Writes a file beside its place and moves it there when it is complete. On an error the old file,
/// if there was one, is untouched and nothing is left behind.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}.{}{SUFFIX}", std::process::id()));
    let result = File::create(&temporary).and_then(|file| {
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        write(&mut writer)?;
        writer.flush()?;
        fs::rename(&temporary, path)
    });
    if result.is_err() {
        // the error that matters is the first one
        let _ = fs::remove_file(&temporary);
    }
    result.map_err(OutputError::write(path))
}
