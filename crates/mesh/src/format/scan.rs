//! A cursor over the bytes of a mesh file, text and binary, that knows where it is.

use crate::{MeshError, Place};
use standoff_linalg::Vec3;
use std::path::Path;
use std::str::FromStr;

/// Byte order of a binary part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endian {
    Little,
    Big,
}

/// Type of a number in a binary part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    pub(crate) fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        !matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// The number in the first `size()` bytes; `None` where there are fewer.
    pub(crate) fn decode(self, bytes: &[u8], endian: Endian) -> Option<Number> {
        macro_rules! get {
            ($t:ty) => {{
                let b = bytes.get(..size_of::<$t>())?.try_into().ok()?;
                match endian {
                    Endian::Little => <$t>::from_le_bytes(b),
                    Endian::Big => <$t>::from_be_bytes(b),
                }
            }};
        }
        Some(match self {
            Scalar::I8 => Number::Integer(get!(i8).into()),
            Scalar::U8 => Number::Integer(get!(u8).into()),
            Scalar::I16 => Number::Integer(get!(i16).into()),
            Scalar::U16 => Number::Integer(get!(u16).into()),
            Scalar::I32 => Number::Integer(get!(i32).into()),
            Scalar::U32 => Number::Integer(get!(u32).into()),
            Scalar::I64 => Number::Integer(get!(i64)),
            // beyond i64 no index, count or label makes sense: saturate
            Scalar::U64 => Number::Integer(i64::try_from(get!(u64)).unwrap_or(i64::MAX)),
            Scalar::F32 => Number::Real(get!(f32).into()),
            Scalar::F64 => Number::Real(get!(f64)),
        })
    }
}

/// A number of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i64),
    Real(f64),
}

impl Number {
    pub(crate) fn real(self) -> f64 {
        match self {
            Number::Integer(i) => i as f64,
            Number::Real(r) => r,
        }
    }

    /// The integer, or a real number that is one.
    pub(crate) fn integer(self) -> Option<i64> {
        match self {
            Number::Integer(i) => Some(i),
            Number::Real(r) => (r.fract() == 0.0 && r.abs() < 9e15).then_some(r as i64),
        }
    }
}

/// The cursor.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    file: &'a Path,
    data: &'a [u8],
    pos: usize,
    /// Start of what was read last, where an error is.
    last: usize,
    /// Whether the last read was binary, so that a place is a byte.
    binary: bool,
}

pub(crate) type Result<T> = std::result::Result<T, MeshError>;

impl<'a> Scanner<'a> {
    pub(crate) fn new(file: &'a Path, data: &'a [u8]) -> Self {
        Self { file, data, pos: 0, last: 0, binary: false }
    }

    /// An error at what was read last.
    pub(crate) fn error(&self, what: impl Into<String>, hint: impl Into<String>) -> MeshError {
        let place = if self.binary {
            Place::Byte(self.last)
        } else {
            let newlines = self.data[..self.last].iter().filter(|&&b| b == b'\n').count();
            Place::Line(1 + newlines)
        };
        MeshError::Content {
            file: self.file.to_path_buf(),
            place,
            what: what.into(),
            hint: hint.into(),
        }
    }

    pub(crate) fn remaining(&self) -> usize {
        self.data.len() - self.pos
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    /// Offset of what was read last.
    pub(crate) fn last(&self) -> usize {
        self.last
    }

    /// Offset of the next word, or of the next byte of a binary part.
    pub(crate) fn next_pos(&self, binary: bool) -> usize {
        let rest = &self.data[self.pos..];
        let blank = rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
        if binary { self.pos } else { self.pos + blank }
    }

    /// Moves to an offset (capped by the end).
    pub(crate) fn seek(&mut self, pos: usize) {
        self.pos = pos.min(self.data.len());
        self.last = self.pos;
    }

    /// Makes an error stand at an offset: in a text part by its line, else by its byte.
    pub(crate) fn point_at(&mut self, pos: usize, binary: bool) {
        self.seek(pos);
        self.binary = binary;
    }

    /// Makes the file end at an offset.
    pub(crate) fn limit(&mut self, end: usize) {
        self.data = &self.data[..end.clamp(self.pos, self.data.len())];
    }

    /// The rest of the current line without its end; `None` at the end of the file.
    pub(crate) fn line(&mut self) -> Option<&'a [u8]> {
        if self.pos >= self.data.len() {
            (self.last, self.binary) = (self.pos, false);
            return None;
        }
        let rest = &self.data[self.pos..];
        let length = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        (self.last, self.binary) = (self.pos, false);
        self.pos = (self.pos + length + 1).min(self.data.len());
        let line = &rest[..length];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The next word, across lines; `None` at the end of the file.
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        let rest = &self.data[self.pos..];
        let start = rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
        let rest = &rest[start..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        (self.last, self.binary) = (self.pos + start, false);
        self.pos += start + length;
        (length > 0).then_some(&rest[..length])
    }

    /// The next word without moving past it.
    pub(crate) fn peek_word(&self) -> Option<&'a [u8]> {
        self.clone().word()
    }

    /// The next word as text; `what` says what it should be.
    pub(crate) fn text(&mut self, what: &str) -> Result<&'a str> {
        match self.word() {
            None => Err(self.truncated(what)),
            Some(w) => std::str::from_utf8(w).map_err(|_| self.unexpected(w, what)),
        }
    }

    /// The next word as a number.
    pub(crate) fn parse<T: FromStr>(&mut self, what: &str) -> Result<T> {
        match self.word() {
            None => Err(self.truncated(what)),
            Some(w) => parse(w).ok_or_else(|| self.unexpected(w, what)),
        }
    }

    /// The next word as a finite coordinate.
    pub(crate) fn coordinate(&mut self) -> Result<f64> {
        let value: f64 = self.parse("a coordinate")?;
        self.finite(value)
    }

    /// Refuses NaN and infinity.
    pub(crate) fn finite(&self, value: f64) -> Result<f64> {
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.error(
                format!("the coordinate {value} is not a finite number"),
                "Export the mesh again from a valid state",
            ))
        }
    }

    pub(crate) fn point(&mut self) -> Result<Vec3> {
        Ok(Vec3::new(self.coordinate()?, self.coordinate()?, self.coordinate()?))
    }

    /// The next number of a binary part.
    pub(crate) fn binary(&mut self, scalar: Scalar, endian: Endian, what: &str) -> Result<Number> {
        let bytes = self.bytes(scalar.size(), what)?;
        scalar.decode(bytes, endian).ok_or_else(|| self.truncated(what))
    }

    /// The next `n` bytes of a binary part.
    pub(crate) fn bytes(&mut self, n: usize, what: &str) -> Result<&'a [u8]> {
        (self.last, self.binary) = (self.pos, true);
        match self.data[self.pos..].get(..n) {
            Some(bytes) => {
                self.pos += n;
                Ok(bytes)
            }
            None => Err(self.truncated(what)),
        }
    }

    /// A declared count, refused where the rest of the file cannot hold that many things of at
    /// least `bytes_each` bytes. So no allocation exceeds the file in proportion.
    pub(crate) fn count(&self, n: u64, bytes_each: usize, what: &str) -> Result<usize> {
        // the last number of a text file needs no separator: one byte of slack
        let most = (self.remaining() + 1) / bytes_each.max(1);
        match usize::try_from(n) {
            Ok(n) if n <= most && n < u32::MAX as usize => Ok(n),
            _ => Err(self.error(
                format!("{n} {what} are announced, but only {} bytes follow", self.remaining()),
                "The file is truncated or damaged: write it again",
            )),
        }
    }

    /// The offset of `needle` at or after the cursor.
    pub(crate) fn find(&self, needle: &[u8]) -> Option<usize> {
        let rest = &self.data[self.pos..];
        rest.windows(needle.len()).position(|w| w == needle).map(|i| self.pos + i)
    }

    pub(crate) fn truncated(&self, what: &str) -> MeshError {
        self.error(
            format!("the file ends where {what} should follow"),
            "The file is truncated or damaged: write it again",
        )
    }

    pub(crate) fn unexpected(&self, found: &[u8], what: &str) -> MeshError {
        let mut shown = String::from_utf8_lossy(&found[..found.len().min(40)]).into_owned();
        shown.retain(|c| !c.is_control());
        self.error(
            format!("\"{shown}\" where {what} should stand"),
            "Check this line, or write the file again",
        )
    }
}

/// A word as a number.
pub(crate) fn parse<T: FromStr>(word: &[u8]) -> Option<T> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The words of a line.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty())
}
