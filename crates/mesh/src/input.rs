//! The one place that opens files which a user names: regular files only, and only up to a size.
//!
//! A device such as `/dev/zero` has no end, a pipe may never be written to, and what exceeds the bound is no mesh,
//! scene or run but a mistake that would take all memory.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes of a file of data at most: a mesh, the statistics of a run.
pub const MOST_DATA: u64 = 2_000_000_000;

/// Bytes of a text that people write at most: a scene, a script, a model.
pub const MOST_TEXT: u64 = 256_000_000;

/// The bytes of a file.
///
/// # Errors
/// It cannot be read, is no regular file, or has more than `most` bytes.
pub fn bytes(path: &Path, most: u64) -> Result<Vec<u8>> {
    let mut file = open(path)?;
    let size = file.metadata()?.len();
    let mut data = Vec::new();
    if size <= most {
        // one byte more, to see whether the file is longer than it says, as files of the system may be
        data.reserve_exact(size as usize + 1);
        (&mut file).take(most + 1).read_to_end(&mut data)?;
    }
    match size.max(data.len() as u64) {
        found if found <= most => Ok(data),
        found => Err(Error::new(ErrorKind::FileTooLarge, too_large(found, most))),
    }
}

/// The text of a file.
///
/// # Errors
/// As [`bytes`], or [`ErrorKind::InvalidData`] where it is not UTF-8.
pub fn text(path: &Path, most: u64) -> Result<String> {
    let data = bytes(path, most)?;
    String::from_utf8(data).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Opens a regular file.
///
/// # Errors
/// It cannot be opened, or is a folder, a device, a pipe or a socket.
pub fn open(path: &Path) -> Result<File> {
    // before it is opened, because opening a pipe waits for its writer
    refuse_special(&path.metadata()?)?;
    let file = File::open(path)?;
    refuse_special(&file.metadata()?)?;
    Ok(file)
}

fn refuse_special(found: &std::fs::Metadata) -> Result<()> {
    let what = match found {
        m if m.is_file() => return Ok(()),
        m if m.is_dir() => "it is a folder, not a file",
        _ => "it is a device, a pipe or a socket, not a file; write the data to a file first",
    };
    Err(Error::new(ErrorKind::InvalidInput, what))
}

fn too_large(found: u64, most: u64) -> String {
    let megabytes = |n: u64| n as f64 / 1e6;
    format!(
        "it has {:.0} MB or more, of which at most {:.0} MB are read",
        megabytes(found),
        megabytes(most)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_size_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, b"12345").unwrap();
        assert_eq!(bytes(&file, 5).unwrap(), b"12345");
        assert_eq!(bytes(&file, 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(text(&file, 9).unwrap(), "12345");
        std::fs::write(&file, b"\xff").unwrap();
        assert_eq!(text(&file, 9).unwrap_err().kind(), ErrorKind::InvalidData);
        let missing = bytes(&folder.path().join("b"), 9).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        assert!(bytes(folder.path(), 9).unwrap_err().to_string().contains("folder"));
    }

    #[cfg(unix)]
    #[test]
    fn files_without_an_end_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        for path in [Path::new("/dev/zero"), &link, &pipe] {
            let message = bytes(path, MOST_DATA).unwrap_err().to_string();
            assert!(message.contains("not a file"), "{message}");
        }
    }
}
