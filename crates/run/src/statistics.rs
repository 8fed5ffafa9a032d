//! `stats.jsonl` while it is written, and the lock of a run, which lies on it.

use crate::files::{STATS, open_file};
use crate::{OutputError, write_atomically};
use standoff_sim::report::StepReport;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The statistics of a run that is being written.
#[derive(Debug)]
pub(crate) struct Statistics {
    folder: PathBuf,
    file: File,
    /// Bytes: whole lines only.
    length: u64,
    /// Step of the last line.
    reported: u64,
}

impl Statistics {
    /// Opens the file, which is made if it is not there, keeps its first `length` bytes, the last line of which is
    /// that of step `reported`, and locks the run.
    pub fn open(folder: &Path, length: u64, reported: u64) -> Result<Self, OutputError> {
        let path = folder.join(STATS);
        let file = open(&path)?;
        lock(&file, folder)?;
        file.set_len(length).map_err(OutputError::write(&path))?;
        Ok(Self { folder: folder.to_owned(), file, length, reported })
    }

    /// Step of the last line.
    pub fn reported(&self) -> u64 {
        self.reported
    }

    /// Appends a line.
    pub fn append(&mut self, report: &StepReport) -> Result<(), OutputError> {
        let path = || self.folder.join(STATS);
        let mut line = serde_json::to_string(report)
            .map_err(|e| OutputError::Write { path: path(), source: io::Error::other(e) })?;
        line.push('\n');
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // half a line is worse than none; the error that matters is the first one
            let _ = self.file.set_len(self.length);
            return Err(OutputError::write(path())(error));
        }
        self.length += line.len() as u64;
        self.reported = report.step;
        Ok(())
    }

    /// Waits until the system has written all lines.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// Puts the lines back where they belong if another program removed or replaced the file, from which this run still can
    /// read. Returns what the user should know of it.
    ///
    /// # Errors
    /// They cannot be written, or the file is that of another run now.
    pub fn restore(&mut self) -> Result<Option<String>, OutputError> {
        let path = self.folder.join(STATS);
        let own = self.file.metadata().map_err(OutputError::read(&path))?;
        let here = fs::symlink_metadata(&path);
        if here.as_ref().is_ok_and(|here| is_same(here, &own)) {
            if own.len() == self.length {
                return Ok(None);
            }
            self.length = own.len();
            return Ok(Some(format!(
                "{} was changed by another program; lines of it may be missing, without which the run cannot be \
                 resumed",
                path.display()
            )));
        }
        if let Ok(other) = open_file(&path) {
            lock(&other, &self.folder)?;
        }
        let file = &mut self.file;
        file.seek(SeekFrom::Start(0)).map_err(OutputError::read(&path))?;
        let kept = file.take(self.length);
        write_atomically(&path, |out| io::copy(&mut { kept }, out).map(|_| ()))?;
        let file = open(&path)?;
        lock(&file, &self.folder)?;
        self.file = file;
        Ok(Some(format!(
            "{} was removed or replaced by another program; it was written again",
            path.display()
        )))
    }
}

/// Opens the file for adding to it and reading; what is no regular file is refused.
fn open(path: &Path) -> Result<File, OutputError> {
    let special = fs::symlink_metadata(path).is_ok_and(|m| !m.is_file());
    let opened = match special {
        true => Err(io::Error::other("it is no regular file")),
        false => OpenOptions::new().create(true).read(true).append(true).open(path),
    };
    opened.map_err(OutputError::write(path))
}

/// Whether both are of one file.
#[cfg(unix)]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// A file that is open is not removed on other systems.
#[cfg(not(unix))]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    a.file_type() == b.file_type()
}

/// Locks a run against other processes, until the file is closed; the system sees to that when the
/// process ends in whatever way.
pub(crate) fn lock(stats: &File, folder: &Path) -> Result<(), OutputError> {
    for _ in 0..LOOKS {
        match stats.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK),
            // a file system without locks is no obstacle
            Err(TryLockError::Error(_)) | Ok(()) => return Ok(()),
        }
    }
    Err(OutputError::Busy { path: folder.to_owned() })
}

/// How often and how long a run waits for one who only looks whether the folder is being written.
const LOOKS: usize = 10;
const LOOK: Duration = Duration::from_millis(5);

/// Whether a process is writing a run to the folder. Where the file system has no locks, it is not known,
/// and the answer is no.
pub fn is_being_written(folder: &Path) -> bool {
    let Ok(stats) = open_file(&folder.join(STATS)) else { return false };
    // closing the file releases the lock if it was acquired
    matches!(stats.try_lock_shared(), Err(TryLockError::WouldBlock))
}
