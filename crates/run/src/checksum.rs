//! The checksum at the end of frames, by which later changes are noticed.
//!
//! The last line of a file is an XML comment with the FNV-1a hash of all bytes before it. What was written
//! before that line existed ends with `</VTKFile>`.

use crate::files::open_file;
use fnv::FnvHasher;
use std::hash::Hasher;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

const BEFORE: &str = "<!-- FNV-1a of all before this line: ";
const AFTER: &str = " -->\n";
/// Hexadecimal digits of the hash.
const DIGITS: usize = 16;
const LINE: usize = BEFORE.len() + DIGITS + AFTER.len();
const END: &[u8] = b"</VTKFile>\n";

/// What a look at a frame's file says about its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// As they were written, or of a version that wrote no checksum.
    Whole,
    /// The end is missing, or the file.
    Truncated,
    /// Changed since they were written.
    Altered,
}

/// A writer that keeps the hash of what goes through it.
pub(crate) struct Checksum<'a> {
    out: &'a mut dyn Write,
    hash: FnvHasher,
}

impl<'a> Checksum<'a> {
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self { out, hash: FnvHasher::default() }
    }

    /// Writes the last line.
    pub fn finish(self) -> io::Result<()> {
        write!(self.out, "{BEFORE}{:016x}{AFTER}", self.hash.finish())
    }
}

impl Write for Checksum<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.write(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether a frame is as it was written.
pub(crate) fn integrity(path: &Path) -> Integrity {
    look(path).unwrap_or(Integrity::Truncated)
}

fn look(path: &Path) -> io::Result<Integrity> {
    let mut file = open_file(path)?;
    let length = file.metadata()?.len();
    let mut last = [0; LINE];
    let Some(before) = length.checked_sub(LINE as u64) else { return Ok(Integrity::Truncated) };
    file.seek(SeekFrom::Start(before))?;
    file.read_exact(&mut last)?;
    let digits = last.strip_prefix(BEFORE.as_bytes());
    let Some(digits) = digits.and_then(|d| d.strip_suffix(AFTER.as_bytes())) else {
        return Ok(if last.ends_with(END) { Integrity::Whole } else { Integrity::Truncated });
    };
    let recorded = std::str::from_utf8(digits).ok().and_then(|d| u64::from_str_radix(d, 16).ok());
    file.seek(SeekFrom::Start(0))?;
    let mut hash = FnvHasher::default();
    let mut reader = BufReader::with_capacity(1 << 20, file).take(before);
    let mut block = vec![0; 1 << 20];
    loop {
        match reader.read(&mut block)? {
            0 => break,
            n => hash.write(&block[..n]),
        }
    }
    Ok(if recorded == Some(hash.finish()) { Integrity::Whole } else { Integrity::Altered })
}
