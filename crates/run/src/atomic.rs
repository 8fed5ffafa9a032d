//! Files that appear complete or not at all.

use crate::OutputError;
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
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let reason = format!("there is no folder {}", folder.display());
        return Err(OutputError::write(path)(io::Error::new(io::ErrorKind::NotFound, reason)));
    }
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    {
        // those of any new file, less what the umask takes; by default only the owner could read it
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let result = builder.tempfile_in(folder).and_then(|file| {
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        write(&mut writer)?;
        let file = writer.into_inner().map_err(|e| e.into_error())?;
        file.persist(path).map_err(|e| e.error)?;
        Ok(())
    });
    result.map_err(OutputError::write(path))
}
