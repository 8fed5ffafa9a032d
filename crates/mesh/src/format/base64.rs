//! The bytes of VTK XML arrays: raw, or as base64.

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

/// A base64 decoder that goes on behind padding, because VTK pads the header of compressed data
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
            self.group(&mut out)?;
        }
        self.spare = out.split_off(n);
        Ok(out)
    }

    /// Decodes four characters.
    fn group(&mut self, out: &mut Vec<u8>) -> std::result::Result<(), String> {
        let (mut bits, mut digits, mut padding) = (0u32, 0, 0);
        while digits + padding < 4 {
            let Some((&c, rest)) = self.text.split_first() else {
                return Err("the base64 text ends too early".to_string());
            };
            self.text = rest;
            let digit = match c {
                b'A'..=b'Z' => c - b'A',
                b'a'..=b'z' => c - b'a' + 26,
                b'0'..=b'9' => c - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' if digits >= 2 => {
                    padding += 1;
                    bits <<= 6;
                    continue;
                }
                c if c.is_ascii_whitespace() => continue,
                c => return Err(format!("the byte {c} is no base64")),
            };
            if padding > 0 {
                return Err("base64 goes on inside its padding".to_string());
            }
            bits = bits << 6 | u32::from(digit);
            digits += 1;
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
        Ok(())
    }
}
