//! The tags of VTK XML files, one after the other. Raw appended data are no XML, so that a caller has to stop in
//! front of them.

use super::scan::{Result, Scanner};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// A tag that opens an element.
#[derive(Debug)]
pub(super) struct Tag {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
    /// Whether it ends with `/>`.
    pub(super) empty: bool,
    /// Offset of its `<`.
    pub(super) start: usize,
    /// Offset behind its `>`.
    pub(super) end: usize,
}

impl Tag {
    /// Value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// Name of the first element of a file.
pub(super) fn root(data: &[u8]) -> Option<String> {
    let mut reader = Reader::from_reader(data);
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) | Event::Empty(tag) => return Some(tag.name().as_ref().to_owned()),
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// The tags of a file.
pub(super) struct Tags<'a>(Reader<&'a [u8]>);

impl<'a> Tags<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        let mut reader = Reader::from_reader(data);
        // what VTK itself does not look at is no reason to refuse a file
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        Self(reader)
    }

    /// The next tag that opens an element; `scan` places errors.
    pub(super) fn next(&mut self, scan: &mut Scanner<'_>) -> Result<Option<Tag>> {
        loop {
            let start = self.0.buffer_position() as usize;
            scan.seek(start);
            let (tag, empty) = match self.0.read_event() {
                Ok(Event::Eof) => return Ok(None),
                Ok(Event::Start(tag)) => (tag, false),
                Ok(Event::Empty(tag)) => (tag, true),
                Ok(_) => continue,
                Err(error) => {
                    scan.seek(self.0.error_position() as usize);
                    return Err(malformed(scan, &error));
                }
            };
            let attributes = attributes(&tag).map_err(|error| malformed(scan, &error))?;
            let (name, end) = (tag.name().as_ref().to_owned(), self.0.buffer_position() as usize);
            return Ok(Some(Tag { name, attributes, empty, start, end }));
        }
    }
}

pub(super) fn malformed(scan: &Scanner<'_>, error: &dyn std::fmt::Display) -> crate::MeshError {
    let what = format!("a tag that is not well-formed ({error})");
    scan.error(what, "The file is damaged: write it again")
}

pub(super) fn attributes(tag: &BytesStart<'_>) -> quick_xml::Result<Vec<(String, String)>> {
    let attribute = |a: std::result::Result<quick_xml::events::attributes::Attribute<'_>, _>| {
        let a = a?;
        let value = a.normalized_value(quick_xml::XmlVersion::Implicit1_0)?;
        Ok((a.key.as_ref().to_owned(), value.into_owned()))
    };
    tag.attributes().map(attribute).collect()
}
