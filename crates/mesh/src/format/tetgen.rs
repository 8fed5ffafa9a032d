//! TetGen `.node` with `.ele`, `.face` and `.edge` beside it, and those of Triangle in two dimensions.
//!
//! TetGen manual, "File Formats": a line of counts, then a line for each node or element with its number in front. Nodes count from 0 or 1.

use super::cells::{Cell, Cells};
use super::labels::{Labels, of_dimension};
use super::middles;
use super::scan::{Result, Scanner, parse, words};
use crate::input::{self, MOST_DATA};
use crate::{Mesh, MeshError};
use standoff_linalg::Vec3;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What the files of a mesh hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Node,
    Ele,
    Face,
    Edge,
}

impl Part {
    fn extension(self) -> &'static str {
        match self {
            Part::Node => "node",
            Part::Ele => "ele",
            Part::Face => "face",
            Part::Edge => "edge",
        }
    }
}

/// Fields of a line that are looked at, more than any line of interest has.
const MOST_FIELDS: usize = 32;

/// The bytes of a file.
type Read = (PathBuf, Vec<u8>);

/// Reads the other files of the mesh of which `path` is one.
pub(crate) fn read(path: &Path, data: &[u8]) -> Result<Mesh> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let is = |part: Part| extension.eq_ignore_ascii_case(part.extension());
    let beside = |part: Part| -> Result<Option<Read>> {
        if is(part) {
            return Ok(Some((path.to_path_buf(), data.to_vec())));
        }
        beside(path, part)
    };
    let node = beside(Part::Node)?.ok_or_else(|| missing(path, &[Part::Node]))?;
    let (ele, face) = (beside(Part::Ele)?, beside(Part::Face)?);
    if ele.is_none() && face.is_none() {
        return Err(missing(path, &[Part::Ele, Part::Face]));
    }
    let edge = beside(Part::Edge)?;
    let (points, first) = nodes(&node.0, &node.1)?;
    let mut reader =
        Reader { first, cells: Cells::new(points), labels: Labels::default(), order: 1 };
    for (part, file) in [(Part::Ele, ele), (Part::Face, face), (Part::Edge, edge)] {
        if let Some((path, data)) = file {
            reader.elements(part, &path, &data)?;
        }
    }
    reader.cells.finish();
    reader.labels.add_regions(&mut reader.cells, of_dimension);
    Ok(reader.cells.mesh)
}

/// The file of a part of the mesh, if it is there; its extension has the case of that of `path`.
fn beside(path: &Path, part: Part) -> Result<Option<Read>> {
    let file = partner(path, part);
    match input::bytes(&file, MOST_DATA) {
        Ok(data) => Ok(Some((file, data))),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(MeshError::Read { file, source }),
    }
}

fn partner(path: &Path, part: Part) -> PathBuf {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let upper = !extension.is_empty() && extension.bytes().all(|b| b.is_ascii_uppercase());
    path.with_extension(match upper {
        true => part.extension().to_ascii_uppercase(),
        false => part.extension().to_owned(),
    })
}

fn missing(path: &Path, parts: &[Part]) -> MeshError {
    let files: Vec<String> =
        parts.iter().map(|part| partner(path, *part).display().to_string()).collect();
    Scanner::new(path, b"").error(
        format!("the mesh needs {} beside this file", files.join(" or ")),
        "Copy it into the same folder, under the same name up to the extension",
    )
}

/// The fields of the next line that has any: a `#` begins a comment.
fn fields<'a>(scan: &mut Scanner<'a>) -> Option<Vec<&'a [u8]>> {
    loop {
        let line = scan.line()?;
        let end = line.iter().position(|b| *b == b'#').unwrap_or(line.len());
        let fields: Vec<&[u8]> = words(&line[..end]).take(MOST_FIELDS).collect();
        if !fields.is_empty() {
            return Some(fields);
        }
    }
}

/// The numbers of the first line of a file.
fn head(scan: &mut Scanner<'_>, what: &str) -> Result<Vec<u64>> {
    let fields = fields(scan).ok_or_else(|| scan.truncated(what))?;
    let number = |w: &&[u8]| parse(w).ok_or_else(|| scan.unexpected(w, what));
    fields.iter().map(number).collect()
}

/// The points of a `.node` file and the number of the first one.
fn nodes(path: &Path, data: &[u8]) -> Result<(Vec<Vec3>, i64)> {
    let scan = &mut Scanner::new(path, data);
    let head = head(scan, "the number of nodes")?;
    let dimension = head.get(1).map_or(3, |d| *d as usize);
    if !(2..=3).contains(&dimension) {
        return Err(scan.error(format!("nodes with {dimension} coordinates"), "Known are 2 and 3"));
    }
    let n = scan.count(head.first().copied().unwrap_or_default(), 2 * (dimension + 1), "nodes")?;
    if n == 0 {
        return Err(scan.error(
            "the file has no nodes",
            "Of nodes that are in a .poly file TetGen writes a .node file of its own: name that one",
        ));
    }
    let mut points = Vec::with_capacity(n);
    let mut first = 0;
    for i in 0..n {
        let line = fields(scan).ok_or_else(|| scan.truncated("a node"))?;
        let number: i64 =
            parse(line[0]).ok_or_else(|| scan.unexpected(line[0], "the number of a node"))?;
        if i == 0 {
            first = number;
        }
        if !(0..=1).contains(&first) || number != first + i as i64 {
            return Err(scan.error(
                format!("node {number} where node {} should stand", first.clamp(0, 1) + i as i64),
                "Number the nodes in ascending order, from 0 or 1",
            ));
        }
        if line.len() < 1 + dimension {
            let what =
                format!("node {number} has {} coordinates instead of {dimension}", line.len() - 1);
            return Err(scan.error(what, "Check this line, or write the file again"));
        }
        let mut p = Vec3::zeros();
        for k in 0..dimension {
            let word = line[1 + k];
            p[k] = parse(word).ok_or_else(|| scan.unexpected(word, "a coordinate"))?;
            scan.finite(p[k])?;
        }
        points.push(p);
    }
    Ok((points, first))
}

struct Reader {
    /// The number of the first node, 0 or 1.
    first: i64,
    cells: Cells,
    labels: Labels,
    /// The order of the elements in the `.ele` file.
    order: usize,
}

/// How the elements of a file are written.
struct Shape {
    cell: Cell,
    nodes: usize,
    dimension: usize,
    /// Numbers after the nodes, of which the first is the label.
    attributes: usize,
}

/// An element with its label and where it stands.
struct Element {
    number: i64,
    nodes: Range<usize>,
    label: i64,
    at: usize,
}

impl Reader {
    /// Adds the elements of a file.
    fn elements(&mut self, part: Part, path: &Path, data: &[u8]) -> Result<()> {
        let scan = &mut Scanner::new(path, data);
        let head = head(scan, "the number of elements")?;
        let count = head.first().copied().unwrap_or_default();
        let mut shape = shape(scan, part, &head)?;
        let n = scan.count(count, 2 * (shape.nodes + 1), "elements")?;
        let mut nodes: Vec<u32> = Vec::with_capacity(n * shape.nodes);
        let mut elements: Vec<Element> = Vec::with_capacity(n);
        let mut others = 0;
        for i in 0..n {
            let (at, line) = next(scan)?;
            if i == 0 && part != Part::Ele {
                self.quadratic(part, &mut shape, line.len());
            }
            if line.len() < 1 + shape.nodes + shape.attributes {
                let wanted = 1 + shape.nodes + shape.attributes;
                return Err(scan.error(
                    format!("{} numbers where {wanted} should stand: that of the element, its nodes, its attributes", line.len()),
                    "Check this line and the counts in the first line",
                ));
            }
            let number = integer(scan, line[0], "the number of an element")?;
            let first = nodes.len();
            for word in &line[1..=shape.nodes] {
                nodes.push(self.node(scan, word)?);
            }
            let mut label = 0;
            if shape.attributes > 0 {
                let word = line[1 + shape.nodes];
                let value: f64 =
                    parse(word).ok_or_else(|| scan.unexpected(word, "an attribute"))?;
                let whole = value.fract() == 0.0 && value.abs() < 9e15;
                others += usize::from(!whole);
                label = if whole { value as i64 } else { 0 };
            }
            elements.push(Element { number, nodes: first..nodes.len(), label, at });
        }
        if others > 0 {
            self.cells.mesh.notes.push(format!(
                "{others} elements have attributes that are no integers and make no regions"
            ));
        }
        if part == Part::Ele && matches!(shape.nodes, 6 | 10) {
            self.order = 2;
        }
        self.add(scan, part, &shape, &nodes, &elements)
    }

    fn node(&self, scan: &Scanner<'_>, word: &[u8]) -> Result<u32> {
        let node = integer(scan, word, "the number of a node")?;
        let index = node.checked_sub(self.first).and_then(|i| u32::try_from(i).ok());
        let points = self.cells.mesh.points.len();
        index.filter(|i| (*i as usize) < points).ok_or_else(|| {
            let last = self.first + points as i64 - 1;
            scan.error(
                format!("node {node} is named, but the .node file has {} to {last}", self.first),
                "Both files have to be of the same run, with numbers from the same first one",
            )
        })
    }

    /// Faces and edges may have nodes in the middles of their edges, which only the length of their lines tells. Behind the marker there may be the
    /// elements beside them.
    fn quadratic(&self, part: Part, shape: &mut Shape, fields: usize) {
        let rest = fields.saturating_sub(1 + shape.attributes);
        if part == Part::Face && matches!(rest, 6 | 8) {
            (shape.cell, shape.nodes) = (Cell::QuadraticTriangle, 6);
        }
        if part == Part::Edge && self.order == 2 && matches!(rest, 3 | 4) {
            (shape.cell, shape.nodes) = (Cell::QuadraticEdge, 3);
        }
    }

    fn add(
        &mut self,
        scan: &mut Scanner<'_>,
        part: Part,
        shape: &Shape,
        nodes: &[u32],
        elements: &[Element],
    ) -> Result<()> {
        let mut order: Vec<usize> = (0..shape.nodes).collect();
        if let (6 | 10, Some(first)) = (shape.nodes, elements.first()) {
            // versions of TetGen differ
            let all = elements.iter().map(|e| &nodes[e.nodes.clone()]);
            order = middles::order(&self.cells.mesh.points, all, shape.nodes).ok_or_else(|| {
                scan.point_at(first.at, false);
                scan.error(
                    "the places of the nodes do not tell which edges these are the middles of",
                    "Write the corners first, then the middles of the edges, or elements of order 1",
                )
            })?;
        }
        let mut list = Vec::new();
        for element in elements {
            let v = &nodes[element.nodes.clone()];
            list.clear();
            list.extend(order.iter().map(|k| v[*k]));
            let label = self.labels.of((shape.dimension, element.label));
            self.cells.add(shape.cell, &list, label).map_err(|wrong| {
                scan.point_at(element.at, false);
                let what = format!(".{} {}: {}", part.extension(), element.number, wrong.what);
                scan.error(what, wrong.hint("Check this line").to_owned())
            })?;
        }
        Ok(())
    }
}

/// Where the next line with fields begins, and these.
fn next<'a>(scan: &mut Scanner<'a>) -> Result<(usize, Vec<&'a [u8]>)> {
    let found = fields(scan).ok_or_else(|| scan.truncated("an element"))?;
    Ok((scan.last(), found))
}

fn integer(scan: &Scanner<'_>, word: &[u8], what: &str) -> Result<i64> {
    parse(word).ok_or_else(|| scan.unexpected(word, what))
}

/// The elements of a file by its first line.
fn shape(scan: &Scanner<'_>, part: Part, head: &[u64]) -> Result<Shape> {
    let number = |k: usize| head.get(k).copied().unwrap_or_default();
    let attributes = usize::from(number(if part == Part::Ele { 2 } else { 1 }) > 0);
    let (cell, nodes, dimension) = match part {
        Part::Face => (Cell::Polygon, 3, 2),
        Part::Edge => (Cell::Polyline, 2, 1),
        Part::Node | Part::Ele => match head.get(1).copied().unwrap_or(4) {
            4 => (Cell::Tet, 4, 3),
            10 => (Cell::QuadraticTet, 10, 3),
            3 => (Cell::Polygon, 3, 2),
            6 => (Cell::QuadraticTriangle, 6, 2),
            n => {
                return Err(scan.error(
                    format!("elements of {n} nodes are not supported"),
                    "Known are 4 and 10 (tetrahedra), 3 and 6 (triangles)",
                ));
            }
        },
    };
    Ok(Shape { cell, nodes, dimension, attributes })
}
