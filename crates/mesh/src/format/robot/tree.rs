//! The elements of an XML file as a tree.

use super::super::scan::{Result, Scanner};
use super::super::xml;
use std::path::Path;

/// Nested elements at most, so that no file exhausts the stack.
const DEPTH: usize = 128;

#[derive(Debug, Clone, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    /// Line of its tag, from 1, behind the name of its file if that is included.
    pub(super) place: String,
}

impl Element {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// Children of a name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Element> {
        self.children.iter().filter(move |c| c.name == name)
    }

    pub(super) fn first(&self, name: &str) -> Option<&Element> {
        self.children.iter().find(|c| c.name == name)
    }
}

/// The root element of a file; `file` names it where it is not the one that the user named.
pub(super) fn parse(path: &Path, data: &[u8], file: Option<&str>) -> Result<Element> {
    let mut scan = Scanner::new(path, data);
    let mut reader = quick_xml::Reader::from_reader(data);
    let mut open: Vec<Element> = Vec::new();
    let (mut line, mut counted) = (1, 0);
    loop {
        let at = reader.buffer_position() as usize;
        scan.seek(at);
        let event = reader.read_event().map_err(|error| {
            scan.seek(reader.error_position() as usize);
            xml::malformed(&scan, &error)
        })?;
        let (tag, empty) = match event {
            quick_xml::events::Event::Start(tag) => (tag, false),
            quick_xml::events::Event::Empty(tag) => (tag, true),
            quick_xml::events::Event::End(_) => {
                // the reader refuses an end without a beginning
                let Some(done) = open.pop() else { continue };
                match open.last_mut() {
                    Some(parent) => parent.children.push(done),
                    None => return Ok(done),
                }
                continue;
            }
            quick_xml::events::Event::Eof => return Err(scan.truncated("the end of an element")),
            _ => continue,
        };
        line += data.get(counted..at).unwrap_or_default().iter().filter(|&&b| b == b'\n').count();
        counted = at.max(counted);
        let attributes = xml::attributes(&tag).map_err(|error| xml::malformed(&scan, &error))?;
        let place = match file {
            Some(file) => format!("{file} line {line}"),
            None => format!("line {line}"),
        };
        let name = tag.name().as_ref().to_owned();
        let element = Element { name, attributes, children: Vec::new(), place };
        let depth = open.len();
        match (empty, open.last_mut()) {
            (false, _) if depth == DEPTH => {
                let what = format!("more than {DEPTH} elements are nested");
                return Err(scan.error(what, "Simplify the file"));
            }
            (false, _) => open.push(element),
            (true, Some(parent)) => parent.children.push(element),
            (true, None) => return Ok(element),
        }
    }
}
