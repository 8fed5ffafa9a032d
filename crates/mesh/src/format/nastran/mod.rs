//! Bulk data of Nastran and OptiStruct: `.bdf`, `.nas`, `.fem`, `.dat`.
//!
//! MSC Nastran Quick Reference Guide, "Bulk Data Entries". A card is a line of fields with its name in front, and lines that continue it. Fields are
//! between commas, or have 8 columns, or 16 where the name ends in a star.

mod card;

use crate::format::cells::{Cell, Cells};
use crate::format::fortran;
use crate::format::labels::Labels;
use crate::format::scan::{Result, Scanner, parse};
use crate::format::solids::SolidCell;
use crate::{Mesh, MeshError};
use card::{Card, expand, split};
use standoff_geometry::division::Solid;
use standoff_linalg::Vec3;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::Path;

/// A card of elements: its name, and what it is with so many nodes, of order 1 and, with nodes in the middles of its edges, of order 2.
struct Kind {
    name: &'static str,
    linear: (Cell, usize),
    quadratic: Option<(Cell, usize)>,
}

const fn linear(name: &'static str, cell: Cell, nodes: usize) -> Kind {
    Kind { name, linear: (cell, nodes), quadratic: None }
}

/// A solid whose nodes have the `order` in our order: corners, then edges.
const fn solid(name: &'static str, of: Solid, order: &'static [usize]) -> Kind {
    let corners = order.split_at(of.corners()).0;
    let (first, second) = (cell(of, corners), cell(of, order));
    Kind { name, linear: (first, corners.len()), quadratic: Some((second, order.len())) }
}

const fn cell(of: Solid, order: &'static [usize]) -> Cell {
    // the manual asks for an order around faces, not for a side from which it is counter-clockwise
    Cell::Solid(SolidCell { either: true, ..SolidCell::new(of, order) })
}

const KINDS: [Kind; 15] = [
    solid("CTETRA", Solid::Tet, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
    solid("CPYRAM", Solid::Pyramid, PYRAMID),
    // as OptiStruct calls it
    solid("CPYRA", Solid::Pyramid, PYRAMID),
    solid("CPENTA", Solid::Wedge, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11]),
    solid("CHEXA", Solid::Hexahedron, HEXAHEDRON),
    linear("CTRIA3", Cell::Polygon, 3),
    linear("CTRIAR", Cell::Polygon, 3),
    Kind {
        name: "CTRIA6",
        linear: (Cell::Polygon, 3),
        quadratic: Some((Cell::QuadraticTriangle, 6)),
    },
    linear("CQUAD4", Cell::Polygon, 4),
    linear("CQUADR", Cell::Polygon, 4),
    Kind {
        name: "CQUAD8",
        linear: (Cell::Polygon, 4),
        quadratic: Some((Cell::QuadraticQuadrangle, 8)),
    },
    linear("CROD", Cell::Polyline, 2),
    linear("CTUBE", Cell::Polyline, 2),
    linear("CBAR", Cell::Polyline, 2),
    linear("CBEAM", Cell::Polyline, 2),
];
/// The nodes on the edges of the base, then those towards the tip.
const PYRAMID: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
/// Nastran has the nodes on the edges between both quadrangles in front of those around the second one; so have wedges.
const HEXAHEDRON: &[usize] =
    &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 12, 13, 14, 15];

/// Most names of cards in a note, and of those that are counted by name.
const MOST_NAMES: usize = 20;
const MOST_COUNTED: usize = 1000;

/// Whether a text has bulk data, for files whose name does not tell it.
pub(super) fn looks_like(data: &[u8]) -> bool {
    let data = &data[..data.len().min(1 << 20)];
    data.split(|b| *b == b'\n').any(|line| {
        let grid = line.get(..4).is_some_and(|w| w.eq_ignore_ascii_case(b"GRID"));
        is_begin(line) || grid && line.get(4).is_some_and(|b| b" ,*\t".contains(b))
    })
}

/// Whether a line begins the bulk data.
fn is_begin(line: &[u8]) -> bool {
    let is_gap = |b: &u8| b.is_ascii_whitespace() || *b == b',';
    let mut words = line.split(is_gap).filter(|w| !w.is_empty());
    let mut is = |name: &[u8]| words.next().is_some_and(|w| w.eq_ignore_ascii_case(name));
    is(b"BEGIN") && is(b"BULK")
}

struct Element {
    kind: &'static Kind,
    number: i64,
    property: i64,
    /// Where its nodes are; 0 for none.
    nodes: Range<usize>,
    at: usize,
}

struct Reader<'a> {
    scan: Scanner<'a>,
    points: Vec<Vec3>,
    /// The index of a point by its number.
    index: HashMap<i64, u32>,
    elements: Vec<Element>,
    nodes: Vec<i64>,
    /// Cards that are not read, with their counts.
    ignored: BTreeMap<String, usize>,
}

pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let mut reader = Reader {
        scan: Scanner::new(path, data),
        points: Vec::new(),
        index: HashMap::new(),
        elements: Vec::new(),
        nodes: Vec::new(),
        ignored: BTreeMap::new(),
    };
    reader.begin(data);
    reader.cards()?;
    reader.finish()
}

impl<'a> Reader<'a> {
    /// Moves behind the line that begins the bulk data. Without one everything is bulk data.
    fn begin(&mut self, data: &[u8]) {
        let mut at = 0;
        for line in data.split_inclusive(|b| *b == b'\n') {
            at += line.len();
            if is_begin(line) {
                self.scan.seek(at);
                return;
            }
        }
    }

    /// The next line that is no comment, without the comment at its end.
    fn line(&mut self) -> Option<&'a [u8]> {
        loop {
            let line = self.scan.line()?;
            let end = line.iter().position(|b| *b == b'$').unwrap_or(line.len());
            if !line[..end].trim_ascii().is_empty() {
                return Some(&line[..end]);
            }
        }
    }

    fn cards(&mut self) -> Result<()> {
        let mut card: Option<Card> = None;
        while let Some(line) = self.line() {
            let text = expand(line);
            let parts = split(&text);
            let first = &text[parts.first.clone()];
            if parts.too_long {
                return Err(self.scan.error(
                    "the line has more than ten fields",
                    "Continue the card on the next line, with an empty first field",
                ));
            }
            if matches!(first.first(), None | Some(b'+' | b'*')) {
                let Some(card) = &mut card else {
                    return Err(self.scan.error(
                        "the line continues a card, but there is none before it",
                        "Write the lines of a card one after the other, its name first",
                    ));
                };
                if !card.go_on(&text, &parts) {
                    return Err(self.scan.error(
                        "the line continues another card than the one before it",
                        "Write the lines of a card one after the other",
                    ));
                }
                continue;
            }
            let next = self.begin_card(first)?;
            if let Some(done) = card.take() {
                self.card(&done)?;
            }
            if next == "ENDDATA" {
                break;
            }
            card = Some(Card {
                name: next,
                at: self.scan.last(),
                fields: parts.fields,
                mark: parts.mark,
                text,
            });
        }
        card.map_or(Ok(()), |card| self.card(&card))
    }

    /// The name of a card that begins.
    fn begin_card(&self, first: &[u8]) -> Result<String> {
        let name = first.strip_suffix(b"*").unwrap_or(first).trim_ascii();
        if name.first() == Some(&b'=') {
            return Err(self.scan.error(
                "cards that repeat the one before (=) are not supported",
                "Write every card out, for instance by a pre-processor",
            ));
        }
        let is_name = name.first().is_some_and(u8::is_ascii_alphabetic)
            && name.len() <= 16
            && name.iter().all(u8::is_ascii_alphanumeric);
        if name.get(..7).is_some_and(|w| w.eq_ignore_ascii_case(b"INCLUDE")) {
            return Err(self.scan.error(
                "INCLUDE is not supported",
                "Put the content of that file in the place of this line",
            ));
        }
        match std::str::from_utf8(name) {
            Ok(text) if is_name => Ok(text.to_ascii_uppercase()),
            _ => Err(self.scan.unexpected(first, "the name of a card (GRID, CTETRA, …)")),
        }
    }

    /// Reads a card that is complete.
    fn card(&mut self, card: &Card) -> Result<()> {
        match KINDS.iter().find(|k| k.name == card.name) {
            Some(kind) => self.element(card, kind),
            None if card.name == "GRID" => self.grid(card),
            None if card.name == "GRDSET" => self.in_basic_system(card, 3, "GRDSET"),
            None => {
                let known = self.ignored.contains_key(&card.name);
                if known || self.ignored.len() < MOST_COUNTED {
                    *self.ignored.entry(card.name.clone()).or_default() += 1;
                }
                Ok(())
            }
        }
    }

    /// An error at a card.
    fn wrong(&self, at: usize, what: impl Into<String>, hint: &str) -> MeshError {
        let mut scan = self.scan.clone();
        scan.point_at(at, false);
        scan.error(what, hint)
    }

    /// An integer of a field, which may be empty.
    fn integer(&self, card: &Card, number: usize) -> Result<Option<i64>> {
        match card.field(number) {
            b"" => Ok(None),
            word => {
                parse(word).map(Some).ok_or_else(|| self.unexpected(card, number, "an integer"))
            }
        }
    }

    fn unexpected(&self, card: &Card, number: usize, what: &str) -> MeshError {
        let word = card.field(number);
        let shown: String =
            String::from_utf8_lossy(&word[..word.len().min(40)]).escape_debug().collect();
        let name = &card.name;
        let what = format!("{name}: \"{shown}\" in field {number}, where {what} should stand");
        self.wrong(card.at, what, "Check the columns of this card, or write the file again")
    }

    /// The number of a card, in its second field.
    fn number(&self, card: &Card) -> Result<i64> {
        let number = self.integer(card, 2)?.filter(|n| *n > 0);
        number.ok_or_else(|| self.unexpected(card, 2, "a number from 1"))
    }

    /// Refuses coordinates that are not those of the basic system.
    fn in_basic_system(&self, card: &Card, field: usize, of: &str) -> Result<()> {
        match self.integer(card, field)? {
            None | Some(0) => Ok(()),
            Some(system) => Err(self.wrong(
                card.at,
                format!("{of} has its coordinates in the coordinate system {system}"),
                "Write the points in the basic coordinate system, which is 0",
            )),
        }
    }

    fn grid(&mut self, card: &Card) -> Result<()> {
        let number = self.number(card)?;
        self.in_basic_system(card, 3, &format!("GRID {number}"))?;
        let mut p = Vec3::zeros();
        for k in 0..3 {
            let word = card.field(4 + k);
            let value = if word.is_empty() { Some(0.0) } else { fortran::real(word) };
            p[k] = value.ok_or_else(|| self.unexpected(card, 4 + k, "a coordinate"))?;
            if !p[k].is_finite() {
                return Err(self.unexpected(card, 4 + k, "a finite coordinate"));
            }
        }
        match self.index.entry(number) {
            Entry::Vacant(entry) => {
                entry.insert(self.points.len() as u32);
                self.points.push(p);
                Ok(())
            }
            // the same point again is allowed
            Entry::Occupied(entry) if self.points[*entry.get() as usize] == p => Ok(()),
            Entry::Occupied(_) => Err(self.wrong(
                card.at,
                format!("GRID {number} stands in the file twice, at different places"),
                "Renumber the points",
            )),
        }
    }

    fn element(&mut self, card: &Card, kind: &'static Kind) -> Result<()> {
        let number = self.number(card)?;
        let property = self.integer(card, 3)?.unwrap_or_default();
        let first = self.nodes.len();
        for k in 0..kind.quadratic.map_or(kind.linear.1, |q| q.1) {
            let node = self.integer(card, 4 + k)?.unwrap_or_default();
            self.nodes.push(node);
        }
        // without the nodes on edges it is an element of order 1
        let corners = first + kind.linear.1;
        if self.nodes[corners..].iter().all(|n| *n == 0) {
            self.nodes.truncate(corners);
        }
        if let Some(empty) = self.nodes[first..].iter().position(|n| *n == 0) {
            let (name, nodes) = (&card.name, self.nodes.len() - first);
            return Err(self.wrong(
                card.at,
                format!("{name} {number} has no node {} of {nodes}", empty + 1),
                "Give all corners, and the nodes in the middles of all edges or of none",
            ));
        }
        let nodes = first..self.nodes.len();
        self.elements.push(Element { kind, number, property, nodes, at: card.at });
        Ok(())
    }

    /// The mesh, when all points are known.
    fn finish(mut self) -> Result<Mesh> {
        if self.points.is_empty() {
            return Err(self.scan.error(
                "there is no GRID card in the bulk data",
                "Is this a file of Nastran, and complete?",
            ));
        }
        let mut cells = Cells::new(std::mem::take(&mut self.points));
        let mut labels = Labels::default();
        let mut v: Vec<u32> = Vec::new();
        for element in &self.elements {
            let (kind, number) = (element.kind, element.number);
            v.clear();
            for node in &self.nodes[element.nodes.clone()] {
                v.push(*self.index.get(node).ok_or_else(|| {
                    self.wrong(
                        element.at,
                        format!("{} {number}: there is no GRID {node}", kind.name),
                        "Every node of an element needs a GRID card in this file",
                    )
                })?);
            }
            let quadratic = kind.quadratic.filter(|q| q.1 == v.len());
            let label = labels.of((0, element.property));
            cells.add(quadratic.unwrap_or(kind.linear).0, &v, label).map_err(|wrong| {
                let what = format!("{} {number}: {}", kind.name, wrong.what);
                self.wrong(element.at, what, wrong.hint("Check the nodes of this card"))
            })?;
        }
        cells.finish();
        labels.add_regions(&mut cells, |(_, number)| format!("property-{number}"));
        cells.mesh.notes.extend(self.note());
        Ok(cells.mesh)
    }

    /// What was not read.
    fn note(&self) -> Option<String> {
        let cards = self.ignored.iter().take(MOST_NAMES).map(|(name, n)| format!("{n} {name}"));
        let mut cards: Vec<String> = cards.collect();
        if self.ignored.len() > MOST_NAMES {
            cards.push("and others".to_string());
        }
        let cards = cards.join(", ");
        (!cards.is_empty()).then(|| {
            format!(
                "only the mesh was read; materials, thicknesses, loads and constraints belong in the scene. Cards that were not read: {cards}"
            )
        })
    }
}
