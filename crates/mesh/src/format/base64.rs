//! The bytes of VTK XML arrays: raw, or as base64. Base64 as a whole, for glTF.

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, PAD};

/// Bytes of an array, plain or as base64.
pub(super) enum Source<'a> {
    Raw(&'a [u8]),
    Base64(Base64<'a>),
}

impl Source<'_> {
    pub(super) fn take(&mut self, n: usize) -> std::result::Result<Vec<u8>, String> {
        match self {
            Source::Raw(rest) => match rest.split_at_checked(n) {
                Some((bytes, tail)) => {
                    *rest = tail;
                    Ok(bytes.to_vec())
                }
                None => Err(format!("{n} bytes are announced, {} follow", rest.len())),
            },
            Source::Base64(decoder) => decoder.take(n),
        }
    }
}

/// Unused bits of the last character count for nothing.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, PAD.with_decode_allow_trailing_bits(true));

/// The bytes of a text.
pub(super) fn decode(text: &[u8]) -> std::result::Result<Vec<u8>, String> {
    BASE64.decode(text).map_err(|e| format!("bad base64: {e}"))
}

/// A base64 decoder that continues after padding, because VTK pads the header of compressed data
/// on its own.
pub(super) struct Base64<'a> {
    text: &'a [u8],
    /// Decoded bytes that were not taken yet.
    spare: Vec<u8>,
}

impl<'a> Base64<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, spare: Vec::new() }
    }

    pub(super) fn take(&mut self, n: usize) -> std::result::Result<Vec<u8>, String> {
        if n / 3 > self.text.len() / 4 + 1 {
            return Err(format!("{n} bytes are announced, fewer follow"));
        }
        let mut out = std::mem::take(&mut self.spare);
        while out.len() < n {
            let characters = self.run((n - out.len()).div_ceil(3) * 4)?;
            BASE64.decode_vec(characters, &mut out).map_err(|e| format!("bad base64: {e}"))?;
        }
        self.spare = out.split_off(n);
        Ok(out)
    }

    /// The next `n` characters, a multiple of four, without white space; fewer where padding ends them.
    fn run(&mut self, n: usize) -> std::result::Result<Vec<u8>, String> {
        let mut characters = Vec::with_capacity(n);
        while characters.len() < n {
            match self.text.split_first() {
                None | Some((b'<', _)) => return Err("the base64 text ends too early".to_string()),
                Some((c, rest)) => {
                    self.text = rest;
                    if !c.is_ascii_whitespace() {
                        characters.push(*c);
                    }
                    if *c == b'=' && characters.len().is_multiple_of(4) {
                        break;
                    }
                }
            }
        }
        Ok(characters)
    }
}
