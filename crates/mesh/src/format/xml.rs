//! As much XML as VTK files need: tags with attributes, over bytes, because raw appended data are
//! no XML.

use super::scan::{Result, Scanner};

/// A tag.
#[derive(Debug)]
pub(super) struct Tag<'a> {
    /// Name, with a leading `/` for an end tag.
    pub(super) name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    /// Whether it ends with `/>`.
    pub(super) empty: bool,
    /// Offset of its `<`.
    pub(super) start: usize,
    /// Offset behind its `>`.
    pub(super) end: usize,
}

impl<'a> Tag<'a> {
    /// Value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(n, _)| *n == name).map(|(_, v)| *v)
    }
}

/// The next tag at or after `from`; comments and declarations are skipped.
pub(super) fn next_tag<'a>(
    scan: &mut Scanner<'_>,
    data: &'a [u8],
    mut from: usize,
) -> Result<Option<Tag<'a>>> {
    loop {
        scan.seek(from);
        let Some(start) = scan.find(b"<") else { return Ok(None) };
        scan.seek(start);
        let rest = &data[start..];
        let end: &[u8] = match rest {
            r if r.starts_with(b"<!--") => b"-->",
            r if r.starts_with(b"<?") => b"?>",
            _ => b">",
        };
        let Some(close) = scan.find(end) else { return Err(unfinished(scan)) };
        let body = &data[start + 1..close];
        let after = close + end.len();
        if body.starts_with(b"!") || body.starts_with(b"?") {
            from = after;
            continue;
        }
        let Ok(body) = std::str::from_utf8(body) else { return Err(unfinished(scan)) };
        let (body, empty) = match body.strip_suffix('/') {
            Some(b) => (b, true),
            None => (body, false),
        };
        let (name, rest) = body.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((body, ""));
        let attributes = attributes(rest).ok_or_else(|| unfinished(scan))?;
        return Ok(Some(Tag { name, attributes, empty, start, end: after }));
    }
}

fn unfinished(scan: &Scanner<'_>) -> crate::MeshError {
    scan.error("a tag that is not well-formed", "The file is damaged: write it again")
}

/// `name="value"` or `name='value'`, repeated.
fn attributes(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut rest = text.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (name, tail) = rest.split_once('=')?;
        let tail = tail.trim_start();
        let quote = tail.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, tail) = tail[1..].split_once(quote)?;
        found.push((name.trim(), value));
        rest = tail.trim_start();
    }
    Some(found)
}
